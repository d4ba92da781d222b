/**
 * Compares this library with others: the speed of parsing and of whole flows on
 * the same input, memory, import time and size. Prints what it measures, and
 * never fails because of a number.
 *
 * `--json` prints the report as JSON.
 */

import { cpus } from "node:os";
import { compareCrowds, MEMORY_LIMIT } from "./bench/crowd.ts";
import { compareImports } from "./bench/cold_import.ts";
import { compareParsing, PARSING_GOALS } from "./bench/parsing.ts";
import { comparePureFunctions } from "./bench/pure.ts";
import { judgeGoals } from "./bench/goals.ts";
import { compareCalls } from "./bench/calls.ts";
import { compareFlows, TIME_LIMITS } from "./bench/flows.ts";
import {
  compareBundles,
  packageVersions,
  SAME_SCOPE,
} from "./bench/bundle_size.ts";
import { formatTable, type ISection, verdict } from "./bench/timing.ts";

/** The goals of this library. */
const GOALS = {
  ...PARSING_GOALS,
  cpuTimeByBareFetchesWithPkceAtMost: TIME_LIMITS.cpuOnLoopback,
  wallTimeByBareFetchesAtMost: TIME_LIMITS.wallOnLoopback,
  wallTimeAfter10MsAtMost: TIME_LIMITS.wallAfter10Ms,
  memoryByBareFetchesAtMost: MEMORY_LIMIT,
  peersWithTheSameScope: SAME_SCOPE.join(", "),
};

async function* measure(): AsyncGenerator<ISection> {
  yield* comparePureFunctions();
  yield* compareFlows();
  yield await compareCalls();
  yield await compareCrowds();
  yield* compareImports();
  yield* compareBundles();
  yield* compareParsing();
}

function describeMachine() {
  return {
    date: new Date().toISOString(),
    deno: Deno.version.deno,
    v8: Deno.version.v8,
    os: `${Deno.build.os} ${Deno.build.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: navigator.hardwareConcurrency,
    "load average": Deno.loadavg().map((load) => load.toFixed(2)).join(" "),
    packages: packageVersions(),
  };
}

function print({ title, note, rows, goals = [] }: ISection): void {
  const lines = [
    "",
    title,
    ...(note ? [note] : []),
    formatTable(rows),
    ...goals.map(({ text, reached }) => `${verdict(reached)}: ${text}`),
  ];
  console.log(lines.join("\n"));
}

const environment = describeMachine();
const asJson = Deno.args.includes("--json");
const sections: ISection[] = [];
if (!asJson) {
  const lines = Object.entries({ ...environment, ...GOALS });
  for (const [name, value] of lines) console.log(`${name}: ${value}`);
  console.log(
    "Times are medians; ratios are medians of the ratios of each round. " +
      "A ratio to ours above 1: ours is faster or smaller.",
  );
}
for await (const section of measure()) {
  sections.push(section);
  if (!asJson) print(section);
}
const goals = judgeGoals(sections);
if (asJson) {
  const report = { environment, limits: GOALS, goals, sections };
  console.log(JSON.stringify(report, null, 2));
} else {
  const { reached, missed } = goals;
  console.log(`\nGoals: ${reached} reached, ${missed.length} missed.`);
  for (const text of missed) console.log(`Missed: ${text}`);
}
