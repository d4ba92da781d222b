import { assertEquals } from "@std/assert";
import { createCrashCheck } from "../../../lib/stores/_lease.ts";

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
