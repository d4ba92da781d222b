/** A store that fails or hangs must not cost the session, nor stop other processes. */

import { assertEquals, assertRejects } from "@std/assert";
import type { ISessionStore } from "../../mod.ts";
import { denoKvStore, redisStore } from "../../lib/stores/mod.ts";
import { deferred, never } from "../support/stub_fetch.ts";
import { fakeKv, fakeRedis } from "../unit/stores/_fakes.ts";

/** What comes between a store and its engine when it writes to the lock. */
type Write = <T>(run: () => Promise<T>) => Promise<T>;

/** Creates an engine; each call of the returned function opens a store in it. */
const ENGINES: Record<string, () => (write: Write) => ISessionStore> = {
  redisStore() {
    const client = fakeRedis();
    return (write) =>
      redisStore({
        ...client,
        set: (...args) => write(() => client.set(...args)),
        eval: (...args) => write(() => client.eval(...args)),
      }, "k");
  },
  denoKvStore() {
    const kv = fakeKv();
    return (write) =>
      denoKvStore({
        ...kv,
        atomic() {
          const operation = kv.atomic();
          const { commit } = operation;
          operation.commit = () => write(commit);
          return operation;
        },
      }, ["k"]);
  },
};

const noFailure: Write = (run) => run();

/** Makes timers of a second and more fire at once. */
function skipWaits(): Disposable {
  const { setTimeout, setInterval } = globalThis;
  type Timer = (handler: () => void, ms?: number) => unknown;
  const skip = (start: Timer): Timer => (handler, ms = 0) =>
    start(handler, ms < 1_000 ? ms : 0);
  Object.assign(globalThis, {
    setTimeout: skip(setTimeout),
    setInterval: skip(setInterval),
  });
  return {
    [Symbol.dispose]: () =>
      void Object.assign(globalThis, { setTimeout, setInterval }),
  };
}

/** Checks that the lock of a store is free. */
async function assertFree(store: ISessionStore): Promise<void> {
  const controller = new AbortController();
  const end = () => controller.abort(new Error("The lock is held"));
  const timer = setTimeout(end, 900);
  const task = () => Promise.resolve("free");
  assertEquals(await store.lock?.(task, controller.signal), "free");
  clearTimeout(timer);
}

for (const [name, createEngine] of Object.entries(ENGINES)) {
  for (const operation of ["extended", "released"]) {
    Deno.test(`${name}() returns the result although its lock cannot be ${operation}`, async () => {
      using _waits = skipWaits();
      const hanging = deferred<void>();
      let hangs = false;
      const store = createEngine()((run) => {
        if (!hangs) return run();
        hanging.resolve();
        return never();
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
    const open = createEngine();
    const failing = open(async (run) => {
      await run();
      throw new Error("The connection was closed");
    });
    await assertRejects(
      async () => await failing.lock?.(() => Promise.resolve()),
      Error,
      "The connection was closed",
    );
    await assertFree(open(noFailure));
  });

  Deno.test(`${name}() ends the wait for a lock that hangs, and releases it afterwards`, async () => {
    const open = createEngine();
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
    await assertFree(open(noFailure));
  });
}
