/** The documents of a package: which there are, where they stand, and where their links lead. */

import { dirname, relative } from "node:path/posix";
import config from "../../deno.json" with { type: "json" };
import { replaceLinks } from "../docs/pages.ts";
import { root } from "./deno.ts";
import { filesBelow } from "./portable_tests.ts";

/** What `publish.include` of deno.json names in addition to documents. */
const MODULES = ["deno.json", "mod.ts", "lib"];

export interface Links {
  readonly moduleAt: (path: string) => string;
  readonly url: string | undefined;
}

/** Where the package has declarations: below this folder, which ends with a slash. */
export function declarationsBelow(folder: string): Links["moduleAt"] {
  return (path) => `${folder}${path.replace(/\.ts$/, ".d.ts")}`;
}

/** For contributors: README.md links them, so JSR has them, but users of npm do not need them. */
const PROJECT = [".github/ARCHITECTURE.md", ".github/CONTRIBUTING.md"];

/**
 * Returns where a document of the repository stands in a package, where no folder is
 * hidden; undefined for documents of the project, for tests of examples and what only
 * these import.
 */
function placeOf(path: string): string | undefined {
  if (PROJECT.includes(path) || /_test\.ts$|\/_[^/]*$/.test(path)) {
    return undefined;
  }
  return path
    .replace(/^\.github\/(docs|skills)\//, "$1/")
    .replace(/^\.github\//, "docs/project/")
    .replace(/^tests\/examples\//, "examples/");
}

/** Returns the paths of all documents in the package, by their paths in the repository. */
async function findPlaces(): Promise<Map<string, string>> {
  const places = new Map<string, string>();
  const add = (path: string) => {
    const place = placeOf(path);
    if (place !== undefined) places.set(path, place);
  };
  for (const path of config.publish.include) {
    if (MODULES.includes(path)) continue;
    if ((await Deno.stat(new URL(path, root))).isFile) add(path);
    else {
      const folder = new URL(`${path}/`, root);
      for await (const name of filesBelow(folder)) add(`${path}/${name}`);
    }
  }
  return places;
}

/**
 * Returns the documents of a package by their paths there. Links lead to files of the
 * package; to the repository if its URL is known and the package lacks the file; and
 * otherwise only their text is left. README.md's lead to the repository if its URL is
 * known, because a registry shows that page without the other files.
 */
export async function makeDocuments(
  { moduleAt, url }: Links,
): Promise<Map<string, Uint8Array | string>> {
  const places = await findPlaces();
  const isFolder = (path: string) =>
    [...places.keys()].some((source) => source.startsWith(`${path}/`));
  const documents = new Map<string, Uint8Array | string>();
  for (const [source, place] of places) {
    const file = new URL(source, root);
    if (!source.endsWith(".md")) {
      documents.set(place, await Deno.readFile(file));
      continue;
    }
    const resolve = (linked: string) => {
      const path = linked.replace(/\/$/, "");
      const found = /^(lib\/|mod\.ts$)/.test(path)
        ? moduleAt(path)
        : places.get(path) ??
          (isFolder(path) ? placeOf(path + "/") : undefined);
      if (url !== undefined && (source === "README.md" || !found)) {
        // A page shows the file itself only below `raw`.
        const kind = /\.(svg|png)$/.test(path) ? "raw" : "blob";
        return `${url}/${kind}/v${config.version}/${path}`;
      }
      return found && relative(dirname(place), found);
    };
    const text = await Deno.readTextFile(file);
    documents.set(place, replaceLinks(text, source, resolve));
  }
  return documents;
}

/**
 * Returns the links of Markdown files that lead to no file, one message for each.
 * `texts` are the files by their paths, `has` says whether a path exists.
 */
export function findDeadLinks(
  texts: ReadonlyMap<string, string>,
  has: (path: string) => boolean,
): string[] {
  const code = /^( *)(```+|~~~+)[^]*?^\1\2|(`+)(?!`)[^]*?[^`]\3(?!`)/gm;
  const link = /\]\(([^)\s]+)|(?:src|href)="([^"]+)"|^\[[^\]]+\]:\s*(\S+)/gm;
  return [...texts].flatMap(([path, text]) =>
    [...text.replace(code, "").matchAll(link)].flatMap((found) => {
      const target = found.slice(1).find((part) => part !== undefined) ?? "";
      if (/^([a-z]+:|#)/.test(target)) return [];
      const { pathname } = new URL(target, `file:///${path}`);
      const linked = decodeURI(pathname).slice(1).replace(/\/$/, "");
      return has(linked) ? [] : [`${path} links ${target}`];
    })
  );
}

/** Writes the documents into a package; throws if one of their links leads nowhere there. */
export async function writeDocuments(
  directory: string,
  links: Links,
): Promise<void> {
  const texts = new Map<string, string>();
  for (const [path, content] of await makeDocuments(links)) {
    const file = `${directory}/${path}`;
    await Deno.mkdir(dirname(file), { recursive: true });
    if (typeof content !== "string") await Deno.writeFile(file, content);
    else {
      await Deno.writeTextFile(file, content);
      texts.set(path, content);
    }
  }
  const has = (path: string) => {
    try {
      return Deno.statSync(`${directory}/${path}`) !== undefined;
    } catch {
      return false;
    }
  };
  const dead = findDeadLinks(texts, has);
  if (dead.length > 0) throw new Error(dead.join("\n"));
}
