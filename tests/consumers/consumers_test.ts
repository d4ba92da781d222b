import { assert, assertEquals } from "@std/assert";
import {
  findPortableTests,
  selectPortableTests,
} from "../../scripts/support/portable_tests.ts";

const tests = new URL("..", import.meta.url);

Deno.test("findPortableTests() finds nearly all of tests/unit/, also without transfer()", async () => {
  // What many tests import must not need Deno or @std/encoding.
  assert((await findPortableTests(tests, false)).length > 70);
});

Deno.test("selectPortableTests() follows the imports of a test within tests/", () => {
  const sources = new Map([
    [
      "unit/core/a_test.ts",
      'import "@std/assert"; Deno.test("a", () => {});',
    ],
    ["unit/core/b_test.ts", 'import { b } from "../../support/b.ts";'],
    ["support/b.ts", 'export { b } from "./deeper.ts";'],
    [
      "support/deeper.ts",
      'import { b } from "@std/encoding/base64url"; export { b };',
    ],
    ["unit/core/c_test.ts", 'import { c } from "./_c.ts";'],
    ["unit/core/_c.ts", "export const c = Deno.cwd();"],
    ["unit/core/d_test.ts", 'import { d } from "../../servers/d.ts";'],
    ["flows/e_test.ts", 'Deno.test("e", () => {});'],
  ]);
  assertEquals(selectPortableTests(sources, true), [
    "unit/core/a_test.ts",
    "unit/core/b_test.ts",
  ]);
  assertEquals(selectPortableTests(sources, false), ["unit/core/a_test.ts"]);
});

Deno.test("tests/unit/ has no file name twice, as testPattern() goes by names", () => {
  const unit = new URL("unit/", tests);
  const names = [...Deno.readDirSync(unit)].flatMap(({ name }) =>
    [...Deno.readDirSync(new URL(name, unit))].map((file) => file.name)
  );
  assertEquals(names.length, new Set(names).size);
});
