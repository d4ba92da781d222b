/** Turns pages that GitHub shows into pages of the site: links, titles, descriptions. */
import { basename, dirname, extname, relative } from "node:path/posix";

const EXAMPLES = "tests/examples/";

export interface Target {
  /** The path of a page of the site, without `.md`, or of a file of `public/`. */
  readonly path: string;
  /** The file that the site has to publish for it, if the menu does not contain it. */
  readonly takes?: "example" | "image";
}

/**
 * Returns what a path of the repository is on the site; undefined if nothing. `pages`
 * are the paths of the menu's by their sources.
 */
export function targetOf(
  source: string,
  pages: ReadonlyMap<string, string>,
): Target | undefined {
  const page = pages.get(source);
  if (page !== undefined) return { path: page };
  const extension = extname(source);
  if (/^\.(svg|png)$/.test(extension)) {
    return { path: basename(source), takes: "image" };
  }
  if (!source.startsWith(EXAMPLES)) return undefined;
  if (extension === "") return { path: "examples/index" };
  const name = source.slice(EXAMPLES.length, -extension.length);
  return { path: `examples/${name}`, takes: "example" };
}

/**
 * Returns a page with each link to a file replaced by what `resolve` returns for its path
 * in the repository; where that is undefined, by its text. Code stays as it is.
 */
export function replaceLinks(
  markdown: string,
  source: string,
  resolve: (path: string) => string | undefined,
): string {
  const code = /^( *)(```+|~~~+)[^]*?^\1\2|(`+)(?!`)[^]*?[^`]\3(?!`)/;
  const link =
    /(?<image>!?)\[(?<text>(?:[^[\]`]|`[^`]*`)*)\]\((?<url>[^)\s]+)\)/;
  const either = new RegExp(`${code.source}|${link.source}`, "gm");
  return markdown.replace(either, (whole, ...rest) => {
    const { image, text, url } = rest.at(-1);
    if (url === undefined || /^([a-z]+:|[#/])/.test(url)) return whole;
    const { pathname, hash } = new URL(url, `file:///${source}`);
    const found = resolve(decodeURI(pathname).slice(1));
    return found === undefined ? text : `${image}[${text}](${found}${hash})`;
  });
}

/** Returns a link from one page of the site to another, by their paths. */
export function linkTo(target: string, from: string): string {
  const path = relative(dirname(from), `${target}.md`);
  return path.startsWith(".") ? path : `./${path}`;
}

/** Returns the first heading of a page, as text. */
export function titleOf(markdown: string): string {
  const [, title = ""] = /^# (.+)$/m.exec(markdown) ?? [];
  return toText(title);
}

/** Returns Markdown without its marks. */
export function toText(markdown: string): string {
  return markdown.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "").replace(/\s+/g, " ").trim();
}

/** Returns the first sentences of a page, for search engines: at most 160 characters. */
export function descriptionOf(markdown: string): string {
  const blocks = markdown.replace(/^```[^]*?^```/gm, "").split(/\n\s*\n/);
  const first = blocks.find((block) => /^[^#|<>!\s-]/.test(block)) ?? "";
  // VitePress writes them into an attribute as they are.
  const text = toText(first).replaceAll('"', "'");
  if (text.length <= 160) return text;
  const cut = text.slice(0, 160);
  return /^.{60,}[.:?](?= )/.exec(cut)?.[0] ??
    `${cut.replace(/[\s,;:]+\S*$/, "")} …`;
}

/** Writes a page into the folder of VitePress, with members that it reads. */
export async function writePage(
  site: string,
  path: string,
  markdown: string,
  members: Readonly<Record<string, unknown>>,
): Promise<void> {
  const lines = Object.entries(members).map(([name, value]) =>
    `${name}: ${JSON.stringify(value)}\n`
  );
  const file = `${site}/${path}.md`;
  await Deno.mkdir(dirname(file), { recursive: true });
  const text = `---\n${lines.join("")}---\n\n${markdown}`;
  await Deno.writeTextFile(file, text);
}
