/** The figures on the front page of the site are those of README and COMPARISON. */

import { assert, assertEquals } from "@std/assert";

const read = (path: string) =>
  Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));
const front = read("scripts/site/index.md");

const rowsOf = (page: string) =>
  [...page.matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) =>
    row.split("|").map((cell) => cell.trim())
  );

Deno.test("the front page has the figures of README", () => {
  const readme = read("README.md");
  const figures = [...front.matchAll(/^- \*\*(.*?)\*\*(.*)$/gm)]
    .map(([, figure = "", rest = ""]) => [figure, rest] as const)
    .filter(([figure]) => /\d \w|kB/.test(figure));
  assertEquals(figures.length, 4);
  for (const [figure, rest] of figures) {
    assert(readme.includes(figure), figure);
    const [setups] = /\d+ setups of real servers/.exec(rest) ?? [];
    if (setups) assert(readme.includes(setups), setups);
  }
});

Deno.test("the front page has the rows of COMPARISON", () => {
  const [names = [], , ...rows] = rowsOf(front);
  const libraries = names.slice(2);
  assertEquals(libraries, ["oauth4webapi", "openid-client", "MCP client"]);
  const compared = rowsOf(read(".github/COMPARISON.md"));
  const plain = (cell = "") => cell.replace(/[⁰¹²³⁴-⁹]+$/, "");
  assert(rows.length >= 4);
  for (const [feature = "", ...cells] of rows) {
    const row = compared.find(([name]) => name === feature);
    assert(row, `COMPARISON has no row "${feature}"`);
    assertEquals(cells, row.slice(1, 5).map(plain), feature);
  }
});
