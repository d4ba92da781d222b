/**
 * Runs every test and every documentation example. Arguments are handed to
 * `deno test`, so `deno task test tests/challenge_test.ts` runs one file.
 */
import { deno, importMapArgs } from "./support/deno.ts";

/** How the tests run: leaks traced, and no network beyond this machine. */
export const testArgs = [
  "test",
  "--sanitize-ops",
  "--sanitize-resources",
  "--trace-leaks",
  "--allow-net=127.0.0.1,localhost,[::1]",
  "--allow-read",
  "--allow-env",
  "--allow-sys",
];

/** What is tested when nothing is named. */
export const testTargets = ["--doc", "mod.ts", "README.md", "lib", "tests"];

if (import.meta.main) {
  const targets = Deno.args.length > 0 ? Deno.args : testTargets;
  Deno.exit(await deno(...testArgs, ...await importMapArgs(), ...targets));
}
