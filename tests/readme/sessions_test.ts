/** Each row of the tables of sessions.md and prompts.md has its test, and each such test its row. */
import { assertEquals } from "@std/assert";
import { pageAt, tablesOf } from "../support/markdown.ts";
import { PAGE_TABLES } from "../unit/fetch/_page_rows.ts";

Deno.test("sessions.md and prompts.md have the tables and rows that tests/unit/fetch/_page_rows.ts tests", () => {
  const tables = ["sessions.md", "prompts.md"]
    .flatMap((page) => Object.entries(tablesOf(pageAt(page))));
  const tested = Object.entries(PAGE_TABLES)
    .map(([name, rows]) => [name, Object.keys(rows)]);
  assertEquals(Object.fromEntries(tables), Object.fromEntries(tested));
});
