/** The results as a table of Markdown, and what failed in words. */
import type { Outcome, Result } from "./driver.ts";
import { PEERS } from "./peers.ts";
import { type Step, STEPS } from "./server.ts";

const NAMES = Object.keys(STEPS) as Step[];

function versionOf({ server, version }: Result): string {
  const { packages = {} } = server;
  return server.version ?? version ?? Object.values(packages)[0] ?? "";
}

function cellOf({ failure, mark }: Outcome): string {
  return failure === undefined ? "yes" : mark ?? "FAILED";
}

/** Checks whether a step failed that was expected to hold. */
export function isUnexpected({ failure, mark }: Outcome): boolean {
  return failure !== undefined && mark === undefined;
}

/** Aligns the cells of a table of Markdown. */
function format(all: readonly string[][]): string {
  const widths = all[0]!.map((_, column) =>
    Math.max(...all.map((row) => row[column]!.length), 3)
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  const [head = [], ...body] = all;
  return [
    line(head),
    line(widths.map((width) => "-".repeat(width))),
    ...body.map(line),
  ].join("\n");
}

/** Returns the table: what held, what failed, and what is not possible there. */
export function toTable(results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.server.name,
    versionOf(result),
    ...NAMES.map((name) => {
      const outcome = result.outcomes.find(({ step }) => step === name);
      return outcome ? cellOf(outcome) : "";
    }),
  ]);
  return format([["server", "version", ...NAMES], ...rows]);
}

/** Returns the table of a sign-in and a refresh, by this library and by others. */
export function toPeerTable(results: readonly Result[]): string {
  const heads = ["this library", ...Object.keys(PEERS)]
    .flatMap((name) => [`${name}: challenge`, "refresh"]);
  const rows = results.filter(({ peers }) => peers).map((result) => {
    const ours = (["challenge", "expiry"] as const).map((name) => {
      const outcome = result.outcomes.find(({ step }) => step === name);
      return outcome ? cellOf(outcome) : "";
    });
    const theirs = result.peers!.flatMap(({ challenge, refresh }) =>
      [challenge, refresh].map((failure) => failure ? "no" : "yes")
    );
    return [result.server.name, versionOf(result), ...ours, ...theirs];
  });
  return format([["server", "version", ...heads], ...rows]);
}

/** Says in words what failed, and which marks are no longer needed. */
export function explain(
  { outcomes, missing, peers = [] }: Result,
): string[] {
  if (missing !== undefined) return [`left out: ${missing}`];
  const byWords = new Map<string, string[]>();
  for (const outcome of outcomes) {
    const { step, failure, mark } = outcome;
    const words = failure !== undefined
      ? `${mark ? `(${mark}) ` : "FAILED "}${failure}`
      : mark && `holds now: remove the mark ${mark}`;
    if (words) byWords.set(words, [...byWords.get(words) ?? [], step]);
  }
  const theirs = peers.map(({ name, challenge, refresh = challenge }) =>
    refresh && `${name}: ${challenge ? "challenge" : "refresh"}: ${refresh}`
  );
  return [
    ...[...byWords].map(([words, steps]) => `${steps.join(", ")}: ${words}`),
    ...theirs.filter((words) => words !== undefined),
  ];
}
