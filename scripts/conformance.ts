/**
 * Runs the authorization scenarios of the MCP conformance suite with
 * `tests/conformance/client.ts`, and prints a line for each. The exit code is 1 if a
 * check fails or warns, or if a scenario is missing.
 *
 * Arguments select scenarios, with or without `auth/`; the default is all of them.
 */
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./support/deno.ts";
import { run, temporaryDirectory } from "./support/process.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";
const SCENARIO_COUNT = 33;
const AT_ONCE = 2;

// The client and the suite have shorter timeouts of their own.
const SCENARIO_SECONDS = 60;
// The first command may have to download the suite.
const LIST_SECONDS = 300;

/** The client may use the servers under test only, and no packages. */
const CLIENT = [
  "run",
  "--no-prompt",
  "--no-remote",
  "--no-npm",
  "--allow-net=localhost",
  "--allow-env=MCP_CONFORMANCE_PROTOCOL_VERSION,MCP_CONFORMANCE_CONTEXT",
  "tests/conformance/client.ts",
];

/** One check, as the suite writes it. */
export interface Check {
  id: string;
  description: string;
  status: string;
  errorMessage?: string;
}

interface Outcome {
  scenario: string;
  /** The revision of the protocol that the suite told the client to use. */
  revision: string;
  checks: Check[];
  success: boolean;
  /** What the client wrote to standard error. */
  complaint: string;
  report: string;
}

/** Returns the checks with this status: `SUCCESS`, `FAILURE`, `WARNING` or `INFO`. */
function having(status: string, { checks }: Outcome): Check[] {
  return checks.filter((check) => check.status === status);
}

/** Returns the code of the error with which the client stopped on purpose. */
function errorCodeOf({ complaint }: Outcome): string | undefined {
  return /^([a-z_]+): /.exec(complaint)?.[1];
}

function hasPassed(outcome: Outcome): boolean {
  // Where the client must stop, the suite also accepts one that crashed. It also
  // reports success for a scenario that it skipped.
  const isSound = outcome.complaint === "" ||
    errorCodeOf(outcome) !== undefined;
  return outcome.success && isSound && having("SUCCESS", outcome).length > 0 &&
    having("FAILURE", outcome).length + having("WARNING", outcome).length === 0;
}

function toLine(outcome: Outcome): string {
  const count = (status: string) => having(status, outcome).length;
  const errorCode = errorCodeOf(outcome);
  const passed = errorCode ? `passed (client: ${errorCode})` : "passed";
  return `${outcome.scenario}, revision ${outcome.revision}: ` +
    `${count("SUCCESS")} passed, ${count("FAILURE")} failed, ` +
    `${count("WARNING")} warnings: ${hasPassed(outcome) ? passed : "FAILED"}`;
}

/** Explains an outcome that did not pass. */
function explain(outcome: Outcome): string {
  const checks = ["FAILURE", "WARNING"].flatMap((status) =>
    having(status, outcome).map(({ id, description, errorMessage }) =>
      `  ${status} ${id}: ${errorMessage ?? description}`
    )
  );
  const output = outcome.complaint || (checks.length ? "" : outcome.report);
  return [
    `${outcome.scenario} failed:`,
    ...checks,
    output.trim().replace(/^/gm, "    "),
  ].join("\n");
}

/** Runs the suite with this Deno first on the path, as it starts the client. */
async function runSuite(args: string[], seconds: number) {
  const folder = dirname(Deno.execPath());
  const path = `${folder}${delimiter}${Deno.env.get("PATH") ?? ""}`;
  return await run(Deno.execPath(), ["run", "--allow-all", SUITE, ...args], {
    cwd: fileURLToPath(root),
    seconds,
    env: { PATH: path },
  });
}

/** Returns the suite's list of scenarios; fails if their number changed. */
async function listScenarios(): Promise<string[]> {
  const { stdout, stderr } = await runSuite(["list", "--client"], LIST_SECONDS);
  const scenarios = [...stdout.matchAll(/^ *- (auth\/\S+)/gm)]
    .map(([, name = ""]) => name);
  if (scenarios.length !== SCENARIO_COUNT) {
    throw new Error(
      `${SUITE} lists ${scenarios.length} scenarios, ` +
        `expected ${SCENARIO_COUNT}\n${stderr}`,
    );
  }
  return scenarios;
}

/** Reads a file of a scenario's results; empty if the suite did not write it. */
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

async function runScenario(scenario: string): Promise<Outcome> {
  await using folder = await temporaryDirectory("conformance-");
  const { code, stdout, stderr } = await runSuite([
    "client",
    // The suite splits this at spaces, so no part may contain one: hence the name
    // without its directory, and relative paths.
    ...["--command", ["deno", ...CLIENT].join(" ")],
    ...["--scenario", scenario],
    ...["--output-dir", folder.path],
  ], SCENARIO_SECONDS);
  const read = (name: string) => readResult(folder.path, name);
  return {
    scenario,
    revision: /at revision (\S+)/.exec(await read("stdout.txt"))?.[1] ?? "",
    checks: JSON.parse(await read("checks.json") || "[]"),
    success: code === 0,
    complaint: await read("stderr.txt"),
    report: stdout + stderr,
  };
}

/** Returns the selected scenarios by the suite's names; all without a selection. */
function choose(all: string[], names: string[]): string[] {
  const wanted = names.map((name) => `auth/${name.replace(/^auth\//, "")}`);
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length === 0) return wanted.length > 0 ? wanted : all;
  throw new Error(`No such scenario: ${unknown.join(", ")}`);
}

async function main(): Promise<boolean> {
  // `deno task` passes on the `--` that npm would remove.
  const names = Deno.args.filter((argument) => argument !== "--");
  const start = performance.now();
  const scenarios = choose(await listScenarios(), names);
  console.log(`${SUITE}\n`);
  const outcomes: Outcome[] = [];
  const left = scenarios.values();
  const runOthers = async () => {
    for (const scenario of left) {
      const outcome = await runScenario(scenario);
      console.log(toLine(outcome));
      outcomes.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runOthers));

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
