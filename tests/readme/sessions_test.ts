/** Each row of the tables of DECISIONS.md, sessions.md and prompts.md has its test, and each such test its row. */
import { assertEquals } from "@std/assert";
import { pageAt, tablesOf } from "../support/markdown.ts";
import { PAGE_TABLES } from "../unit/fetch/_page_rows.ts";

const PAGES = ["../DECISIONS.md", "sessions.md", "prompts.md"];

Deno.test("DECISIONS.md, sessions.md and prompts.md have the tables and rows that tests/unit/fetch/_page_rows.ts tests", () => {
  const tables = PAGES.flatMap((page) =>
    Object.entries(tablesOf(pageAt(page)))
  );
  const tested = Object.entries(PAGE_TABLES)
    .map(([name, rows]) => [name, Object.keys(rows)]);
  assertEquals(Object.fromEntries(tables), Object.fromEntries(tested));
});
