/**
 * Compares this library with others, as COMPARISON shows it: the speed of parsing, calls
 * and whole flows on the same input, and the size. Prints what it measures, and never
 * fails because of a number.
 */

import { cpus } from "node:os";
import { compareParsing, PARSING_GOALS } from "./bench/parsing.ts";
import { comparePureFunctions } from "./bench/pure.ts";
import { compareCalls } from "./bench/calls.ts";
import { compareFlows, TIME_LIMITS } from "./bench/flows.ts";
import {
  compareBundles,
  packageVersions,
  SAME_SCOPE,
} from "./bench/bundle_size.ts";
import {
  formatTable,
  type IGoal,
  type ISection,
  verdict,
} from "./bench/timing.ts";

async function* measure(): AsyncGenerator<ISection> {
  yield* comparePureFunctions();
  yield* compareFlows();
  yield await compareCalls();
  yield* compareBundles();
  yield* compareParsing();
}

const lines = {
  date: new Date().toISOString(),
  deno: Deno.version.deno,
  v8: Deno.version.v8,
  os: `${Deno.build.os} ${Deno.build.arch}`,
  cpu: cpus()[0]?.model ?? "unknown",
  cores: navigator.hardwareConcurrency,
  "load average": Deno.loadavg().map((load) => load.toFixed(2)).join(" "),
  packages: packageVersions(),
  // The goals of this library.
  ...PARSING_GOALS,
  cpuTimeByBareFetchesWithPkceAtMost: TIME_LIMITS.cpuOnLoopback,
  wallTimeByBareFetchesAtMost: TIME_LIMITS.wallOnLoopback,
  wallTimeAfter10MsAtMost: TIME_LIMITS.wallAfter10Ms,
  peersWithTheSameScope: SAME_SCOPE.join(", "),
};
for (const [name, value] of Object.entries(lines)) {
  console.log(`${name}: ${value}`);
}
console.log(
  "Times are medians; ratios are medians of the ratios of each round. " +
    "A ratio to ours above 1: ours is faster or smaller.",
);
const all: IGoal[] = [];
for await (const { title, note, rows, goals = [] } of measure()) {
  console.log(`\n${title}${note ? `\n${note}` : ""}\n${formatTable(rows)}`);
  for (const { text, reached } of goals) {
    console.log(`${verdict(reached)}: ${text}`);
  }
  const ofRows = rows.filter(({ goal }) => goal).map((row): IGoal => ({
    text: String(row.name ?? row.pattern),
    reached: row.goal === verdict(true),
  }));
  for (const { text, reached } of [...ofRows, ...goals]) {
    all.push({ text: `${title}: ${text}`, reached });
  }
}
const missed = all.filter(({ reached }) => !reached);
console.log(
  `\nGoals: ${all.length - missed.length} reached, ${missed.length} missed.`,
);
for (const { text } of missed) console.log(`Missed: ${text}`);
