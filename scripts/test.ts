/**
 * Runs every test and every documentation example, and prints one dot for each.
 * Failing tests are printed in full at the end.
 *
 * Arguments are passed to `deno test`: `deno task test tests/unit/core` runs one
 * folder, `deno task test --filter codeFlow` the tests with this in their name, and
 * `deno task test --trace-leaks tests/flows` shows where a test leaks.
 *
 * A run of all tests that is killed, or hangs, prints the tests that have failed.
 */
import { importMapArgs, root } from "./support/deno.ts";
import { filesBelow } from "./support/portable_tests.ts";
import { readTestArgs } from "./support/test_args.ts";

/** The tests may use the network of this machine only, and must not leak. */
const TEST_ARGS = [
  "--parallel",
  "--sanitize-ops",
  "--sanitize-resources",
  "--allow-net=127.0.0.1,localhost,[::1]",
  "--allow-read",
  "--allow-env",
  "--allow-sys",
];

/** The tests that start programs, which `scripts/test_stores.ts` runs. */
export const PROGRAM_TESTS = [
  "tests/browser",
  "tests/cli",
  "tests/stores",
  "tests/native",
  "tests/examples",
];

/** Where documentation examples are. */
const DOCUMENTED = ["mod.ts", "README.md", ".github/docs", "lib"];

/** How many test modules run at once: more than processors, as some tests wait. */
const JOBS = navigator.hardwareConcurrency + 2;

/**
 * After how long without a dot `deno test` itself hangs, as each test has a limit of a
 * minute. Deno 2.9.6 did so once, without any thread that ran a test.
 */
const SILENCE_MS = 180_000;

/** The exit codes of `deno test` where it was ended: because it hung, or by a signal. */
const HUNG = 124;
const SIGNALED = { SIGINT: 130, SIGTERM: 143 } as const;

/** Windows has no signal that asks a process to end. */
const SIGNALS = Deno.build.os === "windows"
  ? ["SIGINT"] as const
  : ["SIGINT", "SIGTERM"] as const;

/** Where the modules are that import the test files; a fixed place, as the results of type checks are cached by path. */
const GROUPS = new URL(".test_groups/", root);

/** Where `tests/support/time_limit.ts` writes what has failed, as a killed `deno test` prints nothing. */
const FAILURES = ".test_groups/failures.txt";

/** Prints what had failed when a run of all tests was ended. */
async function printFailures(): Promise<void> {
  const failures = await Deno.readTextFile(new URL(FAILURES, root))
    .catch(() => "");
  if (failures) console.error(`\nUntil then, these failed:\n${failures}`);
}

/**
 * Runs `deno test` with these arguments, by default with one dot for each test;
 * returns its exit code.
 */
export async function denoTest(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<number> {
  const isReporter = (arg: string) => arg.startsWith("--reporter");
  const reporter = args.some(isReporter) ? [] : ["--reporter=dot"];
  // These wait for the developer.
  const mayWait = args.some((arg) => /^--(watch|inspect)/.test(arg));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", ...await importMapArgs(), ...reporter, ...args],
    cwd: root,
    env: { NO_COLOR: "1", ...env },
    stdout: "piped",
  }).spawn();
  let ended: number | undefined;
  const end = (code: number, why: string) => {
    if (ended !== undefined) return;
    ended = code;
    console.error(`\n${why}`);
    child.kill("SIGKILL");
  };
  const listeners = SIGNALS.map((name) => {
    const listener = () => end(SIGNALED[name], `Ended by ${name}`);
    Deno.addSignalListener(name, listener);
    return () => Deno.removeSignalListener(name, listener);
  });
  const startTimer = () =>
    mayWait ? undefined : setTimeout(
      () => end(HUNG, `No test has ended for ${SILENCE_MS / 1_000} seconds`),
      SILENCE_MS,
    );
  let timer = startTimer();
  const encoder = new TextEncoder();
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    clearTimeout(timer);
    timer = startTimer();
    // Outside a terminal, Deno writes each dot on a line of its own.
    const joined = text.replace(/^([.,!])\n/gm, "$1");
    Deno.stdout.writeSync(encoder.encode(joined));
  }
  const { code } = await child.status;
  clearTimeout(timer);
  for (const remove of listeners) remove();
  if (ended !== undefined && env.TEST_FAILURES) await printFailures();
  return ended ?? code;
}

/** Runs the tests that start no programs with these arguments; returns the exit code. */
async function runTests(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<number> {
  const jobs = Deno.env.get("DENO_JOBS") ?? String(JOBS);
  return await denoTest([...TEST_ARGS, ...args], { DENO_JOBS: jobs, ...env });
}

/**
 * Writes modules that import all test files, as many as run at once; returns their
 * paths. Deno has a worker for each module: with one for each test file, starting
 * them and loading the library there takes as long as the tests.
 */
async function writeGroups(): Promise<string[]> {
  const files: string[] = [];
  for await (const path of filesBelow(new URL("tests/", root))) {
    const [folder] = path.split("/");
    if (!path.endsWith("_test.ts")) continue;
    if (!PROGRAM_TESTS.includes(`tests/${folder}`)) files.push(path);
  }
  // In turn, which also puts the files of a folder in different groups.
  const groups = Array.from({ length: JOBS }, (): string[] => []);
  for (const [index, path] of files.sort().entries()) {
    groups[index % JOBS]!.push(`import "../tests/${path}";\n`);
  }
  await Deno.mkdir(GROUPS, { recursive: true });
  return await Promise.all(groups.map(async (lines, index) => {
    const name = `group_${index}_test.ts`;
    await Deno.writeTextFile(new URL(name, GROUPS), lines.join(""));
    return `.test_groups/${name}`;
  }));
}

/** Runs all tests with these options of `deno test`; returns its exit code. */
export async function runAllTests(
  options: readonly string[] = [],
): Promise<number> {
  const groups = await writeGroups();
  const limit = "--preload=tests/support/time_limit.ts";
  const noted = `--allow-write=${FAILURES}`;
  const args = [...options, limit, noted, "--doc", ...DOCUMENTED, ...groups];
  const run = async () => {
    await Deno.writeTextFile(new URL(FAILURES, root), "");
    return await runTests(args, { TEST_FAILURES: FAILURES });
  };
  const code = await run();
  // No test hangs, so the result of a second run counts.
  return code === HUNG ? await run() : code;
}

if (import.meta.main) {
  const { options, paths } = readTestArgs(Deno.args);
  Deno.exit(
    paths.length > 0
      ? await runTests([...options, ...paths])
      : await runAllTests(options),
  );
}
