/** The links of the pages in `.github/docs` lead to files and headings that exist. */
import { assert } from "@std/assert";

const PAGES = new URL("../../.github/docs/", import.meta.url);

/** Returns the fragments of the headings, as GitHub makes them. */
function fragmentsOf(page: string): string[] {
  const code = /^```.*?^```$/gms;
  return [...page.replace(code, "").matchAll(/^#+ (.+)$/gm)]
    .map(([, title = ""]) =>
      title.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-")
    );
}

const read = (url: URL) => Deno.readTextFileSync(url);

for (const { name } of Deno.readDirSync(PAGES)) {
  Deno.test(`the links of ${name} lead to what exists`, () => {
    const base = new URL(name, PAGES);
    const page = read(base);
    const links = [...page.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)];
    assert(links.length > 0);
    for (const [, link = ""] of links) {
      const url = new URL(link, base);
      const fragment = url.hash.slice(1);
      url.hash = "";
      assert(Deno.statSync(url).isFile, link);
      const isThere = fragment === "" || fragmentsOf(read(url))
        .includes(fragment);
      assert(isThere, `no heading for ${link}`);
    }
  });
}
