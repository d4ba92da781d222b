/** A row of a table that fails says which one it is. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { eachRow, eachRowInTurn } from "../support/each_row.ts";

Deno.test("eachRow() and eachRowInTurn() name the row that fails, and check none after it", async () => {
  const rows: [string, unknown][] = [["a", 1], ["b", parseInt], ["c", 1n]];
  const seen: unknown[] = [];
  const check = ([name]: [string, unknown]) => {
    seen.push(name);
    assert(name !== "b", "b is wrong");
  };
  const message = 'Row 2, ["b","parseInt()"]: b is wrong';
  assertThrows(() => eachRow(rows, check), Error, message);
  const inTurn = (row: [string, unknown]) => Promise.resolve(check(row));
  // deno-lint-ignore require-await
  const later = async (row: [string, unknown]) => inTurn(row);
  await assertRejects(() => eachRowInTurn(rows, later), Error, message);
  assertEquals(seen, ["a", "b", "a", "b"]);
  const last = () => eachRow(rows.slice(2), () => assert(false, "no"));
  assertThrows(last, Error, "Row 1, c,1: no");
});
