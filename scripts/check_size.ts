/**
 * Checks that the parts of the library have not grown: each, bundled, minified and
 * gzipped, has a limit, and that of the first is the figure in README. Prints what the
 * twenty dearest options of the first cost, for those who add one. The tests and scripts
 * have a limit as well.
 */

import { bundleEntries } from "./support/bundle.ts";
import { pricesOf } from "./support/option_prices.ts";
import { root } from "./support/deno.ts";
import { filesBelow } from "./support/portable_tests.ts";

const problems: string[] = [];
const entries = bundleEntries();
for (const { title, gzipped, limit } of entries) {
  console.log(`${title}: ${gzipped} bytes of ${limit}`);
  if (gzipped > limit) problems.push(`${title} has more than ${limit} bytes`);
}

/** Bytes of `tests/` and `scripts/`, which a maintainer has to read. Lower it when they shrink. */
const TESTS_LIMIT = 2_480_000;
let bytes = 0;
for (const folder of ["tests/", "scripts/"]) {
  const directory = new URL(folder, root);
  for await (const path of filesBelow(directory)) {
    bytes += (await Deno.stat(new URL(path, directory))).size;
  }
}
console.log(`tests/ and scripts/: ${bytes} bytes of ${TESTS_LIMIT}`);
if (bytes > TESTS_LIMIT) {
  problems.push(`tests/ and scripts/ have more than ${TESTS_LIMIT} bytes`);
}

const readme = await Deno.readTextFile(new URL("README.md", root));
const figure = `${entries[0]!.limit / 1_000} kB`;
if (!readme.includes(figure)) {
  problems.push(`README does not say that its first program imports ${figure}`);
}
console.log("\nBytes that the first has less if nothing reads an option:");
const prices = await pricesOf(entries[0]!.code);
for (const { name, bytes } of prices.slice(0, 20)) {
  console.log(`${String(bytes).padStart(5)} ${name}`);
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length === 0 ? 0 : 1);
