/**
 * Checks that the parts of the library have not grown: each, bundled, minified and
 * gzipped, has a limit, and that of the first is the figure in README.
 */

import { bundleEntries } from "./support/bundle.ts";
import { root } from "./support/deno.ts";

const problems: string[] = [];
const entries = bundleEntries();
for (const { title, gzipped, limit } of entries) {
  console.log(`${title}: ${gzipped} bytes of ${limit}`);
  if (gzipped > limit) problems.push(`${title} has more than ${limit} bytes`);
}

const readme = await Deno.readTextFile(new URL("README.md", root));
const figure = `${entries[0]!.limit / 1_000} kB`;
if (!readme.includes(figure)) {
  problems.push(`README does not say that its first program imports ${figure}`);
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length === 0 ? 0 : 1);
