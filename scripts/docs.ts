/**
 * Builds the pages of the documentation into `./docs`, with `deno doc --html`.
 *
 * `deno doc` resolves a `{@link}` only to what the same entry point exports. The
 * links to other entry points are completed here, and a link to what no entry point
 * exports fails: on a page it is plain text that looks like a link in an editor.
 */
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { deno, root } from "./support/deno.ts";
import { entryPoints } from "./support/npm_package.ts";
import { filesBelow } from "./support/portable_tests.ts";
import { outputOf } from "./support/process.ts";

const paths = entryPoints.map(({ path }) => path);
const directory = new URL("docs/", root);

/** Returns the page of each exported name; of the main entry point where several have it. */
async function findPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for await (const path of filesBelow(directory)) {
    const [, folder, name] = /^(.*)~\/([^/]+)\.html$/.exec(path) ?? [];
    if (name === undefined) continue;
    const isMain = folder === "";
    if (isMain || !pages.has(name)) pages.set(name, path);
  }
  return pages;
}

/** Returns the names that public docstrings link, by the text that a page shows. */
async function findLinkedNames(): Promise<Map<string, string>> {
  const json = await outputOf(Deno.execPath(), ["doc", "--json", ...paths], {
    cwd: fileURLToPath(root),
  });
  const links = json.matchAll(
    /\{@link(?:code)?\s+([\w.]+)(?:\s*\|\s*([^}]+))?\}/g,
  );
  return new Map(
    [...links].map(([, name = "", label = name]) => [label.trim(), name]),
  );
}

/** Links what `deno doc` left as text; `locate` returns the URL of a name's page. */
function completeLinks(
  html: string,
  locate: (label: string) => string | undefined,
): string {
  return html.replace(
    /(<a [^>]*>)?<code>([\w.]+)<\/code>/g,
    (text, link: string | undefined, label: string) => {
      const url = link === undefined ? locate(label) : undefined;
      return url === undefined ? text : `<a href="${url}">${text}</a>`;
    },
  );
}

/** Builds the pages; returns the names that are linked and not exported. */
async function build(): Promise<string[]> {
  await Deno.remove(directory, { recursive: true }).catch(() => {});
  const args = [
    "--html",
    `--name=${config.name}`,
    `--output=${fileURLToPath(directory)}`,
  ];
  if (await deno("doc", "--quiet", ...args, ...paths) !== 0) Deno.exit(1);
  const pages = await findPages();
  const linked = await findLinkedNames();
  const pageOf = (name: string) =>
    pages.get(name) ?? pages.get(name.replace(".", ".prototype."));
  for await (const path of filesBelow(directory)) {
    if (!path.endsWith(".html")) continue;
    const file = new URL(path, directory);
    const html = completeLinks(await Deno.readTextFile(file), (label) => {
      const page = pageOf(linked.get(label) ?? "");
      return page && relative(dirname(path), page);
    });
    await Deno.writeTextFile(file, html);
  }
  console.log(`${pages.size} pages of names, from docs/index.html on.`);
  return [...linked.values()].filter((name) => !pageOf(name)).sort();
}

if (import.meta.main) {
  const missing = await build();
  for (const name of missing) {
    console.error(
      `A docstring links ${name}, which no entry point exports: write it as code`,
    );
  }
  Deno.exit(missing.length === 0 ? 0 : 1);
}
