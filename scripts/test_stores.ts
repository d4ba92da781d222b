/**
 * Runs the tests that start programs: processes that share a session in a file, in
 * Deno KV and in Redis, pages and tabs of Chromium, the loopback receiver in Deno and
 * Node, the program `oauth-helper` in Deno and from the package in Node, and the
 * examples.
 *
 * They need `redis-server`, Chromium and Node on the path; the store in SQL is left out
 * where PostgreSQL is not installed. Arguments are passed to `deno test`.
 */

import { denoTest, PROGRAM_TESTS } from "./test.ts";

/** Runs `deno test` with all permissions and these arguments; returns its exit code. */
export async function runProgramTests(
  args: readonly string[],
): Promise<number> {
  return await denoTest([
    "--parallel",
    "--allow-all",
    "--unstable-kv",
    ...args,
  ]);
}

if (import.meta.main) {
  Deno.exit(
    await runProgramTests(Deno.args.length > 0 ? Deno.args : PROGRAM_TESTS),
  );
}
