/**
 * The holder of a lock counts as dead only after ten seconds of the same sign of life.
 */

import { assertEquals } from "@std/assert";
import { createCrashCheck, underLease } from "../../../lib/stores/_lease.ts";

Deno.test("createCrashCheck() waits for ten seconds with the same sign of life", () => {
  let time = 50_000;
  const hasCrashed = createCrashCheck(() => time);
  const lookFor = (ms: number, sign: string) => {
    const end = time + ms;
    let isCrashed = hasCrashed(sign);
    while (time < end) {
      time += 250;
      isCrashed = hasCrashed(sign);
    }
    return isCrashed;
  };
  assertEquals(lookFor(9_750, "1"), false);
  assertEquals(lookFor(9_750, "2"), false);
  // The first sign again is a change as well.
  assertEquals(lookFor(9_750, "1"), false);
  assertEquals(lookFor(250, "1"), true);
});

Deno.test("createCrashCheck() does not count the time in which the machine was suspended", () => {
  let time = 0;
  const hasCrashed = createCrashCheck(() => time);
  assertEquals(hasCrashed("1"), false);
  time += 3_600_000;
  assertEquals(hasCrashed("1"), false);
});

Deno.test("underLease() calls onWait after a second, ignores what it throws, and no longer calls it once the task runs", async () => {
  const { setTimeout, clearTimeout } = globalThis;
  const waits: (() => unknown)[] = [];
  const cleared: unknown[] = [];
  Object.assign(globalThis, {
    setTimeout(handler: () => unknown, ms: number) {
      return ms === 1_000 ? -waits.push(handler) : setTimeout(handler, ms);
    },
    clearTimeout(id?: number) {
      cleared.push(id);
      clearTimeout(id);
    },
  });
  try {
    let attempts = 0;
    let calls = 0;
    const lease = {
      acquire: async () => {
        await waits[0]!();
        return ++attempts === 2;
      },
      extend: () => Promise.resolve(),
      release: () => Promise.resolve(),
    };
    const task = () => Promise.resolve(cleared.includes(-1));
    const onWait = () => {
      calls++;
      throw new Error("The program cannot write");
    };
    assertEquals(await underLease(lease, task, undefined, onWait), true);
    assertEquals([attempts, calls], [2, 2]);
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
  }
});
