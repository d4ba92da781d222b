/**
 * Runs every test and every documentation example, and prints one dot for each.
 * Failing tests are printed in full at the end.
 *
 * Arguments are passed to `deno test`: `deno task test tests/unit/core` runs one
 * folder, `deno task test --filter codeFlow` the tests with this in their name, and
 * `deno task test --trace-leaks tests/flows` shows where a test leaks.
 *
 * A run that is killed, or hangs, prints the tests that have failed.
 *
 * The messages that tests pin are compared with `tests/messages/`; `--update-messages`
 * writes them there.
 */
import { importMapArgs, root } from "./support/deno.ts";
import {
  compareMessages,
  type PinningTest,
} from "./support/pinned_messages.ts";
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

const DOCUMENTED = ["mod.ts", "README.md", ".github/docs", "lib"];

/** How many test modules run at once: more than processors, as some tests wait. */
const JOBS = navigator.hardwareConcurrency + 2;

/**
 * After how long without a dot `deno test` itself hangs, as each test has a limit of a
 * minute. Deno 2.9.6 did so once, without any thread that ran a test.
 */
const SILENCE_MS = 180_000;

/** The exit codes of `deno test` where a test failed, and where it was ended: because it hung, or by a signal. */
const FAILED = 1;
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
/** Where it writes which messages were pinned: a test in JSON on each line. */
const MESSAGES = ".test_groups/messages.txt";

/** Options with which not all tests run, and with which tests have no time limit. */
const SELECTS = /^--(filter|ignore|no-run|related|repeats|retry|shard)/;
const WAITS = /^--(watch|inspect)/;
const UPDATE = "--update-messages";

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
  const mayWait = args.some((arg) => WAITS.test(arg));
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

/** Runs the tests of modules that start no programs; returns the exit code. */
async function runTests(
  options: readonly string[],
  modules: readonly string[],
  areAll: boolean,
): Promise<number> {
  const args = [
    ...TEST_ARGS,
    ...options.filter((one) => one !== UPDATE),
    `--allow-write=${FAILURES},${MESSAGES}`,
    ...modules,
  ];
  const env = { DENO_JOBS: Deno.env.get("DENO_JOBS") ?? String(JOBS) };
  if (options.some((one) => WAITS.test(one))) return await denoTest(args, env);
  args.unshift("--preload=tests/support/time_limit.ts");
  const run = async () => {
    await Deno.mkdir(GROUPS, { recursive: true });
    for (const path of [FAILURES, MESSAGES]) {
      await Deno.writeTextFile(new URL(path, root), "");
    }
    const notes = { TEST_FAILURES: FAILURES, TEST_MESSAGES: MESSAGES };
    return await denoTest(args, { ...env, ...notes });
  };
  const code = await run();
  // No test hangs, so the result of a second run counts.
  const last = code === HUNG ? await run() : code;
  if (last > FAILED) return last;
  const text = await Deno.readTextFile(new URL(MESSAGES, root));
  const tests: PinningTest[] = text.split("\n").filter(Boolean)
    .map((line) => JSON.parse(line));
  const isPart = options.some((one) => SELECTS.test(one));
  return await compareMessages(
    tests,
    areAll && last === 0,
    isPart,
    options.includes(UPDATE),
  ) || last;
}

/**
 * Writes modules that import all test files below a folder of tests/, as many as run at
 * once; returns their paths. Deno has a worker for each module: with one for each test
 * file, starting them and loading the library there takes as long as the tests.
 */
async function writeGroups(below = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const path of filesBelow(new URL("tests/", root))) {
    const [folder] = path.split("/");
    if (!path.startsWith(below) || !path.endsWith("_test.ts")) continue;
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
  const modules = ["--doc", ...DOCUMENTED, ...await writeGroups()];
  return await runTests(options, modules, true);
}

if (import.meta.main) {
  const { options, paths } = readTestArgs(Deno.args);
  // The folder that `deno task ok --quick` runs: it has too many files for a worker each.
  const isUnit = /^tests\/unit\/?$/.test(paths.join(" "));
  Deno.exit(
    isUnit
      ? await runTests(options, await writeGroups("unit/"), false)
      : paths.length > 0
      ? await runTests(options, paths, false)
      : await runAllTests(options),
  );
}
