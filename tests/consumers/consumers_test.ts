/**
 * The consumers run nearly all unit tests, none of them under a name that another has.
 */

import { assert, assertEquals } from "@std/assert";
import { findPortableTests } from "../../scripts/support/portable_tests.ts";

const tests = new URL("..", import.meta.url);

Deno.test("findPortableTests() finds nearly all of tests/unit/", async () => {
  // What many tests import must not need Deno.
  assert((await findPortableTests(tests)).length > 70);
});

Deno.test("tests/unit/ has no file name twice, as testPattern() goes by names", () => {
  const unit = new URL("unit/", tests);
  const names = [...Deno.readDirSync(unit)].flatMap(({ name }) =>
    [...Deno.readDirSync(new URL(name, unit))].map((file) => file.name)
  );
  assertEquals(names.length, new Set(names).size);
});
