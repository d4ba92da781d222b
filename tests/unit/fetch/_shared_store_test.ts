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
  const store: ISessionStore = {
    ...memoryStore(),
    lock: (task) => lock(task),
  };
  const shared = sharedStore(store);
  const began = deferred<void>();
  const held = deferred<string>();
  return {
    shared,
    began: () => within(LIMIT_MS, began.promise),
    end: () => held.resolve("first"),
    task: () => (began.resolve(), held.promise),
  };
}

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
