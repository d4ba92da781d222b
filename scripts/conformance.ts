/**
 * Runs the authorization scenarios of the official conformance suite against
 * `tests/conformance/client.ts`, and prints a table. Nothing is excused: the exit
 * code is 1 when a check fails or warns, or when a scenario is missing.
 *
 * Arguments name scenarios, with or without `auth/`; none mean all of them.
 * `--spec-version 2026-07-28` forces that revision upon every scenario, where
 * each has a revision of its own otherwise.
 */
import { parseArgs } from "node:util";
import { root } from "./support/deno.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";
const SCENARIO_COUNT = 33;
const AT_ONCE = 2;
const PREFIX = "auth/";

// The client ends itself long before, and so does what the suite waits for.
const SCENARIO_MS = 60_000;
// The first command may have to fetch the suite.
const LIST_MS = 300_000;

/** No network but the servers under test, and no package: there is none. */
const CLIENT = [
  "run",
  "--no-prompt",
  "--no-remote",
  "--no-npm",
  "--allow-net=localhost",
  "--allow-env=MCP_CONFORMANCE_PROTOCOL_VERSION,MCP_CONFORMANCE_CONTEXT",
  "tests/conformance/client.ts",
];

/** One check, as the suite writes it down. */
export interface ICheck {
  id: string;
  description: string;
  status: string;
  errorMessage?: string;
}

/** What came of a scenario. */
export interface IOutcome {
  scenario: string;
  /** The revision that the suite told the client to speak. */
  revision: string;
  checks: ICheck[];
  /** Whether the suite itself calls it a success. */
  success: boolean;
  /** What the client complained of. */
  complaint: string;
  /** What the suite said. */
  report: string;
}

/** The checks with this status: `SUCCESS`, `FAILURE`, `WARNING` or `INFO`. */
function having(status: string, { checks }: IOutcome): ICheck[] {
  return checks.filter((check) => check.status === status);
}

/** The code of the error that the client ended with on purpose. */
function refusalOf({ complaint }: IOutcome): string | undefined {
  return /^([a-z_]+): /.exec(complaint)?.[1];
}

/** Whether all went well, without anything left out. */
export function hasPassed(outcome: IOutcome): boolean {
  // Where refusing is right, the suite takes a client that broke for one that
  // refused. It also calls it a success to have skipped a scenario.
  const isSound = outcome.complaint === "" || refusalOf(outcome) !== undefined;
  return outcome.success && isSound && having("SUCCESS", outcome).length > 0 &&
    having("FAILURE", outcome).length + having("WARNING", outcome).length === 0;
}

/** The scenarios of this library's concern in the suite's list of all. */
export function readList(list: string): string[] {
  return [...list.matchAll(/^ *- (auth\/\S+)/gm)].map(([, name = ""]) => name);
}

/** The line of the table for an outcome. */
export function toCells(outcome: IOutcome): string[] {
  const count = (status: string) => String(having(status, outcome).length);
  const refusal = refusalOf(outcome);
  const passed = refusal ? `passed (client: ${refusal})` : "passed";
  return [
    outcome.scenario,
    outcome.revision,
    ...["SUCCESS", "FAILURE", "WARNING"].map(count),
    hasPassed(outcome) ? passed : "FAILED",
  ];
}

/** What there is to know of an outcome that is not as it should be. */
export function explain(outcome: IOutcome): string {
  const lines = ["FAILURE", "WARNING"].flatMap((status) =>
    having(status, outcome).map(({ id, description, errorMessage }) =>
      `  ${status} ${id}: ${errorMessage ?? description}`
    )
  );
  const said = (who: string, text: string) =>
    text.trim() ? [`  ${who}:`, text.trim().replace(/^/gm, "    ")] : [];
  return [
    `${outcome.scenario} failed:`,
    ...lines,
    ...said("The client", outcome.complaint),
    // Of use only where it says something else.
    ...(lines.length === 0 && outcome.complaint === ""
      ? said("The suite", outcome.report)
      : []),
  ].join("\n");
}

/** Runs the suite; it starts the client by the name of this Deno. */
async function runSuite(args: string[], timeLimit: number) {
  const [, folder = "", separator = "/"] =
    /^(.*)([/\\])[^/\\]+$/.exec(Deno.execPath()) ?? [];
  // A context left over in the environment would reach every client.
  const env = Object.fromEntries(
    Object.entries(Deno.env.toObject())
      .filter(([name]) => !name.startsWith("MCP_CONFORMANCE_")),
  );
  const path = `${folder}${separator === "\\" ? ";" : ":"}${env.PATH ?? ""}`;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", SUITE, ...args],
    cwd: root,
    clearEnv: true,
    env: { ...env, PATH: path, NO_COLOR: "1" },
    signal: AbortSignal.timeout(timeLimit),
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { success, stdout: decode(stdout), stderr: decode(stderr) };
}

