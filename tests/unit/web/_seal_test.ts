/** A sealed value opens as what it was sealed for only. */

import { assertEquals } from "@std/assert";
import { Seal } from "../../../lib/web/_seal.ts";

const KEY = new Uint8Array(32).fill(7);

Deno.test("Seal opens a value only as the kind, and for the name, that it is sealed for", async () => {
  const seal = new Seal([KEY], () => 1_000);
  const sealed = await seal.seal("visit", "sign-in-visit-0", { a: 1 }, 2);
  const opened: object | undefined = await seal.open(
    "visit",
    "sign-in-visit-0",
    sealed,
  );
  assertEquals(opened, { a: 1, exp: 2 });
  // The name of a cookie may be that of another sign-in's session.
  assertEquals(
    await seal.open("session", "sign-in-visit-0", sealed),
    undefined,
  );
  assertEquals(await seal.open("visit", "sign-in-visit-1", sealed), undefined);
});
