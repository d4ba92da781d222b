import { assertEquals } from "@std/assert";
import { nameOf } from "./case.ts";
import { TABLE, TABLES } from "./table.ts";

Deno.test("the table of faults has no name twice", () => {
  const names = TABLE.map(nameOf);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  assertEquals(twice, []);
});

Deno.test("each table of faults is played by one test file", () => {
  const folder = new URL(".", import.meta.url);
  const played = [...Deno.readDirSync(folder)]
    .filter(({ name }) => name.endsWith("_test.ts"))
    .flatMap(({ name }) => {
      const source = Deno.readTextFileSync(new URL(name, folder));
      const [, names = ""] = /^playTables\((.*)\);$/m.exec(source) ?? [];
      return [...names.matchAll(/\w+/g)].map(String);
    });
  assertEquals(played.sort(), Object.keys(TABLES).sort());
});