/** The suite's own list of scenarios, which is to be as long as ever. */
async function listScenarios(): Promise<string[]> {
  const { stdout, stderr } = await runSuite(["list", "--client"], LIST_MS);
  const scenarios = readList(stdout);
  if (scenarios.length !== SCENARIO_COUNT) {
    throw new Error(
      `${SUITE} lists ${scenarios.length} scenarios, ` +
        `expected ${SCENARIO_COUNT}\n${stderr}`,
    );
  }
  return scenarios;
}

/** A file of a scenario's results; empty when the suite did not write it. */
async function readResult(folder: string, name: string): Promise<string> {
  try {
    for await (const entry of Deno.readDir(`${folder}/auth`)) {
      return await Deno.readTextFile(`${folder}/auth/${entry.name}/${name}`);
    }
  } catch (failure) {
    if (!(failure instanceof Deno.errors.NotFound)) throw failure;
  }
  return "";
}

async function runScenario(
  scenario: string,
  specVersion: string | undefined,
): Promise<IOutcome> {
  const folder = await Deno.makeTempDir({ prefix: "conformance-" });
  try {
    const { success, stdout, stderr } = await runSuite([
      "client",
      // Split at blanks by the suite, so that no word may hold one: hence the
      // bare name, looked up in PATH, and a path from the root.
      ...["--command", ["deno", ...CLIENT].join(" ")],
      ...["--scenario", scenario],
      ...["--output-dir", folder],
      ...(specVersion ? ["--spec-version", specVersion, "--force"] : []),
    ], SCENARIO_MS);
    const said = await readResult(folder, "stdout.txt");
    return {
      scenario,
      revision: /at revision (\S+)/.exec(said)?.[1] ?? "",
      checks: JSON.parse(await readResult(folder, "checks.json") || "[]"),
      success,
      complaint: await readResult(folder, "stderr.txt"),
      report: stdout + stderr,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The scenarios that were asked for, by the names they have in the suite. */
export function choose(all: string[], names: string[]): string[] {
  const wanted = names.map((name) =>
    name.startsWith(PREFIX) ? name : PREFIX + name
  );
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    throw new Error(`No such scenario: ${unknown.join(", ")}`);
  }
  return wanted.length > 0 ? wanted : all;
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    // `deno task` hands on the `--` that npm would take away.
    args: Deno.args.filter((argument) => argument !== "--"),
    options: { "spec-version": { type: "string" } },
    allowPositionals: true,
  });
  const start = performance.now();
  const scenarios = choose(await listScenarios(), positionals);
  console.log(`${SUITE}\n`);

  const width = Math.max(...scenarios.map(({ length }) => length));
  const widths = [width, 10, 6, 6, 8];
  const print = (cells: string[]) =>
    console.log(
      cells.map((cell, column) =>
        // Numbers stand to the right.
        column >= 2 && column <= 4
          ? cell.padStart(widths[column] ?? 0)
          : cell.padEnd(widths[column] ?? 0)
      ).join("  "),
    );
  print(["scenario", "revision", "passed", "failed", "warnings", "result"]);

  const runs: Promise<IOutcome>[] = [];
  for (const scenario of scenarios) {
    const before = runs[runs.length - AT_ONCE] ?? Promise.resolve();
    runs.push(before.then(() => runScenario(scenario, values["spec-version"])));
  }
  const outcomes: IOutcome[] = [];
  for (const run of runs) {
    const outcome = await run;
    print(toCells(outcome));
    outcomes.push(outcome);
  }

  const failed = outcomes.filter((outcome) => !hasPassed(outcome));
  for (const outcome of failed) console.error(`\n${explain(outcome)}`);
  const sum = (status: string) =>
    outcomes.reduce((total, one) => total + having(status, one).length, 0);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `\n${outcomes.length - failed.length} passed, ${failed.length} failed, ` +
      `of ${outcomes.length} scenarios in ${seconds} s; checks: ` +
      `${sum("SUCCESS")} passed, ${sum("FAILURE")} failed, ` +
      `${sum("WARNING")} warnings.`,
  );
  return failed.length === 0;
}

if (import.meta.main) {
  let success = false;
  try {
    success = await main();
  } catch (failure) {
    console.error(failure instanceof Error ? failure.message : failure);
  }
  Deno.exitCode = success ? 0 : 1;
}
