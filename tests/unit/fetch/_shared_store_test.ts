/** What waits for the lock of a store, and for what. */
import { assertEquals, assertRejects } from "@std/assert";
import { type ISessionStore, memoryStore } from "../../../mod.ts";
import { sharedStore } from "../../../lib/fetch/keeper/_session_keeper.ts";
import { deferred } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

/** A store whose lock is that of a test, and a task of it that lasts. */
function holding(
  lock: <T>(task: () => Promise<T>) => Promise<T> = (task) => task(),
) {
  let locks = 0;
  const store: ISessionStore = {
    ...memoryStore(),
    lock: (task) => (locks++, lock(task)),
  };
  const shared = sharedStore(store);
  const began = deferred<void>();
  const held = deferred<string>();
  return {
    shared,
    began: () => within(LIMIT_MS, began.promise),
    locks: () => locks,
    end: () => held.resolve("first"),
    task: () => (began.resolve(), held.promise),
  };
}

Deno.test("locked() runs a task after one that has lost its lock", async () => {
  const { shared, began, end, task } = holding((task) => {
    void task();
    return Promise.reject(new Error("The lock is lost"));
  });
  const first = shared.locked(task, undefined);
  await began();
  let hasBegun = false;
  const second = shared.locked(async () => {
    hasBegun = true;
    return await Promise.resolve("second");
  }, undefined);
  await turn();
  assertEquals(hasBegun, false);
  end();
  const both = within(LIMIT_MS, Promise.all([first, second]));
  assertEquals(await both, ["first", "second"]);
});

Deno.test("locked() returns the result of a task that has started, though the store holds another by then", async () => {
  const granted = deferred<void>();
  const { shared, began, end, task } = holding(async (task) => {
    await granted.promise;
    return await task();
  });
  const looked = deferred<void>();
  const found = deferred<string>();
  const result = shared.locked(task, undefined, () => {
    looked.resolve();
    return found.promise;
  });
  await within(LIMIT_MS, looked.promise);
  granted.resolve();
  await began();
  found.resolve("stored");
  await turn();
  end();
  assertEquals(await within(LIMIT_MS, result), "first");
});

Deno.test("locked() requests no lock for a caller that has left", async () => {
  const { shared, began, end, task, locks } = holding();
  const first = shared.locked(task, undefined);
  await began();
  const controller = new AbortController();
  const second = shared.locked(task, controller.signal);
  controller.abort(new Error("left"));
  await assertRejects(() => second, Error, "left");
  end();
  await first;
  await shared.locked(() => Promise.resolve(), undefined);
  assertEquals(locks(), 2);
});

Deno.test("soon() runs tasks one after the other, if they cannot have the lock", async () => {
  using _waits = skipWaits((ms) => ms === 1_000);
  const { shared, began, end, task } = holding();
  const holder = shared.locked(task, undefined);
  await began();
  const order: string[] = [];
  const saving = deferred<void>();
  const save = shared.soon(async () => {
    order.push("save");
    await saving.promise;
    order.push("saved");
  }, undefined);
  const revoke = shared.soon(() => {
    order.push("revoke");
    return Promise.reject(new Error("The store fails"));
  }, undefined);
  const refused = assertRejects(() => revoke, Error, "The store fails");
  // More than enough for both to give the lock up.
  for (let n = 0; n < 20; n++) await turn();
  saving.resolve();
  await within(LIMIT_MS, Promise.all([save, refused]));
  assertEquals(order, ["save", "saved", "revoke"]);
  await within(LIMIT_MS, shared.soon(() => Promise.resolve(), undefined));
  end();
  await holder;
});
