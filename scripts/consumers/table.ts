/** The rows of the consumer tests, and how they are printed. */

/** The result of one consumer. */
export interface IRow {
  readonly runtime: string;
  readonly version: string;
  /** How the package was loaded, and in which format. */
  readonly loaded: string;
  /** What is wrong; undefined if everything passed. */
  readonly failure?: string | undefined;
  /** Whether the runtime is not available, so that nothing was run. */
  readonly isMissing?: boolean | undefined;
  /** Milliseconds of the first import. */
  readonly importMs?: number | undefined;
}

/** Formats the rows in aligned columns, followed by the failures in full. */
export function formatTable(rows: readonly IRow[]): string {
  const lines = [
    ["runtime", "version", "how loaded", "result", "import ms"],
    ...rows.map((
      { runtime, version, loaded, failure, isMissing, importMs },
    ) => [
      runtime,
      version,
      loaded,
      failure === undefined ? "ok" : isMissing ? "MISSING" : "FAILED",
      importMs === undefined ? "-" : importMs.toFixed(1),
    ]),
  ];
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length))
  );
  const table = lines.map((line) =>
    line.map((cell, column) =>
      column === line.length - 1
        ? cell.padStart(widths[column]!)
        : cell.padEnd(widths[column]!)
    ).join("  ")
  );
  table.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  const failures = rows.filter(({ failure }) => failure !== undefined).map((
    { runtime, version, loaded, failure },
  ) => `${runtime} ${version}, ${loaded}:\n${indent(failure ?? "")}`);
  return [table.join("\n"), ...failures].join("\n\n");
}

function indent(text: string): string {
  const lines = text.trim().split("\n");
  const shown = lines.length > 25 ? [...lines.slice(0, 25), "..."] : lines;
  return shown.map((line) => `  ${line.slice(0, 400)}`).join("\n");
}

/** Returns a line for each difference between two reports. */
export function differences(
  actual: unknown,
  expected: unknown,
  path = "report",
): string[] {
  const isBranch = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  if (!isBranch(actual) || !isBranch(expected)) {
    return Object.is(actual, expected)
      ? []
      : [`${path}: expected ${shown(expected)}, got ${shown(actual)}`];
  }
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...names].flatMap((name) =>
    differences(actual[name], expected[name], `${path}.${name}`)
  );
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
