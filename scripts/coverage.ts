/**
 * Runs the tests and prints the lines of lib/ that no test reaches. Fails if fewer
 * than 98 percent of all lines are reached.
 */
import { fileURLToPath } from "node:url";
import { root } from "./support/deno.ts";
import { PROGRAM_TESTS, runAllTests } from "./test.ts";
import { runProgramTests } from "./test_stores.ts";

const MIN_PERCENT = 98;

/** The lines of one file and how many times each ran. */
interface IFileCoverage {
  readonly path: string;
  readonly hits: Map<number, number>;
}

/** Reads the report of `deno coverage --lcov`. */
function parseLcov(report: string): IFileCoverage[] {
  return report.split("end_of_record").flatMap((record) => {
    const [, path] = /^SF:(.+)$/m.exec(record) ?? [];
    if (path === undefined) return [];
    const lines = [...record.matchAll(/^DA:(\d+),(\d+)/gm)];
    const hits = new Map(
      lines.map(([, line, count]) => [Number(line), Number(count)]),
    );
    return [{ path, hits }];
  });
}

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

async function readCoverage(): Promise<IFileCoverage[]> {
  await removeEmptyFiles();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["coverage", "--quiet", "--include=/lib/", "--lcov", "coverage"],
    cwd: root,
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr).trim());
  return parseLcov(decoder.decode(stdout));
}

await Deno.remove(new URL("coverage", root), { recursive: true })
  .catch(() => {});
const options = ["--coverage=coverage", "--coverage-raw-data-only"];
const code = await runAllTests(options) ||
  await runProgramTests([...options, ...PROGRAM_TESTS]);
if (code !== 0) Deno.exit(code);

let found = 0;
let reached = 0;
for (const { path, hits } of await readCoverage()) {
  const missed = [...hits].flatMap(([line, count]) => count > 0 ? [] : line);
  found += hits.size;
  reached += hits.size - missed.length;
  if (missed.length === 0) continue;
  const name = path.replace(fileURLToPath(root), "");
  console.log(`${name}: ${formatRanges(missed)}`);
}
const percent = 100 * reached / found;
console.log(
  `lib/: ${reached} of ${found} lines reached, ${percent.toFixed(1)} %.`,
);
if (!(percent >= MIN_PERCENT)) {
  console.error(`Expected at least ${MIN_PERCENT} %.`);
  Deno.exit(1);
}
