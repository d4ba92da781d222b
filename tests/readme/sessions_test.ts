/** Each row of the tables of sessions.md has its test, and each such test its row. */
import { assertEquals } from "@std/assert";
import { pageAt, tablesOf } from "../support/markdown.ts";
import { PAGE_TABLES } from "../unit/fetch/_page_rows.ts";

/** Tables of what others do: `tests/stores` has the tests of the locks. */
const NO_DECISIONS = ["Store"];

Deno.test("sessions.md has the tables and rows that tests/unit/fetch/_page_rows.ts tests", () => {
  const tables = Object.entries(tablesOf(pageAt("sessions.md")))
    .filter(([name]) => !NO_DECISIONS.includes(name));
  const tested = Object.entries(PAGE_TABLES)
    .map(([name, rows]) => [name, Object.keys(rows)]);
  assertEquals(Object.fromEntries(tables), Object.fromEntries(tested));
});
