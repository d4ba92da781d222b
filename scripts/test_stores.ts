/**
 * Runs the tests that start programs: processes that share a session in a file, in
 * Deno KV and in Redis, pages and tabs of Chromium, the loopback receiver in Deno and
 * Node, the program `oauth-helper` in Deno and from the package in Node, and the
 * examples.
 *
 * Tests whose server or browser is not installed are skipped, with a line that says so.
 * Arguments are passed to `deno test`.
 */

import { findChromium } from "../tests/support/chromium.ts";
import { hasProgram } from "../tests/support/has_program.ts";
import { readTestArgs } from "./support/test_args.ts";
import { denoTest, PROGRAM_TESTS } from "./test.ts";

/**
 * What whole files of tests need beside Node: how it is found, and the files. Tests with
 * PostgreSQL leave themselves out.
 */
const NEEDS: Readonly<
  Record<string, [isThere: () => boolean, tests: string[]]>
> = {
  Redis: [() => hasProgram("redis-server"), [
    "tests/stores/redis_store_test.ts",
    "tests/examples/web_servers_test.ts",
  ]],
  Chromium: [() => findChromium() !== undefined, [
    "tests/browser",
    "tests/stores/web_storage_store_test.ts",
    "tests/examples/hosts_list_test.ts",
  ]],
};

/** Returns the tests that cannot run here, and says so. */
function findMissing(): string[] {
  return Object.entries(NEEDS).flatMap(([name, [isThere, tests]]) => {
    if (isThere()) return [];
    console.log(`Skipped, as ${name} is not installed: ${tests.join(", ")}`);
    return tests;
  });
}

/** Runs `deno test` with all permissions and these arguments; returns its exit code. */
export async function runProgramTests(
  args: readonly string[],
): Promise<number> {
  const missing = findMissing();
  return await denoTest([
    ...missing.length > 0 ? [`--ignore=${missing.join(",")}`] : [],
    "--parallel",
    "--allow-all",
    "--unstable-kv",
    ...args,
    // They wait for other processes: one more than there are cores.
  ], { DENO_JOBS: String(navigator.hardwareConcurrency + 1) });
}

if (import.meta.main) {
  const { options, paths } = readTestArgs(Deno.args);
  const tests = paths.length > 0 ? paths : PROGRAM_TESTS;
  Deno.exit(await runProgramTests([...options, ...tests]));
}
