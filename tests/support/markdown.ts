/** Reads the pages in `.github/docs`. */
import { assert } from "@std/assert";

const PAGES = new URL("../../.github/docs/", import.meta.url);

export function pageAt(name: string): string {
  return Deno.readTextFileSync(new URL(name, PAGES));
}

/** Returns what a page has between a heading and the next one of the same level. */
export function sectionOf(page: string, heading: string): string {
  const start = page.indexOf(`\n${heading}\n`);
  assert(start !== -1, `no heading is ${heading}`);
  const rest = page.slice(start + heading.length + 2);
  const [level = ""] = heading.split(" ");
  const end = rest.search(new RegExp(`^#{1,${level.length}} `, "m"));
  return end === -1 ? rest : rest.slice(0, end);
}

/**
 * Returns the rows of the tables whose first cell is code, each as its cells without
 * whitespace around them; the first cell without its backticks.
 */
export function rowsOf(section: string): string[][] {
  return [...section.matchAll(/^\| +`([^`]+)` +\|(.*)\|$/gm)]
    .map(([, name = "", rest = ""]) => [
      name,
      ...rest.split(/(?<!\\)\|/).map((cell) => cell.trim()),
    ]);
}

const cellsOf = (line: string) =>
  line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());

/**
 * Returns the tables of a page by the first cell of their headings, each as its rows; a
 * row is its cells with ` | ` between them.
 */
export function tablesOf(page: string): Record<string, string[]> {
  return Object.fromEntries(
    [...page.matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) => {
      const [heading = "", , ...rows] = table.trimEnd().split("\n");
      const [name = ""] = cellsOf(heading);
      return [name, rows.map((row) => cellsOf(row).join(" | "))];
    }),
  );
}
