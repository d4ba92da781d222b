import { assert, assertEquals, assertMatch } from "@std/assert";
import { differences, formatTable } from "../../scripts/_consumer_table.ts";
import { findPortableTests } from "../../scripts/build_npm.ts";

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

Deno.test("findPortableTests() leaves out what needs Deno itself", async () => {
  const names = await findPortableTests(new URL("..", import.meta.url));
  assert(names.includes("challenge_test.ts"));
  assert(names.every((name) => name.endsWith("_test.ts")));
  for (const name of ["project_test.ts", "real_servers_test.ts"]) {
    assert(!names.includes(name), name);
  }
});
