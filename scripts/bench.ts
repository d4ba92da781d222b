/**
 * Compares this library with others, as COMPARISON shows it: the speed of flows, calls
 * and parsing on the same input, the start of a program on Node, and the size. Prints what
 * it measures, and never fails because of a number.
 */

import { cpus } from "node:os";
import config from "../deno.json" with { type: "json" };
import {
  compareBundles,
  comparedPackages,
  packageVersions,
} from "./bench/bundle_size.ts";
import { compareSpeed } from "./bench/speed.ts";
import { compareStart, nodeVersion } from "./bench/start.ts";
import type { Goal, Section } from "./bench/timing.ts";
import { packSources } from "./support/package.ts";
import { install, temporaryDirectory } from "./support/process.ts";
import { formatTable } from "./support/table.ts";

async function* measure(): AsyncGenerator<Section> {
  yield* compareSpeed();
  await using folder = await temporaryDirectory("bench_");
  const tarball = await packSources(folder.path);
  const directory = await install(`${folder.path}/installed`, {
    [config.name]: `file:${tarball}`,
    ...comparedPackages(),
  });
  yield await compareStart(directory);
  yield* compareBundles(directory);
}

const lines = {
  date: new Date().toISOString(),
  deno: Deno.version.deno,
  v8: Deno.version.v8,
  node: await nodeVersion(),
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
  "Each library has a process of its own, and the servers another one, on loopback. " +
    "The baseline runs in two processes: the ratio of the second, the control, shows " +
    "how exact the others are.\n" +
    "Times are medians; ratios are medians of the ratios of each round. " +
    "A ratio to ours above 1: ours is faster or smaller.",
);
const all: Goal[] = [];
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
