/** Bundles for programs that run outside of Deno. */

import { importMapArgs } from "../../scripts/support/deno.ts";
import { outputOf } from "../../scripts/support/process.ts";

/**
 * Bundles a program into one file. `node:` modules stay outside, and so do the
 * modules with these names.
 */
export async function bundle(
  source: string,
  target: string,
  external: readonly string[] = ["pg", "redis"],
): Promise<void> {
  await outputOf(Deno.execPath(), [
    "bundle",
    "--quiet",
    ...external.flatMap((name) => ["--external", name]),
    ...await importMapArgs(),
    "-o",
    target,
    source,
  ], { cwd: "." });
}
