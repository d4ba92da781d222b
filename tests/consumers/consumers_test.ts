import { assert, assertEquals } from "@std/assert";
import { judgeTap } from "../../scripts/consumers/unit_test_report.ts";
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

const TAP = `TAP version 13
# Subtest: fetch() works
ok 1 - fetch() works
  ---
  duration_ms: 1
  ...
# Subtest: fetch() fails
not ok 2 - fetch() fails
  ---
  duration_ms: 2
  error: |-
    \u001b[1mValues\u001b[22m are not equal.
    
    -   1
    +   2
  code: 'ERR_TEST_FAILURE'
  ...
# Subtest: fetch() hangs
not ok 3 - fetch() hangs
  ---
  error: 'test timed out'
  ...
ok 4 - fetch() waits # SKIP
`;

Deno.test("judgeTap() names the failing tests of a run with their errors", () => {
  assertEquals(judgeTap({ code: 1, stdout: TAP, stderr: "Ended\n" }), {
    passed: 1,
    failure: "fetch() fails: Values are not equal. - 1 + 2\n" +
      "fetch() hangs: 'test timed out'\n" +
      "Ended",
  });
});

Deno.test("judgeTap() reports a run without tests as a failure", () => {
  const failureOf = (code: number, stdout: string, stderr = "") =>
    judgeTap({ code, stdout, stderr }).failure;
  assertEquals(failureOf(0, "ok 1 - one\n  ---\n  ...\n"), undefined);
  assertEquals(failureOf(0, "# pass 0\n"), "No test was run");
  assertEquals(failureOf(0, "ok 1 - one # SKIP\n"), "No test was run");
  assertEquals(failureOf(1, "", "SyntaxError\n"), "SyntaxError");
  assertEquals(failureOf(1, "ok 1 - one\n"), "Exit code 1");
});
