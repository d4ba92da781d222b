/**
 * Checks that the parts of the library have not grown: each entry file of
 * `scripts/bench/entries/`, bundled, minified and gzipped, has a limit, and that of
 * the first is the figure in README.
 */

import { bundleEntry, ENTRIES } from "./support/bundle.ts";
import { root } from "./support/deno.ts";

const problems: string[] = [];
for (const { file, limit } of ENTRIES) {
  const { gzipped } = bundleEntry(file);
  console.log(`${file}: ${gzipped} bytes of ${limit}`);
  if (gzipped > limit) problems.push(`${file} has more than ${limit} bytes`);
}

const readme = await Deno.readTextFile(new URL("README.md", root));
const figure = `${ENTRIES[0]!.limit / 1_000} kB`;
if (!readme.includes(figure)) {
  problems.push(`README does not say that its first program imports ${figure}`);
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length === 0 ? 0 : 1);
