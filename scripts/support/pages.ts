/**
 * The pages of the documentation as HTML: README as the front page, and `.github/docs`,
 * in the frame that `deno doc` makes, with its search.
 */
import { basename } from "node:path/posix";
import { Marked, type Token } from "marked";
import { root } from "./deno.ts";
import { repositoryUrl } from "./npm_package.ts";

/** The folder of the pages for users. */
const DOCS = ".github/docs";

/** The pages of the menu, in its order: source, and file on the site. */
const MENU_PAGES: readonly (readonly [source: string, file: string])[] = [
  ["README.md", "index.html"],
  ...[
    "start",
    "web",
    "sessions",
    "providers",
    "symptoms",
    "errors",
    "security",
    "migrating",
    "servers-of-yours",
  ].map((name) => [`${DOCS}/${name}.md`, `${name}.html`] as const),
  ["tests/examples/README.md", "examples.html"],
];

/** Returns the other pages of a folder: source, and file on the site. */
function pagesIn(folder: string) {
  return [...Deno.readDirSync(new URL(`${DOCS}/${folder}`, root))]
    .filter(({ name }) => name.endsWith(".md"))
    .map(({ name }) => `${folder}${name.slice(0, -3)}`).sort()
    .map((name) =>
      [`${DOCS}/${name}.md`, `${name.replaceAll("/", "-")}.html`] as const
    )
    .filter(([source]) => !MENU_PAGES.some(([other]) => other === source));
}

/** All pages: source, and file on the site. */
const PAGES: readonly (readonly [source: string, file: string])[] = [
  ...MENU_PAGES,
  ...["", "providers/", "migrating/"].flatMap(pagesIn),
  ["CHANGELOG.md", "changelog.html"],
  ...["COMPARISON", "SECURITY", "ARCHITECTURE", "CONTRIBUTING"].map((name) =>
    [`.github/${name}.md`, `${name.toLowerCase()}.html`] as const
  ),
];

/** Returns the fragment of a heading, as GitHub makes it. */
export function fragmentOf(title: string): string {
  return title.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-");
}

/** What the search finds. */
interface IEntry {
  readonly name: string;
  readonly doc: string;
  readonly url: string;
}

/** Returns where a link of a page leads; copies images. */
function locate(link: string, source: string, directory: URL): string {
  if (/^([a-z]+:|#)/.test(link)) return link;
  const url = new URL(link, new URL(source, root));
  const path = url.pathname.slice(root.pathname.length);
  const [, page] = PAGES.find(([source]) => source === path) ?? [];
  if (page !== undefined) return page + url.hash;
  const file = new URL(path, root);
  if (/\.(svg|png)$/.test(path)) {
    Deno.copyFileSync(file, new URL(basename(path), directory));
    return basename(path);
  }
  // Throws where a link leads nowhere.
  Deno.statSync(file);
  const repository = repositoryUrl(Deno.env.toObject());
  // Without a repository, the checkout around the site.
  return `${repository ? `${repository}/blob/main` : ".."}/${path}`;
}

/** Returns the HTML of a page, and what the search finds in it. */
function render(source: string, file: string, directory: URL) {
  const entries: IEntry[] = [];
  const markdown = Deno.readTextFileSync(new URL(source, root));
  const marked = new Marked({
    walkTokens(token: Token) {
      if (token.type === "link" || token.type === "image") {
        token.href = locate(token.href, source, directory);
      }
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const title = text.replaceAll("`", "");
        const id = fragmentOf(title);
        entries.push({ name: title, doc: "", url: `${file}#${id}` });
        const html = this.parser.parseInline(tokens);
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      table(token) {
        const cells = (row: typeof token.header, tag: string) =>
          row.map((cell) =>
            `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`
          ).join("");
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`);
        return '<div class="wide"><table><thead><tr>' +
          `${cells(token.header, "th")}</tr></thead>` +
          `<tbody>${rows.join("\n")}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, entries };
}

const STYLE = `<style>
.ddoc > div { min-width: 0 }
#content { display: block !important }
#content > main { max-width: 56rem }
.menu { display: flex; flex-wrap: wrap; gap: .2rem 1rem }
.menu a { color: inherit }
.menu [aria-current] { font-weight: bold }
.markdown { overflow-wrap: anywhere }
.markdown img { max-width: 100% }
.wide { overflow-x: auto; overflow-wrap: normal }
.wide td, .wide th { min-width: 6rem; vertical-align: top }
@media (max-width: 600px) {
  .ddoc { padding: .25rem .5rem !important }
  #topnav { height: auto; position: static }
  #topnav > div { flex-wrap: wrap; gap: .5rem }
  #searchbar { min-width: 12rem }
}
</style>`;

/** The menu: pages for users, and the list of functions. */
const MENU = [...MENU_PAGES.map(([, file]) => file), "api.html"];

/** Returns a page in the frame that `deno doc` has made, with a menu. */
function frame(index: string, file: string, html: string): string {
  const [head, rest] = index.split('<div id="content">');
  if (rest === undefined) throw new Error("docs/index.html has no content");
  const items = MENU.map((page) => {
    const name = basename(page, ".html").replaceAll("-", " ");
    const isCurrent = page === file ? ' aria-current="page"' : "";
    return `<a href="${page}"${isCurrent}>${name}</a>`;
  });
  return head!.replace("</head>", `${STYLE}</head>`) +
    `<div id="content"><main><nav class="menu">${items.join("\n")}</nav>` +
    `<div class="markdown">${html}</div></main></div></div></div></body></html>`;
}

/** Has the search find pages as well. */
async function extendSearch(directory: URL, entries: readonly IEntry[]) {
  const file = new URL("search_index.js", directory);
  const script = await Deno.readTextFile(file);
  const nodes = entries.map((entry, index) => ({
    id: `page_${index}`,
    kind: [{ char: "¶", kind: "Function", title: "Page" }],
    file: ".",
    category: "",
    deprecated: false,
    ...entry,
  }));
  const list = JSON.stringify(nodes).slice(1, -1);
  await Deno.writeTextFile(
    file,
    script.replace('"nodes":[', () => `"nodes":[${list},`),
  );
  const search = new URL("search.js", directory);
  const link = "${pathToRoot}${result.file}/~/${result.name}.html";
  const code = await Deno.readTextFile(search);
  if (!code.includes(link)) throw new Error(`docs/search.js has no ${link}`);
  await Deno.writeTextFile(
    search,
    code.replace(link, () => "${pathToRoot}${result.url}"),
  );
}

/**
 * Writes the pages, and prints the size of each source; `index` is the first page of
 * `deno doc`. Returns how many pages there are.
 */
export async function writePages(
  directory: URL,
  index: string,
): Promise<number> {
  const entries: IEntry[] = [];
  for (const [source, file] of PAGES) {
    const page = render(source, file, directory);
    entries.push(...page.entries);
    const { size } = await Deno.stat(new URL(source, root));
    console.log(`${String(size).padStart(7)} ${source}`);
    await Deno.writeTextFile(
      new URL(file, directory),
      frame(index, file, page.html),
    );
  }
  await extendSearch(directory, entries);
  return PAGES.length;
}
