import { assert, assertEquals, assertMatch } from "@std/assert";
import { differences, formatTable } from "../../scripts/consumers/table.ts";
import { judgeTap } from "../../scripts/consumers/unit_test_report.ts";
import {
  findPortableTests,
  selectPortableTests,
  testPattern,
} from "../../scripts/support/portable_tests.ts";

Deno.test("differences() names the path of every difference", () => {
  assertEquals(
    differences({ a: [1, { b: null }] }, { a: [1, { b: null }] }),
    [],
  );
  assertEquals(
    differences({ a: [1], c: 1 }, { a: [2], b: "x" }),
    [
      "report.a.0: expected 2, got 1",
      'report.b: expected "x", got nothing',
      "report.c: expected nothing, got 1",
    ],
  );
  assertEquals(differences(undefined, { a: 1 }).length, 1);
});

Deno.test("formatTable() distinguishes a failure from a missing runtime", () => {
  const row = { version: "1", loaded: "import" };
  const table = formatTable([
    { ...row, runtime: "Good", importMs: 1.25 },
    { ...row, runtime: "Bad", failure: "one\ntwo" },
    { ...row, runtime: "None", failure: "not here", isMissing: true },
  ]);
  assertMatch(table, /^Good +1 +import +ok +1\.3$/m);
  assertMatch(table, /^Bad +1 +import +FAILED +-$/m);
  assertMatch(table, /^None +1 +import +MISSING +-$/m);
  assertMatch(table, /Bad 1, import:\n {2}one\n {2}two/);
});

const tests = new URL("..", import.meta.url);

Deno.test("findPortableTests() finds tests below tests/unit/ only", async () => {
  const paths = await findPortableTests(tests, true);
  assert(paths.includes("unit/core/challenge_test.ts"));
  for (const path of paths) assertMatch(path, /^unit\/.*_test\.ts$/);
});

Deno.test("findPortableTests() leaves out tests of @std/encoding without transfer()", async () => {
  const all = await findPortableTests(tests, true);
  const paths = await findPortableTests(tests, false);
  assert(paths.includes("unit/core/challenge_test.ts"));
  for (const path of all) {
    const source = await Deno.readTextFile(new URL(path, tests));
    if (source.includes('from "@std/encoding/')) {
      assert(!paths.includes(path), path);
    }
  }
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

Deno.test("testPattern() has no slash within braces, which dnt cannot read", () => {
  assertEquals(
    testPattern(["unit/core/a_test.ts", "unit/token/b_test.ts"]),
    "**/{a_test.ts,b_test.ts}",
  );
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
