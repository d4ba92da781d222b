/**
 * Checks that the parts of the library have not grown: each entry file of
 * `scripts/bench/entries/`, bundled, minified and gzipped, has a limit here, and the
 * first is the figure in README. Lower a limit when a part gets smaller.
 */

import * as esbuild from "esbuild";
import { bundleEntry } from "./support/bundle.ts";
import { root } from "./support/deno.ts";

/** The most bytes of each entry, gzipped. */
const LIMITS: Readonly<Record<string, number>> = {
  code_flow: 11_600,
  discovery: 8_000,
  metadata: 6_000,
  authorized_fetch: 18_800,
  challenge: 700,
  claims: 1_050,
  // gzip alone takes 20 bytes.
  nothing: 20,
};

const problems: string[] = [];
for (const [file, limit] of Object.entries(LIMITS)) {
  const { gzipped } = await bundleEntry(file);
  console.log(`${file}: ${gzipped} bytes of ${limit}`);
  if (gzipped > limit) problems.push(`${file} has more than ${limit} bytes`);
}
await esbuild.stop();

const readme = await Deno.readTextFile(new URL("README.md", root));
const figure = `${LIMITS.code_flow! / 1_000} kB`;
if (!readme.includes(figure)) {
  problems.push(`README does not say that the code flow has ${figure}`);
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length === 0 ? 0 : 1);
