/** A lock in a browser lets the next tab read what the last one has written. */

import { assertEquals, assertRejects } from "@std/assert";
import type { SessionStore } from "../../../mod.ts";
import { webStorageStore } from "../../../lib/stores/mod.ts";
import { replaceGlobals } from "../../support/globals.ts";
import { SESSION } from "../../support/resource.ts";
import { LIMIT_MS, until } from "../../support/within.ts";
import { ENGINES, fakeLocks, fakeStorage } from "./_fakes.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

Deno.test("webStorageStore() starts no task for a signal that has aborted", async () => {
  const { open } = ENGINES.webStorageStore!();
  const controller = new AbortController();
  let runs = 0;
  const run = () => Promise.resolve(++runs);
  let waiting: Promise<number> | undefined;
  await open().lock?.(() => {
    waiting = open().lock?.(run, controller.signal);
    controller.abort(new Error("The caller has left"));
    return Promise.resolve();
  });
  await assertRejects(async () => await waiting, Error, "The caller has left");
  assertEquals(runs, 0);
  assertEquals(await open().lock?.(run), 1);
});

Deno.test("webStorageStore() has no lock without Web Locks", () => {
  const storage = fakeStorage()();
  assertEquals(webStorageStore(storage, "k", { locks: false }).lock, undefined);
});

Deno.test("webStorageStore() has no lock with sessionStorage, which other tabs do not share", () => {
  const storage = fakeStorage();
  const globals = {
    sessionStorage: storage(),
    localStorage: storage(),
    navigator: { locks: fakeLocks() },
  };
  using _globals = replaceGlobals(globals);
  const { sessionStorage, localStorage, navigator: { locks } } = globals;
  assertEquals(webStorageStore(sessionStorage, "k").lock, undefined);
  assertEquals(typeof webStorageStore(localStorage, "k").lock, "function");
  const store = webStorageStore(sessionStorage, "k", { locks });
  assertEquals(typeof store.lock, "function");
});

Deno.test("webStorageStore() lets the next holder wait until it can read the change", async () => {
  const tab = fakeStorage(30);
  const locks = fakeLocks();
  const stores = [0, 1, 2].map(() => webStorageStore(tab(), "k", { locks }));
  const read: unknown[] = [];
  await Promise.all(stores.map((store, index) =>
    store.lock?.(async () => {
      read.push((await store.load())?.token?.access_token);
      const token = { access_token: `t${index}`, token_type: "Bearer" };
      if (index < 2) await store.save({ ...SESSION, token });
    })
  ));
  assertEquals(read, [undefined, "t0", "t1"]);
});

Deno.test("webStorageStore() compares once it can read the last change of another tab", async () => {
  const tab = fakeStorage(30);
  const locks = fakeLocks();
  const [one, other] = [0, 1].map(() => webStorageStore(tab(), "k", { locks }));
  const saves = [one, other].map((store) => store?.save(SESSION, null));
  assertEquals(await Promise.all(saves), [true, false]);
  assertEquals(await other?.load(), SESSION);
});

Deno.test("webStorageStore() compares without a lock where Web Locks fail, as in a page that is being left", async () => {
  const locks = {
    query: () => Promise.resolve({}),
    request: () => Promise.reject(new DOMException("", "InvalidStateError")),
  };
  const store = webStorageStore(fakeStorage()(), "k", { locks });
  assertEquals(await store.save(SESSION, null), true);
  assertEquals(await store.save(SESSION, null), false);
  assertEquals(await store.load(), SESSION);
});

Deno.test("webStorageStore() announces nothing if nothing was saved", async () => {
  const storage = fakeStorage()();
  const locks = fakeLocks();
  const store = webStorageStore(storage, "k", { locks });
  await store.lock?.(() => store.load());
  assertEquals(await locks.query(), { held: [] });
  await store.lock?.(() => store.save(SESSION));
  await store.lock?.(() => store.save(SESSION));
  assertEquals(await locks.query(), {
    held: [{ name: "oauth-helper:version:2:k" }],
  });
});

/** Saves a session under the lock of a store, and returns what the lock returns. */
const saveLocked = (store: SessionStore) =>
  store.lock?.(async () => {
    await store.save(SESSION);
    return "saved";
  });

Deno.test("webStorageStore() goes on although its number of changes was overwritten", async () => {
  const rows = [
    "",
    "three",
    "-5",
    "1.5",
    "Infinity",
    "1e400",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
  ];
  await eachRowInTurn(rows, async (number) => {
    const tab = fakeStorage();
    const locks = fakeLocks();
    const storage = tab();
    for (const key of ["k:version", "oauth-helper:version:k"]) {
      storage.setItem(key, number);
    }
    for (let round = 0; round < 3; round++) {
      // The same tab, and one that was loaded anew.
      for (const values of [storage, tab()]) {
        const store = webStorageStore(values, "k", { locks });
        assertEquals(await saveLocked(store), "saved");
      }
    }
  });
});

Deno.test("webStorageStore() keeps the lock and the number of a key apart from other keys", async () => {
  const tab = fakeStorage();
  const locks = fakeLocks();
  const storage = tab();
  const store = webStorageStore(storage, "ada", { locks });
  assertEquals(await saveLocked(store), "saved");
  const rows = [
    "ada:version",
    "ada version 1",
    "ada version 2",
    "1:ada",
    ":ada",
    "version:ada",
  ];
  await eachRowInTurn(rows, async (key) => {
    const other = webStorageStore(storage, key, { locks });
    assertEquals(await other.load(), undefined);
    assertEquals(await saveLocked(other), "saved");
    assertEquals(await saveLocked(store), "saved");
    assertEquals(await other.load(), SESSION);
  });
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
    { locks },
  );
  assertEquals(await saveLocked(full), "saved");
  let requests = 0;
  const broken = webStorageStore(storage, "k", {
    locks: {
      query: () => locks.query(),
      request: (name, task) =>
        ++requests === 1
          ? locks.request(name, task)
          : Promise.reject(new DOMException("Not active", "InvalidStateError")),
    },
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
    { locks },
  );
  const error = await assertRejects(async () => await saveLocked(store));
  assertEquals(error, failure);
  assertEquals(await locks.query(), { held: [] });
});

Deno.test("webStorageStore() waits no longer for a cleared storage where timers are slow", async () => {
  const storage = fakeStorage()();
  const locks = fakeLocks();
  const store = webStorageStore(storage, "k", { locks });
  await saveLocked(store);
  storage.removeItem("oauth-helper:version:k");
  // Browsers call the timers of a hidden tab once a minute.
  const start = setTimeout;
  let time = 0;
  using _clock = replaceGlobals({
    setTimeout(handler: () => void) {
      time += 60_000;
      return start(handler, 0);
    },
    performance: { now: () => time },
  });
  await store.lock?.(() => Promise.resolve());
  assertEquals(time, 60_000);
});

Deno.test("webStorageStore() calls onWait where another tab holds the lock for a second", async () => {
  const locks = fakeLocks();
  const storage = fakeStorage()();
  let waits = 0;
  const onWait = () => void waits++;
  const [holder, other] = [0, 1].map(() =>
    webStorageStore(storage, "k", { locks, onWait })
  );
  let release = () => {};
  const held = holder!.lock!(() =>
    new Promise<void>((resolve) => release = resolve)
  );
  const waiting = other!.lock!(() => Promise.resolve("next"));
  await until(LIMIT_MS, () => waits > 0);
  release();
  await held;
  assertEquals([await waiting, waits], ["next", 1]);
});
