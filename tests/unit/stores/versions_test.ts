/** Stores that compare what they have with what was loaded, before they replace it. */

import { assertEquals } from "@std/assert";
import type { ISession } from "../../../mod.ts";
import { SESSION } from "../../support/resource.ts";
import { ENGINES } from "./_fakes.ts";

const sessionOf = (access_token: string): ISession => ({
  ...SESSION,
  token: { access_token, token_type: "Bearer" },
});
const [A, B, C] = ["a", "b", "c"].map(sessionOf);

for (const [name, create] of Object.entries(ENGINES)) {
  Deno.test(`${name}() replaces only the session that was loaded`, async () => {
    const { open } = create();
    const [store, other] = [open(), open()];
    assertEquals(await store.save(A, B), false);
    assertEquals(await store.load(), undefined);
    assertEquals(await store.save(A, null), true);
    assertEquals(await other.save(C, null), false);
    const former = await store.load();
    assertEquals(former, A);
    assertEquals(await other.save(B, await other.load()), true);
    assertEquals(await store.save(C, former), false);
    assertEquals(await store.save(undefined, former), false);
    assertEquals(await store.load(), B);
    assertEquals(await store.save(undefined, B), true);
    assertEquals(await store.save(undefined, null), true);
    assertEquals(await store.save(B, B), false);
    assertEquals(await store.load(), undefined);
  });

  Deno.test(`${name}() lets one of several replacements at once succeed`, async () => {
    const { open } = create();
    await open().save(A);
    const tried = Array.from({ length: 8 }, async (_, index) => {
      const store = open();
      return await store.save(sessionOf(`${index}`), await store.load());
    });
    const results = await Promise.all(tried);
    assertEquals(results.filter((one) => one === true).length, 1);
    const index = results.indexOf(true);
    assertEquals((await open().load())?.token.access_token, `${index}`);
  });
}
