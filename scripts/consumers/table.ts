/** The rows of the consumer tests, and how they are printed. */

import { formatTable } from "../support/table.ts";

export interface Row {
  readonly runtime: string;
  readonly version: string;
  readonly loaded: string;
  /** What is wrong; undefined if everything passed. */
  readonly failure?: string | undefined;
}

/** Formats the rows in aligned columns, followed by the failures in full. */
export function formatRows(rows: readonly Row[]): string {
  const table = formatTable(
    rows.map(({ runtime, version, loaded, failure }) => ({
      runtime,
      version,
      "how loaded": loaded,
      result: failure === undefined ? "ok" : "FAILED",
    })),
  );
  const failures = rows.flatMap(({ runtime, version, loaded, failure }) =>
    failure === undefined
      ? []
      : [`${runtime} ${version}, ${loaded}:\n${indent(failure)}`]
  );
  return [table, ...failures].join("\n\n");
}

function indent(text: string): string {
  const lines = text.trim().split("\n");
  const shown = lines.length > 25 ? [...lines.slice(0, 25), "..."] : lines;
  return shown.map((line) => `  ${line.slice(0, 400)}`).join("\n");
}
