/** Follows each link of the finished site, to pages, files and headings. */

/** Returns the values of an attribute of these elements: text has no `<`. */
function valuesOf(html: string, elements: string, names: string): string[] {
  const tags = html.matchAll(
    new RegExp(`<(?:${elements})\\b[^>]*?\\s(?:${names})="([^"]*)"`, "g"),
  );
  return [...tags].map(([, value = ""]) => value.replaceAll("&amp;", "&"));
}

/**
 * Returns what is wrong with a site, given its files by their paths (the text, for pages
 * alone): a link that leads nowhere, a title that is missing or that two pages have, and a
 * description that is missing or is no sentence.
 */
export function crawl(
  files: ReadonlyMap<string, string>,
  base = "/",
): string[] {
  const pages = [...files].filter(([path]) => path.endsWith(".html"));
  const ids = new Map(
    pages.map(([path, html]) => [path, new Set(valuesOf(html, "\\w+", "id"))]),
  );
  const titles = new Map<string, string>();
  const problems: string[] = [];
  for (const [path, html] of pages) {
    const [, title = ""] = /<title>([^<]*)<\/title>/.exec(html) ?? [];
    const other = titles.get(title);
    if (other !== undefined) problems.push(`${path} has the title of ${other}`);
    titles.set(title, path);
    const isDescribed = /<meta name="description" content="[^"]{25}/.test(html);
    if (!title || !isDescribed && path !== "404.html") {
      problems.push(`${path} has no title, or no description of a sentence`);
    }
    for (const link of valuesOf(html, "a|img|link|script", "href|src")) {
      const url = new URL(link, `https://site.example${base}${path}`);
      if (url.host !== "site.example") continue;
      const inside = url.pathname.startsWith(base);
      const file = decodeURI(url.pathname).slice(base.length)
        .replace(/(^|\/)$/, "$1index.html");
      const id = decodeURIComponent(url.hash.slice(1));
      const isThere = inside && files.has(file) &&
        (id === "" || ids.get(file)?.has(id));
      if (!isThere) {
        problems.push(`${path} links ${link}, which does not exist`);
      }
    }
  }
  return [...new Set(problems)];
}
