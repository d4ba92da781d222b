/**
 * Runs every test and every documentation example, and prints one dot for each.
 * Failing tests are printed in full at the end.
 *
 * Arguments are passed to `deno test`: `deno task test tests/unit/core` runs one
 * folder, and `deno task test --reporter=pretty` prints a line for each test.
 */
import { stripVTControlCharacters } from "node:util";
import { importMapArgs, root } from "./support/deno.ts";

/** The tests may use the network of this machine only, and must not leak. */
const TEST_ARGS = [
  "test",
  "--quiet",
  "--parallel",
  "--sanitize-ops",
  "--sanitize-resources",
  "--trace-leaks",
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

/** What is tested without arguments. */
export const TEST_TARGETS = [
  "--doc",
  "mod.ts",
  "README.md",
  "lib",
  ...[...Deno.readDirSync(new URL("tests", root))]
    .map(({ name }) => `tests/${name}`)
    .filter((folder) => !PROGRAM_TESTS.includes(folder)),
];

const DOTS_PER_LINE = 100;

/**
 * Prints the output of `--reporter=dot`. Outside a terminal Deno writes each dot
 * on a line of its own; this joins them.
 */
async function printJoined(output: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const encoder = new TextEncoder();
  const print = (text: string) => Deno.stdout.writeSync(encoder.encode(text));
  let rest = "";
  let dots = 0;
  for await (const chunk of output.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const dot = stripVTControlCharacters(line);
      if (/^[.,!]$/.test(dot)) {
        print(++dots % DOTS_PER_LINE === 0 ? `${dot}\n` : dot);
      } else {
        print(dots % DOTS_PER_LINE === 0 ? `${line}\n` : `\n${line}\n`);
        dots = 0;
      }
    }
  }
  print(rest);
}

/** Runs `deno test` with these arguments; returns its exit code. */
export async function runTests(args: readonly string[]): Promise<number> {
  const isReporter = (arg: string) => arg.startsWith("--reporter");
  const reporter = args.some(isReporter) ? [] : ["--reporter=dot"];
  const child = new Deno.Command(Deno.execPath(), {
    args: [...TEST_ARGS, ...reporter, ...await importMapArgs(), ...args],
    cwd: root,
    stdout: "piped",
  }).spawn();
  await printJoined(child.stdout);
  return (await child.status).code;
}

if (import.meta.main) {
  Deno.exit(await runTests(Deno.args.length > 0 ? Deno.args : TEST_TARGETS));
}
