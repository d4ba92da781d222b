/** Each row of the tables of DECISIONS.md, sessions.md and prompts.md is true, without a fetch, a clock or a store. */
import { assertEquals } from "@std/assert";
import { PAGE_TABLES } from "./_page_rows.ts";

for (const [table, rows] of Object.entries(PAGE_TABLES)) {
  Deno.test(`the guide is right in each row of: ${table}`, () => {
    for (const [row, shows] of Object.entries(rows)) {
      for (const [found, expected] of shows()) {
        assertEquals(found, expected, row);
      }
    }
  });
}
