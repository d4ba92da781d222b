/** Stores that compare what they have with what was loaded, before they save. */

import { memoryStore } from "../../../mod.ts";
import {
  assertCompares,
  assertOneReplaces,
  assertReadsOtherForms,
} from "../../support/comparing_store.ts";
import { ENGINES } from "./_fakes.ts";

for (const [name, create] of Object.entries(ENGINES)) {
  Deno.test(`${name}() saves only if it has what was loaded`, () =>
    assertCompares(create().open()));

  Deno.test(`${name}() lets one of several replacements at once succeed`, () =>
    assertOneReplaces(create().open));

  Deno.test(`${name}() compares a session that another program has written`, () => {
    const { open, put } = create();
    return assertReadsOtherForms(open(), put);
  });
}

Deno.test("memoryStore() saves only if it has what was loaded", () =>
  assertCompares(memoryStore()));

Deno.test("memoryStore() lets one of several replacements at once succeed", () => {
  const store = memoryStore();
  return assertOneReplaces(() => store);
});
