/**
 * Runs every test and every documentation example, and prints one dot for each.
 * Failing tests are printed in full at the end.
 *
 * Arguments are passed to `deno test`: `deno task test tests/unit/core` runs one
 * folder, and `deno task test --trace-leaks tests/flows` shows where a test leaks.
 */
import { importMapArgs, root } from "./support/deno.ts";
import { filesBelow } from "./support/portable_tests.ts";

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

/** The exit code of `deno test` where it was ended because it hung. */
const HUNG = 124;

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
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", ...await importMapArgs(), ...reporter, ...args],
    cwd: root,
    env: { NO_COLOR: "1", ...env },
    stdout: "piped",
  }).spawn();
  let isHung = false;
  const end = () => {
    isHung = true;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(end, SILENCE_MS);
  const encoder = new TextEncoder();
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    clearTimeout(timer);
    timer = setTimeout(end, SILENCE_MS);
    // Outside a terminal, Deno writes each dot on a line of its own.
    const joined = text.replace(/^([.,!])\n/gm, "$1");
    Deno.stdout.writeSync(encoder.encode(joined));
  }
  const { code } = await child.status;
  clearTimeout(timer);
  if (!isHung) return code;
  console.error(`\nNo test has ended for ${SILENCE_MS / 1_000} seconds`);
  return HUNG;
}

/** Runs the tests that start no programs with these arguments; returns the exit code. */
async function runTests(args: readonly string[]): Promise<number> {
  const jobs = Deno.env.get("DENO_JOBS") ?? String(JOBS);
  return await denoTest([...TEST_ARGS, ...args], { DENO_JOBS: jobs });
}

/** Where the modules are that import the test files; a fixed place, as the results of type checks are cached by path. */
const GROUPS = new URL(".test_groups/", root);

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
  const args = [...options, limit, "--doc", ...DOCUMENTED, ...groups];
  const code = await runTests(args);
  // No test hangs, so the result of a second run counts.
  return code === HUNG ? await runTests(args) : code;
}

if (import.meta.main) {
  const isPath = (arg: string) => !arg.startsWith("-");
  Deno.exit(
    Deno.args.some(isPath)
      ? await runTests(Deno.args)
      : await runAllTests(Deno.args),
  );
}
