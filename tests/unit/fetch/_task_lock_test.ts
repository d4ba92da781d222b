/** Tasks that exclude each other, and tasks that are shared, without a session or a store. */
import { assertEquals, assertRejects } from "@std/assert";
import { TaskLock } from "../../../lib/fetch/keeper/_task_lock.ts";
import { deferred } from "../../support/stub_fetch.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

/** A lock across processes, and a task under it that lasts. */
function holding(
  lock: <T>(task: () => Promise<T>) => Promise<T> = (task) => task(),
) {
  let locks = 0;
  const shared = new TaskLock({ lock: (task) => (locks++, lock(task)) });
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

Deno.test("share() joins callers with one key, and ends the task when the last one leaves", async () => {
  const lock = new TaskLock({});
  const result = deferred<string>();
  const signals: AbortSignal[] = [];
  const urgent: (() => boolean)[] = [];
  const task = (signal: AbortSignal, isUrgent: () => boolean) => {
    signals.push(signal);
    urgent.push(isUrgent);
    return result.promise;
  };
  const [one, two] = [new AbortController(), new AbortController()];
  const first = lock.share("a", task, { signal: one.signal });
  const second = lock.share("a", task, {
    ...{ signal: two.signal, isUrgent: true },
  });
  const other = lock.share("b", task, { signal: undefined });
  assertEquals([signals.length, urgent.map((is) => is())], [2, [true, false]]);
  one.abort(new Error("left"));
  await assertRejects(() => first, Error, "left");
  assertEquals(signals[0]!.aborted, false);
  two.abort(new Error("left too"));
  await assertRejects(() => second, Error, "left too");
  assertEquals(signals.map(({ aborted }) => aborted), [true, false]);
  const next = lock.share("a", task, { signal: undefined });
  assertEquals(signals.length, 3);
  lock.abort("over");
  assertEquals([signals[1]!.reason, signals[2]!.reason], ["over", "over"]);
  result.resolve("done");
  assertEquals(await Promise.all([next, other]), ["done", "done"]);
});

Deno.test("idOf() returns one number for one object", () => {
  const lock = new TaskLock({});
  const [a, b] = [{}, {}];
  assertEquals([a, b, a, undefined].map((one) => lock.idOf(one)), [1, 2, 1, 0]);
});
