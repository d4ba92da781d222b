/**
 * Runs the tests and prints the lines of lib/ that no test reaches. Fails if fewer
 * than 98 percent of all lines are reached.
 */
import { fileURLToPath } from "node:url";
import { root } from "./support/deno.ts";
import { outputOf } from "./support/process.ts";
import { PROGRAM_TESTS, runAllTests } from "./test.ts";
import { runProgramTests } from "./test_stores.ts";

const MIN_PERCENT = 98;

/** Formats line numbers as ranges: `3, 7-9`. */
function formatRanges(lines: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const line of lines) {
    const range = ranges.at(-1);
    if (range && line === range[1] + 1) range[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([first, last]) =>
    first === last ? String(first) : `${first}-${last}`
  ).join(", ");
}

/** Removes the empty files of processes that a test has killed. */
async function removeEmptyFiles(): Promise<void> {
  const directory = new URL("coverage/", root);
  for await (const { name } of Deno.readDir(directory)) {
    const file = new URL(name, directory);
    if ((await Deno.stat(file)).size === 0) await Deno.remove(file);
  }
}

await Deno.remove(new URL("coverage", root), { recursive: true })
  .catch(() => {});
const options = ["--coverage=coverage", "--coverage-raw-data-only"];
const code = await runAllTests(options) ||
  await runProgramTests([...options, ...PROGRAM_TESTS]);
if (code !== 0) Deno.exit(code);

await removeEmptyFiles();
const args = ["coverage", "--quiet", "--include=/lib/", "--lcov", "coverage"];
const cwd = fileURLToPath(root);
const report = await outputOf(Deno.execPath(), args, { cwd, seconds: 300 });
let found = 0;
let reached = 0;
for (const record of report.split("end_of_record")) {
  const path = /^SF:(.+)$/m.exec(record)?.[1];
  if (path === undefined) continue;
  const lines = [...record.matchAll(/^DA:(\d+),(\d+)/gm)];
  const missed = lines.flatMap(([, line, count]) =>
    count === "0" ? Number(line) : []
  );
  found += lines.length;
  reached += lines.length - missed.length;
  if (missed.length > 0) {
    console.log(`${path.replace(cwd, "")}: ${formatRanges(missed)}`);
  }
}
const percent = 100 * reached / found;
console.log(
  `lib/: ${reached} of ${found} lines reached, ${percent.toFixed(1)} %.`,
);
if (!(percent >= MIN_PERCENT)) {
  console.error(`Expected at least ${MIN_PERCENT} %.`);
  Deno.exit(1);
}
