/** A lock that fails or hangs must not cost the session, nor stop other processes. */

import { assertEquals, assertRejects } from "@std/assert";
import type { SessionStore } from "../../../mod.ts";
import { deferred, never } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";
import { LOCKING_ENGINES } from "./_fakes.ts";

async function assertFree(store: SessionStore): Promise<void> {
  const controller = new AbortController();
  const end = () => controller.abort(new Error("The lock is held"));
  const timer = setTimeout(end, 900);
  const task = () => Promise.resolve("free");
  assertEquals(await store.lock?.(task, controller.signal), "free");
  clearTimeout(timer);
}

for (const [name, createEngine] of Object.entries(LOCKING_ENGINES)) {
  const fail = () => Promise.reject(new Error("The connection was closed"));
  const rows = [
    ["extended", never],
    ["released", never],
    ["released", fail],
  ] as const;
  for (const [operation, fault] of rows) {
    Deno.test(`${name}() returns the result although its lock cannot be ${operation}, by ${fault.name}`, async () => {
      using _waits = skipWaits();
      const hanging = deferred<void>();
      let hangs = false;
      const store = createEngine().open((run) => {
        if (!hangs) return run();
        hanging.resolve();
        return fault();
      });
      const result = await store.lock?.(async () => {
        hangs = true;
        if (operation === "extended") await hanging.promise;
        return "token";
      });
      assertEquals(result, "token");
    });
  }

  Deno.test(`${name}() leaves no lock behind when the response to its acquisition is lost`, async () => {
    const { open } = createEngine();
    const task = () => Promise.reject(new Error("The task has run"));
    const failing = open(async (run) => {
      await run();
      throw new Error("The connection was closed");
    });
    const call = async () => await failing.lock?.(task);
    await assertRejects(call, Error, "The connection was closed");
    await assertFree(open());
  });

  Deno.test(`${name}() ends the wait for a lock that hangs, and releases it afterwards`, async () => {
    const { open } = createEngine();
    const written = deferred<void>();
    const response = deferred<void>();
    const hanging = open(async (run) => {
      const result = await run();
      written.resolve();
      await response.promise;
      return result;
    });
    const controller = new AbortController();
    {
      using _waits = skipWaits();
      const task = () => Promise.reject(new Error("The task has run"));
      const locked = hanging.lock?.(task, controller.signal);
      await written.promise;
      controller.abort(new Error("The caller has left"));
      await assertRejects(
        async () => await locked,
        Error,
        "The caller has left",
      );
    }
    response.resolve();
    await assertFree(open());
  });

  Deno.test(`${name}() ends the wait for its lock when the signal aborts, but no task`, async () => {
    const { open } = createEngine();
    const reason = new Error("The caller has left");
    const controller = new AbortController();
    const { signal } = controller;
    let runs = 0;
    const run = () => Promise.resolve(++runs);
    const result = await open().lock?.(async () => {
      const later = new AbortController();
      const between = open().lock?.(run, later.signal).catch((error) => error);
      // By then it has tried once, and waits before it tries again.
      await turn();
      later.abort(reason);
      assertEquals(await within(LIMIT_MS, between!), reason);
      const waiting = open().lock?.(run, signal).catch((error) => error);
      controller.abort(reason);
      assertEquals(await within(LIMIT_MS, waiting!), reason);
      await assertRejects(async () => await open().lock?.(run, signal));
      return "done";
    }, signal);
    assertEquals([result, runs], ["done", 0]);
    assertEquals(await open().lock?.(run), 1);
  });
}
