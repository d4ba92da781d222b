/** The lock of a Durable Object is a queue; what a Worker's task returns or throws arrives unchanged. */

import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { OAuthClientError } from "../../../mod.ts";
import {
  durableObjectStore,
  type LockingStore,
  type RemoteStore,
  remoteStore,
} from "../../../lib/stores/mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";
import { SESSION } from "../../support/resource.ts";
import { deferred, never } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";
import { fakeObject } from "./_fakes.ts";

/** What the runtime does to an error on its way: only its name and message arrive. */
async function call(run: () => PromiseLike<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new Error(String(error));
  }
}

const stubOf = (store: LockingStore): RemoteStore => ({
  load: () => store.load(),
  save: (session) => call(() => store.save(session)),
  lock: (task) => call(() => store.lock(() => call(task))),
});

/** Two stores of one object: in the object, and in two Workers. */
const PAIRS = {
  durableObjectStore() {
    const object = fakeObject();
    return [durableObjectStore(object), durableObjectStore(object)];
  },
  remoteStore() {
    const stub = stubOf(durableObjectStore(fakeObject()));
    return [remoteStore(stub), remoteStore(stub)];
  },
} as const;

for (const [name, open] of Object.entries(PAIRS)) {
  const stores = () => open() as [LockingStore, LockingStore];

  Deno.test(`${name}() runs one task at a time, in their order, after a failed one too`, async () => {
    const [a, b] = stores();
    const log: string[] = [];
    const task = (id: string) => async () => {
      log.push(`${id} starts`);
      await turn();
      log.push(`${id} ends`);
      if (id === "1") throw new Error("The first task has failed");
      return id;
    };
    const results = await Promise.allSettled([
      a.lock(task("1")),
      b.lock(task("2")),
      a.lock(task("3")),
    ]);
    assertEquals(results.map(({ status }) => status), [
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    const expected = ["1", "2", "3"];
    assertEquals(
      log,
      expected.flatMap((id) => [`${id} starts`, `${id} ends`]),
    );
  });

  Deno.test(`${name}() rejects with the error of the task itself`, async () => {
    const [store] = stores();
    const error = new OAuthClientError("timeout", "The server is silent", {});
    const caught = await store.lock(() => Promise.reject(error))
      .catch((reason) => reason);
    assertStrictEquals(caught, error);
  });

  Deno.test(`${name}() ends a wait when its signal aborts, but neither a task nor the queue`, async () => {
    const [a, b] = stores();
    const controller = new AbortController();
    const { signal } = controller;
    const reason = new Error("The caller has left");
    const free = deferred<void>();
    const log: string[] = [];
    const first = a.lock(async () => {
      await free.promise;
      log.push("first");
      return "first";
    }, signal);
    await turn();
    const left = b.lock(() => Promise.resolve(log.push("left")), signal)
      .catch((error) => error);
    const next = b.lock(() => Promise.resolve(log.push("next")));
    await turn();
    controller.abort(reason);
    assertStrictEquals(await within(LIMIT_MS, left), reason);
    await turn();
    assertEquals(log, []);
    free.resolve();
    assertEquals([await first, await next], ["first", 2]);
    assertEquals(log, ["first", "next"]);
    const late = b.lock(() => Promise.resolve(log.push("late")), signal);
    assertStrictEquals(await late.catch((error) => error), reason);
    assertEquals(log, ["first", "next"]);
  });
}

Deno.test("durableObjectStore() sets the alarm at each save, and deletes it with the session", async () => {
  const object = fakeObject();
  const store = durableObjectStore(object, { lifetimeSeconds: 60 });
  const before = Date.now();
  await store.save(SESSION);
  const isInAMinute = object.alarm! >= before + 60_000 &&
    object.alarm! <= Date.now() + 60_000;
  assertEquals(isInAMinute, true);
  await store.save(undefined);
  assertEquals(object.alarm, undefined);
  await durableObjectStore(object).save(SESSION);
  assertEquals(object.alarm, undefined);
});

Deno.test("durableObjectStore() calls onWait while another task holds the lock", async () => {
  using _waits = skipWaits();
  const object = fakeObject();
  const told = deferred<void>();
  const onWait = () => told.resolve();
  const store = durableObjectStore(object, { onWait });
  const first = store.lock(() => told.promise);
  await Promise.all([first, store.lock(() => Promise.resolve())]);
});

Deno.test("remoteStore() returns the result of a task even if the object restarts or never answers", async () => {
  const restarted = new Error("The object has restarted");
  const rows: [string, RemoteStore["lock"]][] = [
    ["restarts", async (task) => {
      const running = task();
      await turn();
      running.catch(() => {});
      throw restarted;
    }],
    ["never answers", (task) => {
      task();
      return never();
    }],
  ];
  for (const [name, lock] of rows) {
    const stub = { ...stubOf(durableObjectStore(fakeObject())), lock };
    const result = await remoteStore(stub).lock(async () => {
      await turn();
      await turn();
      return "token";
    });
    assertEquals([name, result], [name, "token"]);
  }
});

Deno.test("remoteStore() rejects if the object restarts before the task, or runs none", async () => {
  const restarted = new Error("The object has restarted");
  const rows = [
    [() => Promise.reject(restarted), restarted.message],
    [() => Promise.resolve(), "The lock of the stub did not run its task"],
  ] as const;
  for (const [lock, message] of rows) {
    const stub = { ...stubOf(durableObjectStore(fakeObject())), lock };
    const task = () => Promise.reject(new Error("The task has run"));
    await assertRejects(() => remoteStore(stub).lock(task), Error, message);
  }
});

Deno.test("durableObjectStore() and remoteStore() require an object", () => {
  const wrong = undefined as never;
  assertThrowsCode(() => durableObjectStore(wrong), "invalid_argument");
  assertThrowsCode(() => durableObjectStore({} as never), "invalid_argument");
  assertThrowsCode(() => remoteStore(wrong), "invalid_argument");
});
