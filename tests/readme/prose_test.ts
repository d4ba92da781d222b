/** A page can be read in one sitting, and what it shows can be pasted into any shell. */

import { assert, assertEquals } from "@std/assert";
import { filesBelow } from "../../scripts/support/portable_tests.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, root));

const PAGES = ["README.md", "CHANGELOG.md", "tests/examples/README.md"];
for await (const path of filesBelow(new URL(".github/", root))) {
  if (path.endsWith(".md")) PAGES.push(`.github/${path}`);
}

/** Words of a page; code and tables are looked up, not read. */
const wordsOf = (page: string) =>
  page.replace(/^```[\s\S]*?^```/gm, "").replace(/^\|.*$/gm, "")
    .split(/\s+/).length;

Deno.test("no page has more than 2,500 words", () => {
  assert(PAGES.length > 30);
  const long = PAGES.filter((path) => wordsOf(read(path)) > 2_500);
  assertEquals(long, []);
});

Deno.test("no command in a shell block ends with a comment, which zsh passes as arguments", () => {
  let blocks = 0;
  for (const path of PAGES) {
    for (
      const [, block = ""] of read(path).matchAll(/^```sh\n([\s\S]*?)^```/gm)
    ) {
      blocks++;
      const found = block.split("\n").filter((line) => /\S\s+# /.test(line));
      assertEquals(found, [], path);
    }
  }
  assert(blocks > 10);
});
