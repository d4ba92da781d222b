/** How scripts print tables. */

/** A row: its cells by the titles of the columns, the same in each row. */
export type Row = Readonly<Record<string, string | number>>;

export function formatTable(rows: readonly Row[]): string {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map(Object.values)]
    .map((cells) => cells.map(String));
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length))
  );
  return lines.map((line) =>
    line.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")
      .trimEnd()
  ).join("\n");
}
