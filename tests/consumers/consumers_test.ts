import { assert, assertEquals, assertMatch } from "@std/assert";
import { differences, formatTable } from "../../scripts/consumers/table.ts";
import { judgeTap } from "../../scripts/consumers/unit_test_report.ts";
import {
  findPortableTests,
  selectPortableTests,
} from "../../scripts/build_npm.ts";

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

Deno.test("formatTable() tells a failure from a runtime that is missing", () => {
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

Deno.test("findPortableTests() leaves out what needs Deno itself", async () => {
  const names = await findPortableTests(tests, true);
  assert(names.includes("unit/core/challenge_test.ts"));
  assert(names.every((name) => name.endsWith("_test.ts")));
  for (
    const name of ["project/project_test.ts", "flows/real_servers_test.ts"]
  ) {
    assert(!names.includes(name), name);
  }
});

Deno.test("findPortableTests() keeps tests of @std/encoding where it works", async () => {
  const names = await findPortableTests(tests, true);
  for (const name of ["unit/core/_base64_test.ts", "unit/token/pkce_test.ts"]) {
    assert(names.includes(name), name);
  }
});

Deno.test("findPortableTests() leaves out tests of @std/encoding elsewhere", async () => {
  const all = await findPortableTests(tests, true);
  const names = await findPortableTests(tests, false);
  assert(names.includes("unit/core/challenge_test.ts"));
  for (const name of all) {
    const text = await Deno.readTextFile(new URL(name, tests));
    const isFree = !text.includes('from "@std/encoding/');
    assertEquals(names.includes(name), isFree, name);
  }
});

Deno.test("selectPortableTests() looks into what a test imports from beside it", () => {
  const texts = new Map([
    ["a_test.ts", 'import "@std/assert"; Deno.test("a", () => {});'],
    ["b_test.ts", 'import { b } from "./_b.ts";'],
    ["_b.ts", 'export { b } from "./_deeper.ts";'],
    [
      "_deeper.ts",
      'import { b } from "@std/encoding/base64url"; export { b };',
    ],
    ["c_test.ts", 'import { c } from "./_c.ts";'],
    ["_c.ts", "export const c = Deno.cwd();"],
  ]);
  assertEquals(selectPortableTests(texts, true), ["a_test.ts", "b_test.ts"]);
  assertEquals(selectPortableTests(texts, false), ["a_test.ts"]);
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

Deno.test("judgeTap() takes a run without a test for a failure", () => {
  const failureOf = (code: number, stdout: string, stderr = "") =>
    judgeTap({ code, stdout, stderr }).failure;
  assertEquals(failureOf(0, "ok 1 - one\n  ---\n  ...\n"), undefined);
  assertEquals(failureOf(0, "# pass 0\n"), "No test was run");
  assertEquals(failureOf(0, "ok 1 - one # SKIP\n"), "No test was run");
  assertEquals(failureOf(1, "", "SyntaxError\n"), "SyntaxError");
  assertEquals(failureOf(1, "ok 1 - one\n"), "Exit code 1");
});
