import { assert, assertEquals, assertRejects } from "@std/assert";
import { never } from "./stub_fetch.ts";
import { until, within } from "./within.ts";

// The test runner fails where a timer is left, as a minute would be.
const MINUTE = 60_000;

Deno.test("within() settles as the promise does, and leaves no timer", async () => {
  assertEquals(await within(MINUTE, Promise.resolve("a")), "a");
  const reason = new Error("enough");
  const failing = within(MINUTE, Promise.reject(reason));
  assertEquals(await assertRejects(() => failing), reason);
});

Deno.test("within() rejects in time, with a stack that names the line that waits", async () => {
  const { message, stack } = await assertRejects(
    () => within(1, never()),
    Error,
  );
  assertEquals(message, "Not settled within 1 ms");
  assert(stack?.includes("within_test.ts"), stack);
});

Deno.test("until() looks at a condition until it holds, or the time is over", async () => {
  let count = 0;
  await until(MINUTE, () => ++count === 3);
  await until(MINUTE, () => Promise.resolve(++count === 5));
  assertEquals(count, 5);
  await assertRejects(
    () => until(1, () => count === 0),
    Error,
    "Not true within 1 ms: ",
  );
  await assertRejects(() => until(1, never), Error, "Not settled");
});
