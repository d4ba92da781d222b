/** The identifiers of findings, which programs may depend on, and their standards. */

import { assertEquals } from "@std/assert";
import { ruleLines, snapshotUrl } from "./_snapshots.ts";

Deno.test("the rules have the identifiers and standards of the snapshot", async () => {
  const lines = await ruleLines();
  assertEquals(lines, await Deno.readTextFile(snapshotUrl("rules")));
  const ids = lines.split("\n").map((line) => line.split(":")[0]);
  assertEquals(ids, [...new Set(ids)]);
});
