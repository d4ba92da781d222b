/** The identifiers of findings, which programs may depend on, and their standards. */

import { assertEquals, assertMatch } from "@std/assert";
import type { Rule } from "../../lib/doctor/rules/_rule.ts";
import { snapshotUrl } from "./_snapshots.ts";

const folder = new URL("../../lib/doctor/rules/", import.meta.url);

/** Returns the rules of all files, with a line for each: identifier and standard. */
async function ruleLines(): Promise<string[]> {
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  const modules = await Promise.all(
    files.map((name) => import(new URL(name, folder).href)),
  );
  const rules: Rule[] = modules.flatMap(Object.values).filter(Array.isArray)
    .flat();
  return rules.map(({ id, standard }) => `${id}: ${standard}`);
}

Deno.test("the rules have the identifiers and standards of the snapshot", async () => {
  const lines = await ruleLines();
  const snapshot = await Deno.readTextFile(snapshotUrl("rules"));
  const how = "tests/doctor/snapshots/rules.txt is edited by hand";
  assertEquals(lines, snapshot.trimEnd().split("\n"), how);
  const ids = lines.map((line) => line.split(":")[0]);
  assertEquals(ids, [...new Set(ids)]);
});

Deno.test("a test names each rule", async () => {
  const tests = new URL("./", import.meta.url);
  const texts = [...Deno.readDirSync(tests)]
    .filter(({ name }) => name.endsWith(".ts"))
    .map(({ name }) => Deno.readTextFileSync(new URL(name, tests))).join();
  const ids = (await ruleLines()).map((line) => line.split(":")[0]);
  const unnamed = ids.filter((id) => !new RegExp(`\\b${id}\\b`).test(texts));
  assertEquals(unnamed, []);
});

Deno.test("each rule says where it was seen", async () => {
  for (const { name } of Deno.readDirSync(folder)) {
    const text = await Deno.readTextFile(new URL(name, folder));
    for (const line of text.match(/^ {4}id: .*/gm) ?? []) {
      assertMatch(line, /^ {4}id: "\w+", \/\/ .+/);
    }
  }
});
