import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { createSingleFlight } from "../../../mod.ts";
import { deferred } from "../../support/stub_fetch.ts";

Deno.test("createSingleFlight() runs one task for all calls of one key", async () => {
  const singleFlight = createSingleFlight<object>();
  const { promise, resolve } = deferred<object>();
  let runs = 0;
  const task = () => {
    runs++;
    return promise;
  };
  const calls = Array.from({ length: 10 }, () => singleFlight("k", task));
  assertEquals(runs, 1);
  await Promise.resolve();
  calls.push(singleFlight("k", () => Promise.reject(new Error("not run"))));
  const token = {};
  resolve(token);
  for (const result of await Promise.all(calls)) {
    assertStrictEquals(result, token);
  }
  assertEquals(runs, 1);
});

Deno.test("createSingleFlight() runs again when the task has settled", async () => {
  const singleFlight = createSingleFlight<number>();
  let runs = 0;
  // deno-lint-ignore require-await
  const task = async () => ++runs;
  assertEquals(await singleFlight("k", task), 1);
  assertEquals(await singleFlight("k", task), 2);
  // Also for a caller that continues as soon as it has the result.
  const chained = singleFlight("k", task).then(() => singleFlight("k", task));
  assertEquals(await chained, 4);
});

Deno.test("createSingleFlight() shares a failure and runs again after it", async () => {
  const singleFlight = createSingleFlight<number>();
  const failure = new Error("failed");
  const tasks: (() => Promise<number>)[] = [
    () => Promise.reject(failure),
    () => {
      throw failure;
    },
  ];
  for (const task of tasks) {
    const calls = [singleFlight("k", task), singleFlight("k", task)];
    const caught = await Promise.all(
      calls.map((call) => assertRejects(() => call, Error)),
    );
    for (const error of caught) assertStrictEquals<unknown>(error, failure);
    assertEquals(await singleFlight("k", () => Promise.resolve(1)), 1);
  }
});

Deno.test("createSingleFlight() keeps keys and instances apart", async () => {
  const one = createSingleFlight<string>();
  const two = createSingleFlight<string>();
  const gates = ["", "a", "A", "__proto__", "constructor"].map((key) => ({
    key,
    ...deferred<string>(),
  }));
  const calls = gates.map(({ key, promise }) => one(key, () => promise));
  const others = gates.map(({ key }) => two(key, () => Promise.resolve("2")));
  assertEquals(await Promise.all(others), gates.map(() => "2"));
  for (const { key, resolve } of gates.toReversed()) resolve(`1${key}`);
  assertEquals(await Promise.all(calls), gates.map(({ key }) => `1${key}`));
});

Deno.test("createSingleFlight() allows a task to call it with other keys", async () => {
  const singleFlight = createSingleFlight<string>();
  const outcome = await singleFlight("a", async () => {
    const inner = await singleFlight("b", () => Promise.resolve("b"));
    return `a${inner}`;
  });
  assertEquals(outcome, "ab");
});

Deno.test("createSingleFlight() starts the task synchronously", () => {
  const singleFlight = createSingleFlight<void>();
  let hasStarted = false;
  void singleFlight("k", () => {
    hasStarted = true;
    return Promise.resolve();
  });
  assert(hasStarted);
});

Deno.test("createSingleFlight() makes a task that joins its own key wait for itself", async () => {
  const singleFlight = createSingleFlight<string>();
  let isSettled = false;
  let ranInner = false;
  const outer = singleFlight("k", async () => {
    await Promise.resolve();
    return await singleFlight("k", () => {
      ranInner = true;
      return Promise.resolve("inner");
    });
  });
  void outer.finally(() => isSettled = true);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assertEquals([isSettled, ranInner], [false, false]);
});
