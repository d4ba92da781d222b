/**
 * Checks that the parts of the library have not grown: each, bundled, minified and
 * gzipped, has a limit, which holds for the sources and for the packed package, whose
 * modules are joined. The size of the first, measured in the sources, is the figure in
 * README and on the front page. The tests and scripts have a limit
 * as well. `--sources` skips the package.
 */

import { bundleEntries, installedIn, SOURCES } from "./support/bundle.ts";
import { root } from "./support/deno.ts";
import { packInto } from "./support/package.ts";
import { filesBelow } from "./support/portable_tests.ts";
import { temporaryDirectory } from "./support/process.ts";

const problems: string[] = [];
const entries = bundleEntries(SOURCES);
const packed = Deno.args.includes("--sources")
  ? undefined
  : await bundlePackage();
for (const [index, { title, gzipped, limit }] of entries.entries()) {
  const published = packed?.[index]?.gzipped;
  const also = published === undefined ? "" : `, packed ${published}`;
  console.log(`${title}: ${gzipped} bytes of ${limit}${also}`);
  if (Math.max(gzipped, published ?? 0) > limit) {
    problems.push(`${title} has more than ${limit} bytes`);
  }
}

async function bundlePackage() {
  await using folder = await temporaryDirectory("size_");
  await packInto(folder.path);
  return bundleEntries(installedIn(folder.path));
}

/**
 * Bytes of `tests/` and `scripts/`, which a maintainer has to read, without the messages
 * that `deno task test --update-messages` writes. Lower it when they shrink.
 */
const TESTS_LIMIT = 3_300_000;
let bytes = 0;
for (const folder of ["tests/", "scripts/"]) {
  const directory = new URL(folder, root);
  for await (const path of filesBelow(directory)) {
    if (folder === "tests/" && path.startsWith("messages/")) continue;
    bytes += (await Deno.stat(new URL(path, directory))).size;
  }
}
console.log(`tests/ and scripts/: ${bytes} bytes of ${TESTS_LIMIT}`);
if (bytes > TESTS_LIMIT) {
  problems.push(`tests/ and scripts/ have more than ${TESTS_LIMIT} bytes`);
}

const figure = `${(entries[0]!.gzipped / 1_000).toFixed(1)} kB`;
for (const path of ["README.md", "scripts/site/index.md"]) {
  const text = await Deno.readTextFile(new URL(path, root));
  if (!text.includes(figure)) {
    problems.push(
      `${path} does not state the size of the first program: ${figure}`,
    );
  }
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length === 0 ? 0 : 1);
