/** Writes the pages of the guide, and the examples that they link. */
import { copyFromRoot } from "../support/process.ts";
import { root } from "../support/deno.ts";
import type { Page } from "./menu.ts";
import {
  descriptionOf,
  linkTo,
  replaceLinks,
  targetOf,
  titleOf,
  writePage,
} from "./pages.ts";

const read = (source: string) => Deno.readTextFile(new URL(source, root));

export interface Written {
  readonly path: string;
  readonly title: string;
  readonly description: string;
}

export interface GuidePage extends Page, Written {
  readonly path: string;
}

/**
 * Writes the pages into the folder `site`, and the images that they show. A link to an
 * example leads to a page of it; one to another file to the repository, if it is known.
 * Throws if a link leads to no file.
 */
export async function writeGuide(
  site: string,
  pages: readonly Page[],
  repository: string | undefined,
): Promise<{ pages: GuidePage[]; examples: Written[] }> {
  const paths = new Map(pages.map(({ source, path }) => [source, path]));
  const examples = new Map<string, string>();
  const resolve = (linked: string, page: Page) => {
    const file = new URL(linked, root);
    try {
      Deno.statSync(file);
    } catch {
      throw new Error(`${page.source} links ${linked}, which does not exist`);
    }
    const target = targetOf(linked, paths);
    // A test needs the files beside it.
    const isTest = target?.takes === "example" && linked.endsWith("_test.ts");
    if (target === undefined || isTest) {
      return repository && `${repository}/blob/main/${linked}`;
    }
    const { path, takes } = target;
    if (takes === "example") examples.set(linked, path);
    if (takes !== "image") return linkTo(path, page.path);
    Deno.copyFileSync(file, `${site}/public/${path}`);
    return `/${path}`;
  };
  const written: GuidePage[] = [];
  const codes: Written[] = [];
  for (const page of pages) {
    const { source, path } = page;
    const text = replaceLinks(
      await read(source),
      source,
      (linked) => resolve(linked, page),
    );
    const description = descriptionOf(text);
    await writePage(site, path, text, { description, source });
    written.push({ ...page, title: titleOf(text), description });
  }
  for (const [source, path] of examples) {
    const [, name = "", language = ""] = /^tests\/examples\/(.*\.(.*))$/
      .exec(source) ?? [];
    const code = `\`\`\`\`${language}\n${await read(source)}\`\`\`\``;
    const description = `${name}, an example of @oauth-helper/client.`;
    await writePage(site, path, `# ${name}\n\n${code}\n`, {
      description,
      source,
      aside: false, // It has no headings, and long lines.
      prev: false,
      next: false,
    });
    codes.push({ path, title: name, description });
  }
  // The front page shows it.
  await copyFromRoot("tests/examples/first_program.ts", `${site}/../..`);
  return { pages: written, examples: codes };
}
