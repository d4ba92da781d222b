/** A caller gets what was created for its own token, and never what another caller has. */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { perCaller } from "../../../mod.ts";
import { hashBase64Url } from "../../../lib/core/_base64.ts";
import { assertThrowsCode, pinRejected } from "../../support/fixtures.ts";

function counted(maxCallers?: number) {
  const created: [token: string, id: string][] = [];
  const valueFor = perCaller((token, id) => {
    created.push([token, id]);
    return { token };
  }, { maxCallers });
  return { created, valueFor };
}

Deno.test("perCaller() creates one value for each token, also for calls at once", async () => {
  const { created, valueFor } = counted();
  const tokens = ["ann", "bob", "ann", "ann", "bob"];
  const values = await Promise.all(tokens.map(valueFor));
  assertEquals(values.map(({ token }) => token), tokens);
  assertEquals(created.length, 2);
  assert(values[0] === values[2] && values[0] === await valueFor("ann"));
  assertNotEquals(values[0], values[1]);
});

Deno.test("perCaller() passes an id for a store, which does not contain the token", async () => {
  const { created, valueFor } = counted();
  await valueFor("token-of-ann");
  await valueFor("token-of-bob");
  assertEquals(created, [
    ["token-of-ann", await hashBase64Url("token-of-ann")],
    ["token-of-bob", await hashBase64Url("token-of-bob")],
  ]);
});

Deno.test("perCaller() drops the value that was not used for the longest time, and nothing in use breaks", async () => {
  const { created, valueFor } = counted(2);
  const ann = await valueFor("ann");
  await valueFor("bob");
  await valueFor("ann");
  await valueFor("carl");
  assert(await valueFor("ann") === ann);
  assertEquals(created.length, 3);
  await valueFor("bob");
  assertEquals(created.map(([token]) => token), ["ann", "bob", "carl", "bob"]);
  // Ann's was used after carl's.
  assert(await valueFor("ann") === ann);
  await valueFor("carl");
  assertEquals(created.length, 5);
});

Deno.test("perCaller() keeps the value undefined, and nothing that failed", async () => {
  let calls = 0;
  const valueFor = perCaller((token) => {
    calls++;
    if (token === "bad") throw new TypeError("no");
  });
  await valueFor("ann");
  await valueFor("ann");
  assertEquals(calls, 1);
  for (const count of [2, 3]) {
    await valueFor("bad").then(() => assert(false), () => {});
    assertEquals(calls, count);
  }
});

Deno.test("perCaller() keeps no promise that has rejected", async () => {
  let calls = 0;
  const valueFor = perCaller(() => {
    const isFirst = ++calls === 1;
    return isFirst ? Promise.reject(new Error("down")) : Promise.resolve(calls);
  });
  assertEquals(await valueFor("ann").catch(String), "Error: down");
  assertEquals([await valueFor("ann"), await valueFor("ann")], [2, 2]);
});

Deno.test("perCaller() has no value for callers without a token", async () => {
  const { created, valueFor } = counted();
  // UTF-8 does not tell the last two apart.
  const tokens = [undefined, "", null, {}, "Bearer ann", "\ud800", "\ud801"];
  for (const token of tokens) {
    await pinRejected(() => valueFor(token as string), "invalid_argument");
  }
  assertEquals(created, []);
  for (const [create, maxCallers] of [[undefined, 1], [() => 1, 0]]) {
    assertThrowsCode(
      () => perCaller(create as () => number, { maxCallers } as object),
      "invalid_argument",
    );
  }
});
