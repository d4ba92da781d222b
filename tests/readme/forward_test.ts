/** Each row of the table of forward.md has its test, and each such test its row. */
import { assertEquals } from "@std/assert";
import { pageAt, tablesOf } from "../support/markdown.ts";
import { FORWARD_ROWS } from "../unit/web/_forward_rows.ts";

Deno.test("forward.md has the rows that tests/unit/web/_forward_rows.ts tests", () => {
  const { What: rows } = tablesOf(pageAt("forward.md"));
  assertEquals(rows, Object.keys(FORWARD_ROWS));
});
