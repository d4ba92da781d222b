/** Bundles for programs that run outside of Deno. */

import { importMapArgs } from "../../scripts/support/deno.ts";
import { outputOf } from "../../scripts/support/process.ts";

/** Bundles a program into one file; `node:` modules and npm packages stay outside. */
export async function bundle(source: string, target: string): Promise<void> {
  const args = ["bundle", "--quiet", "--external", "redis"];
  await outputOf(Deno.execPath(), [
    ...args,
    ...await importMapArgs(),
    "-o",
    target,
    source,
  ], { cwd: "." });
}
