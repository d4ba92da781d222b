/** What the keeper of a session does where the lock of its store is held. */
import { assertEquals, assertRejects } from "@std/assert";
import { memoryStore } from "../../../mod.ts";
import { keeperOf } from "../../../lib/fetch/keeper/_session_keeper.ts";
import { SESSION } from "../../support/resource.ts";
import { deferred, never } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, until, within } from "../../support/within.ts";

Deno.test("lockedIfFree() writes to the store one after the other, if it cannot have the lock", async () => {
  using _waits = skipWaits((ms) => ms === 1_000);
  const order: string[] = [];
  const [held, saving] = [deferred<void>(), deferred<void>()];
  const keeper = keeperOf({
    ...memoryStore(),
    async save(session) {
      order.push(session ? "save" : "delete");
      if (!session) throw new Error("The store fails");
      await saving.promise;
      order.push("saved");
    },
    lock: (task) => task(),
  });
  const holder = keeper.locked(() => held.promise, undefined);
  const save = keeper.lockedIfFree(() => keeper.save(SESSION), undefined);
  const removal = keeper.lockedIfFree(() => keeper.remove(), undefined);
  const failed = assertRejects(() => removal, Error, "The store fails");
  await until(LIMIT_MS, () => order.length > 0);
  // More than enough for the other to give the lock up.
  for (let n = 0; n < 50; n++) await turn();
  assertEquals(order, ["save"]);
  saving.resolve();
  await within(LIMIT_MS, Promise.all([save, failed]));
  assertEquals(order, ["save", "saved", "delete"]);
  await within(
    LIMIT_MS,
    keeper.lockedIfFree(() => Promise.resolve(), undefined),
  );
  held.resolve();
  await holder;
});

Deno.test("remove() deletes the session although the store never answers an earlier save", async () => {
  using _waits = skipWaits((ms) => ms === 5_000);
  const inner = memoryStore(SESSION);
  let saves = 0;
  const keeper = keeperOf({
    ...inner,
    save: (session) => ++saves === 1 ? never() : inner.save(session),
  });
  // No one waits for it.
  void keeper.save(SESSION);
  assertEquals(await within(LIMIT_MS, keeper.remove()), SESSION);
  assertEquals(await inner.load(), undefined);
});
