/**
 * Checks what an underscore says: nothing of this file is public. A name is public if an
 * entry point exports it; a file is public if it declares one. Programs, and the entry
 * points themselves, are public.
 */

import { root } from "./support/deno.ts";
import { entryPoints } from "./support/npm_package.ts";
import { filesBelow } from "./support/portable_tests.ts";

/** What each file of the library contains, by its path. */
type Sources = Readonly<Record<string, string>>;

const EXPORTED_LIST = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;/gm;
const IMPORTED_LIST = /^import (?:type )?\{([^}]*)\} from "([^"]+)";/gm;

const EXPORTED_FILE = /^export \* from "([^"]+)";/gm;

/** Returns the names of a list, such as `type A, b as c`: here, and outside. */
function namesIn(list: string): [own: string, outside: string][] {
  return list.split(",").map((one) => one.trim().replace(/^type /, ""))
    .filter((one) => one !== "")
    .map((one) => {
      const [own = "", outside = own] = one.split(" as ");
      return [own, outside];
    });
}

function resolve(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** Finds the files that declare what the entry points export. */
function findPublicFiles(
  sources: Sources,
  entries: readonly string[],
): Set<string> {
  const found = new Set<string>();
  /** Follows a name of a file to where it is declared. */
  const follow = (path: string, name: string): void => {
    const text = sources[path] ?? "";
    for (const pattern of [EXPORTED_LIST, IMPORTED_LIST]) {
      for (const [, list = "", specifier] of text.matchAll(pattern)) {
        const isExported = pattern === EXPORTED_LIST;
        // What a list exports of its own file may be imported there.
        const named = namesIn(list)
          .find(([own, outside]) => (isExported ? outside : own) === name);
        if (named && specifier) {
          return follow(resolve(path, specifier), named[0]);
        }
      }
    }
    found.add(path);
  };
  /** Follows all that a file exports. */
  const followAll = (path: string): void => {
    found.add(path);
    const text = sources[path] ?? "";
    for (const [, list = "", from] of text.matchAll(EXPORTED_LIST)) {
      for (const [own] of namesIn(list)) {
        follow(from ? resolve(path, from) : path, own);
      }
    }
    for (const [, from = ""] of text.matchAll(EXPORTED_FILE)) {
      followAll(resolve(path, from));
    }
  };
  for (const entry of entries) followAll(entry);
  return found;
}

/** Finds files whose underscore says something else than their exports: old and new path. */
function findMisnamed(
  sources: Sources,
  entries: readonly string[],
): [path: string, name: string][] {
  const known = findPublicFiles(sources, entries);
  return Object.keys(sources).sort().flatMap((path) => {
    const isHidden = /(^|\/)_[^/]*$/.test(path);
    if (isHidden !== known.has(path)) return [];
    const name = isHidden
      ? path.replace(/_([^/]*)$/, "$1")
      : path.replace(/([^/]*)$/, "_$1");
    return [[path, name]];
  });
}

/** `cli/main.ts` is run, and exports nothing. */
const PROGRAMS = ["lib/cli/main.ts"];

if (import.meta.main) {
  const sources: Record<string, string> = {};
  const read = async (path: string) => {
    sources[path] = await Deno.readTextFile(new URL(path, root));
  };
  await read("mod.ts");
  for await (const path of filesBelow(new URL("lib/", root))) {
    await read(`lib/${path}`);
  }
  const entries = entryPoints.map(({ path }) => path.replace(/^\.\//, ""));
  const misnamed = findMisnamed(sources, [...entries, ...PROGRAMS]);
  for (const [path, name] of misnamed) console.log(`${path} -> ${name}`);
  console.log(`Names: ${misnamed.length} files to rename.`);
  if (misnamed.length > 0) Deno.exit(1);
}
