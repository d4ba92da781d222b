/** A store that fails or hangs must not cost the session, nor stop other processes. */

import { assertEquals, assertRejects } from "@std/assert";
import type { ISessionStore } from "../../mod.ts";
import {
  denoKvStore,
  redisStore,
  webStorageStore,
} from "../../lib/stores/mod.ts";
import { deferred, never } from "../support/stub_fetch.ts";
import { skipWaits } from "../support/timers.ts";
import {
  fakeKv,
  fakeLocks,
  fakeRedis,
  fakeStorage,
} from "../unit/stores/_fakes.ts";
import { SESSION } from "../support/resource.ts";

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

/** Saves a session under the lock of a store, and returns what the lock returns. */
const saveLocked = (store: ISessionStore) =>
  store.lock?.(async () => {
    await store.save(SESSION);
    return "saved";
  });

Deno.test("webStorageStore() goes on although its number of changes was overwritten", async () => {
  for (
    const number of [
      "",
      "three",
      "-5",
      "1.5",
      "Infinity",
      "1e400",
      "9007199254740991",
      "9007199254740992",
      "9007199254740993",
    ]
  ) {
    const tab = fakeStorage();
    const locks = fakeLocks();
    const storage = tab();
    for (const key of ["k:version", "oauth-helper:version:k"]) {
      storage.setItem(key, number);
    }
    for (let round = 0; round < 3; round++) {
      // The same tab, and one that was loaded anew.
      for (const values of [storage, tab()]) {
        const store = webStorageStore(values, "k", locks);
        assertEquals(await saveLocked(store), "saved");
      }
    }
  }
});

Deno.test("webStorageStore() keeps the lock and the number of a key apart from other keys", async () => {
  const tab = fakeStorage();
  const locks = fakeLocks();
  const storage = tab();
  const store = webStorageStore(storage, "ada", locks);
  assertEquals(await saveLocked(store), "saved");
  for (
    const key of [
      "ada:version",
      "ada version 1",
      "ada version 2",
      "1:ada",
      ":ada",
      "version:ada",
    ]
  ) {
    const other = webStorageStore(storage, key, locks);
    assertEquals(await other.load(), undefined);
    assertEquals(await saveLocked(other), "saved");
    assertEquals(await saveLocked(store), "saved");
    assertEquals(await other.load(), SESSION);
  }
});

Deno.test("webStorageStore() returns the result although the change cannot be announced", async () => {
  const storage = fakeStorage()();
  const locks = fakeLocks();
  const full = webStorageStore(
    {
      ...storage,
      setItem(key, value) {
        if (key !== "k") {
          throw new DOMException(
            "The quota was exceeded",
            "QuotaExceededError",
          );
        }
        storage.setItem(key, value);
      },
    },
    "k",
    locks,
  );
  assertEquals(await saveLocked(full), "saved");
  let requests = 0;
  const broken = webStorageStore(storage, "k", {
    query: () => locks.query(),
    request: (name, task) =>
      ++requests === 1
        ? locks.request(name, task)
        : Promise.reject(new DOMException("Not active", "InvalidStateError")),
  });
  assertEquals(await saveLocked(broken), "saved");
  assertEquals(requests, 2);
});

Deno.test("webStorageStore() counts no change that it could not save", async () => {
  const storage = fakeStorage()();
  const locks = fakeLocks();
  const failure = new DOMException("The quota was exceeded");
  const store = webStorageStore(
    {
      ...storage,
      setItem(key, value) {
        if (key === "k") throw failure;
        storage.setItem(key, value);
      },
    },
    "k",
    locks,
  );
  const error = await assertRejects(async () => await saveLocked(store));
  assertEquals(error, failure);
  assertEquals(await locks.query(), { held: [] });
});

Deno.test("webStorageStore() waits no longer for a cleared storage where timers are slow", async () => {
  const storage = fakeStorage()();
  const locks = fakeLocks();
  const store = webStorageStore(storage, "k", locks);
  await saveLocked(store);
  storage.removeItem("oauth-helper:version:k");
  // Browsers call the timers of a hidden tab once a minute.
  const { setTimeout, performance } = globalThis;
  let time = 0;
  const start = (handler: () => void) => {
    time += 60_000;
    return setTimeout(handler, 0);
  };
  try {
    Object.assign(globalThis, {
      setTimeout: start,
      performance: { now: () => time },
    });
    await store.lock?.(() => Promise.resolve());
  } finally {
    Object.assign(globalThis, { setTimeout, performance });
  }
  assertEquals(time, 60_000);
});
