/**
 * Builds the documentation into `./docs`, as one site: the guide by VitePress, from
 * README and `.github/docs`, and the API by TypeDoc. Both come from npm, into a
 * temporary copy of what they read. Fails if a link leads nowhere, also in a docstring,
 * if two pages would have one path, and if an export has no page.
 *
 * `DOCS_BASE` is the path of the site on its host, such as `/client/`.
 */
import { dirname } from "node:path/posix";
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { type ApiPage, listApiPages, writeApi } from "./docs/api.ts";
import { crawl } from "./docs/crawl.ts";
import { type GuidePage, writeGuide, type Written } from "./docs/guide.ts";
import { listPages } from "./docs/menu.ts";
import type { MenuItem, Site } from "./site/.vitepress/config.ts";
import { root } from "./support/deno.ts";
import { repositoryUrl } from "./support/npm_package.ts";
import { filesBelow } from "./support/portable_tests.ts";
import {
  BUILD_SECONDS,
  copyFromRoot,
  install,
  outputOf,
  temporaryDirectory,
} from "./support/process.ts";

const PACKAGES = {
  "@types/node": "22.18.0",
  typedoc: "0.28.20",
  "typedoc-plugin-markdown": "4.14.1",
  typescript: "5.9.3",
  vitepress: "1.6.4",
};

/** What the site may have at most. */
const LIMITS = { bytes: 30_000_000, files: 1_100 };

const repository = repositoryUrl(Deno.env.toObject());
const base = Deno.env.get("DOCS_BASE") || "/";
const output = new URL("docs/", root);

/** Returns the URL path of a page, from the root of the site. */
const linkOf = (path: string) => `/${path.replace(/(^|\/)index$/, "$1")}`;

/** Returns a menu, with its headings in the order of their first pages. */
function menuOf<T extends { readonly section: string }>(
  pages: readonly T[],
  toItem: (page: T) => MenuItem,
): MenuItem[] {
  return [...Map.groupBy(pages, ({ section }) => section)].map((
    [text, pages],
  ) => ({ text, items: pages.map(toItem) }));
}

function sidebarOf(
  pages: readonly GuidePage[],
  api: readonly ApiPage[],
): Site["sidebar"] {
  const toItem = ({ source, path, text, title }: GuidePage): MenuItem => {
    const below = pages.filter(({ parent }) => parent === source);
    return {
      text: text ?? title,
      link: linkOf(path),
      ...(below.length > 0 && { collapsed: true, items: below.map(toItem) }),
    };
  };
  return {
    "/": menuOf(pages.filter(({ parent }) => parent === undefined), toItem),
    "/api/": menuOf(api, ({ path, title, exports }) => ({
      text: exports.length > 0 ? title : "Overview",
      link: linkOf(path),
    })),
  };
}

/** Writes `llms.txt`, and the Markdown of the pages that it lists (llmstxt.org). */
async function writeMarkdown(
  site: string,
  pages: readonly Written[],
): Promise<void> {
  const lines = [
    `# ${config.name}\n\n> ${pages[0]!.description}\n\n## Pages\n\n`,
  ];
  for (const { path, title, description } of pages) {
    lines.push(`- [${title}](${base}${path}.md): ${description}\n`);
    const file = fileURLToPath(new URL(`${path}.md`, output));
    const markdown = await Deno.readTextFile(`${site}/${path}.md`);
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(
      file,
      markdown.replace(/^---\n[^]*?\n---\n\n/, ""),
    );
  }
  await Deno.writeTextFile(new URL("llms.txt", output), lines.join(""));
}

/** Prints the size of the finished site; returns what is wrong with it. */
async function check(): Promise<string[]> {
  const files = new Map<string, string>();
  let bytes = 0;
  for await (const path of filesBelow(output)) {
    const content = await Deno.readFile(new URL(encodeURI(path), output));
    bytes += content.length;
    const isPage = path.endsWith(".html");
    files.set(path, isPage ? new TextDecoder().decode(content) : "");
  }
  console.log(`${files.size} files, ${bytes} bytes: docs/index.html`);
  const isLarge = bytes > LIMITS.bytes || files.size > LIMITS.files;
  const large = `The site has more than ${JSON.stringify(LIMITS)}`;
  return [...crawl(files, base), ...(isLarge ? [large] : [])];
}

async function build(): Promise<string[]> {
  const sources: string[] = [];
  for await (const path of filesBelow(new URL(".github/docs/", root))) {
    if (path.endsWith(".md")) sources.push(`.github/docs/${path}`);
  }
  const menu = listPages(sources);
  await using temporary = await temporaryDirectory("docs_");
  const directory = await install(temporary.path, PACKAGES);
  const site = `${directory}/scripts/site`;
  for (
    const path of [
      "lib",
      "mod.ts", // For the playground.
      "scripts/docs/typedoc_plugin.mjs",
      "scripts/site",
      "tests/examples/three_processes", // For the playground.
    ]
  ) {
    await copyFromRoot(path, directory);
  }
  const { pages, examples } = await writeGuide(site, menu, repository);
  const api = await writeApi(directory, await listApiPages(), repository);
  const data: Site = {
    version: config.version,
    base,
    sidebar: sidebarOf(pages, api),
    ...(repository === undefined ? {} : { repository }),
  };
  await Deno.writeTextFile(`${site}/site.json`, JSON.stringify(data));
  await Deno.remove(output, { recursive: true }).catch(() => {});
  const program = `${directory}/node_modules/vitepress/bin/vitepress.js`;
  const args = [program, "build", "--outDir", fileURLToPath(output)];
  await outputOf("node", args, { cwd: site, seconds: BUILD_SECONDS });
  await writeMarkdown(site, [...pages, ...examples, ...api]);
  return await check();
}

if (import.meta.main) {
  const problems = await build();
  for (const problem of problems) console.error(problem);
  Deno.exit(problems.length === 0 ? 0 : 1);
}
