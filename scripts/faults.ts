/**
 * Runs the table of faults with the sources on Deno and with the packed package
 * on the oldest and the newest Node. Then measures the memory of each runtime while it reads
 * bodies that are too large. Prints tables with totals; the exit code is 1 if any
 * case failed.
 */

import { fileURLToPath } from "node:url";
import { OPERATIONS } from "../tests/faults/case.ts";
import { startFaultServer } from "../tests/faults/fault_server.ts";
import {
  MEMORY_CASES,
  MEMORY_LIMIT,
  MEMORY_OPERATIONS,
} from "../tests/faults/memory_cases.ts";
import { good } from "../tests/faults/plays.ts";
import { bundle } from "../tests/support/bundle.ts";
import { packages } from "./consumers/context.ts";
import { findNode } from "./consumers/node.ts";
import { importMapArgs, root } from "./support/deno.ts";
import { preparePackage } from "./support/package.ts";
import { run, temporaryDirectory } from "./support/process.ts";

/** Ends a run that hangs; a table normally needs less than a minute. */
const TABLE_LIMIT_S = 600;

/** A runtime: its name, and the command that runs a program of `tests/faults/`. */
interface Runtime {
  readonly name: string;
  readonly commandOf: (program: string) => readonly string[];
}

interface CaseReport {
  operation: string;
  name: string;
  problem?: string;
}

const failures: string[] = [];

function fail(message: string): void {
  failures.push(message);
  console.log(`FAILED: ${message}`);
}

/** Returns Deno and the versions of Node, of which some may not be available. */
async function findRuntimes(temporary: string): Promise<Runtime[]> {
  const args = [Deno.execPath(), "run", "-A", ...await importMapArgs()];
  const source = (path: string) => new URL(path, root).href;
  const runtimes: Runtime[] = [{
    name: `Deno ${Deno.version.deno}`,
    commandOf: (program) => [
      ...args,
      source(`tests/faults/${program}.ts`),
      source("mod.ts"),
    ],
  }];
  for (const version of packages.node) {
    try {
      const node = await findNode({ temporary }, version);
      runtimes.push({
        name: `Node ${version.replace(/\..*/, "")}`,
        commandOf: (program) => [
          node,
          `${temporary}/${program}.mjs`,
          `${temporary}/package/mod.js`,
        ],
      });
    } catch (failure) {
      console.log(`Not available: ${failure}`);
    }
  }
  return runtimes;
}

/** Runs one of the programs; returns the lines of JSON that it printed. */
async function runProgram(
  { commandOf }: Runtime,
  program: string,
  args: readonly string[],
  seconds: number,
) {
  const [command = "", ...before] = commandOf(program);
  const { code, stdout, stderr } = await run(command, [...before, ...args], {
    cwd: fileURLToPath(root),
    seconds,
  });
  const reports = stdout.split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  return { reports, problem: code === 0 ? "" : `failed: ${stderr.trim()}` };
}

function tally(reports: readonly CaseReport[]) {
  const failed = reports.filter(({ problem }) => problem).length;
  const cases = reports.length;
  return { cases, passed: cases - failed, failed };
}

/** Runs the table in each runtime and prints the results. */
async function testTable(runtimes: readonly Runtime[]): Promise<void> {
  const totals: Record<string, unknown> = {};
  // At once, as most of the time passes in waiting for timeouts.
  const runs = runtimes.map((runtime) =>
    runProgram(runtime, "run_table", [], TABLE_LIMIT_S)
  );
  for (const [index, { name }] of runtimes.entries()) {
    const { reports, problem }: { reports: CaseReport[]; problem: string } =
      await runs[index]!;
    totals[name] = tally(reports);
    console.log(`\n${name}`);
    console.table({
      ...Object.fromEntries(
        OPERATIONS.map((operation) => [
          operation,
          tally(reports.filter((one) => one.operation === operation)),
        ]),
      ),
      total: totals[name],
    });
    for (const { name, problem } of reports) {
      if (problem) fail(`${name}: ${problem}`);
    }
    if (problem || reports.length === 0) {
      fail(`${name} ${problem || "ran no case"}`);
    }
  }
  console.log("\nAll runtimes");
  console.table(totals);
}

interface MemoryReport {
  ended: string;
  peak: number;
  start: number;
  isExact: boolean;
}

const mebibytes = (bytes: number) => Math.round(bytes / 1024 / 102.4) / 10;

/** How often a case is measured: on a busy machine garbage is collected late. */
const MEMORY_ATTEMPTS = 3;

/** Returns the measurement with the least memory, the first within the limit. */
async function measureLeast(
  measure: () => Promise<MemoryReport>,
  limit: number,
): Promise<MemoryReport> {
  let least = await measure();
  for (let made = 1; made < MEMORY_ATTEMPTS && least.peak > limit; made++) {
    const next = await measure();
    if (next.peak < least.peak) least = next;
  }
  return least;
}

/** Measures the memory in one runtime; returns the rows of its table. */
async function measureAll(
  runtime: Runtime,
  origin: string,
): Promise<Record<string, unknown>> {
  const rows: Record<string, unknown> = {};
  for (const operation of MEMORY_OPERATIONS) {
    let idle: number | undefined;
    for (const { fault, play, limit = MEMORY_LIMIT } of MEMORY_CASES) {
      const hostile = await startFaultServer(play);
      const row = `${operation}, ${fault}`;
      const args = [operation, origin, hostile.origin];
      const measure = async (): Promise<MemoryReport> => {
        const { reports: [report], problem } = await runProgram(
          runtime,
          "memory_child",
          args,
          60,
        );
        if (!report) throw new Error(problem);
        return report;
      };
      try {
        const report = await measureLeast(measure, (idle ?? Infinity) + limit);
        idle ??= report.peak;
        const growth = report.peak - idle;
        if (growth >= limit) fail(`${runtime.name}: ${row}`);
        rows[row] = {
          "ended with": report.ended,
          "peak MiB": mebibytes(report.peak),
          "growth MiB": mebibytes(growth),
          "limit MiB": mebibytes(limit),
          "": report.isExact ? "" : "start included",
        };
      } catch (failure) {
        fail(`${runtime.name}: ${row}: ${failure}`);
      } finally {
        await hostile.close();
      }
    }
  }
  return rows;
}

/** Measures the memory in all runtimes and prints it. */
async function testMemory(runtimes: readonly Runtime[]): Promise<void> {
  const server = await startFaultServer(good);
  const runs = runtimes.map((runtime) => measureAll(runtime, server.origin));
  for (const [index, { name }] of runtimes.entries()) {
    const rows = await runs[index]!;
    console.log(
      `\n${name}: resident memory, growth compared with a valid response`,
    );
    console.table(rows);
  }
  await server.close();
}

async function testAll(): Promise<void> {
  await using directory = await temporaryDirectory("faults_");
  await preparePackage(undefined, directory.path);
  for (const name of ["run_table", "memory_child"]) {
    // For runtimes without TypeScript.
    const source = fileURLToPath(new URL(`tests/faults/${name}.ts`, root));
    await bundle(source, `${directory.path}/${name}.mjs`, []);
  }
  const runtimes = await findRuntimes(directory.path);
  await testTable(runtimes);
  await testMemory(runtimes);
}

if (import.meta.main) {
  await testAll();
  const { length } = failures;
  console.log(length === 0 ? "\nEverything passed." : `\n${length} failed.`);
  Deno.exit(length === 0 ? 0 : 1);
}
