/**
 * Compares this library with others, as COMPARISON shows it: the speed of parsing, calls
 * and whole flows on the same input, and the size. Prints what it measures, and never
 * fails because of a number.
 */

import { cpus } from "node:os";
import { compareBundles, packageVersions } from "./bench/bundle_size.ts";
import { compareCalls } from "./bench/calls.ts";
import { compareFlows } from "./bench/flows.ts";
import { compareParsing } from "./bench/parsing.ts";
import type { IGoal, ISection } from "./bench/timing.ts";
import { formatTable } from "./support/table.ts";

async function* measure(): AsyncGenerator<ISection> {
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
    console.log(`${reached ? "reached" : "missed"}: ${text}`);
    all.push({ text: `${title}: ${text}`, reached });
  }
}
const missed = all.filter(({ reached }) => !reached);
console.log(
  `\nGoals: ${all.length - missed.length} reached, ${missed.length} missed.`,
);
for (const { text } of missed) console.log(`Missed: ${text}`);
