/** The README of a package, whose links lead to files of that package. */

import config from "../../deno.json" with { type: "json" };
import { root } from "./deno.ts";
import { repositoryUrl } from "./npm_package.ts";
import { copyFromRoot } from "./process.ts";

/** Matches the target of a link to a file, without the part after `#`. */
const LINK = /(?<=\]\()(?!#|[a-z]+:)([^)#]+)/g;

/** Returns the paths of the files and folders that Markdown links to. */
export function findLinkedPaths(markdown: string): string[] {
  return [...new Set([...markdown.matchAll(LINK)].map(([path]) => path))];
}

/**
 * Writes README.md into a built package. Links lead to the repository where its URL
 * is known: the page of a registry has no other files. Else they lead into the
 * package: to the declarations, which have the documentation, below `declarations`,
 * and to copies of everything else.
 */
export async function writePackageReadme(
  directory: string,
  declarations: string,
): Promise<void> {
  const readme = await Deno.readTextFile(new URL("README.md", root));
  const url = repositoryUrl(Deno.env.toObject());
  const locate = (path: string) =>
    url !== undefined
      ? `${url}/blob/v${config.version}/${path}`
      : path.startsWith("lib/")
      ? `${declarations}${path.replace(/\.ts$/, ".d.ts")}`
      : path;
  await Deno.writeTextFile(
    `${directory}/README.md`,
    readme.replace(LINK, locate),
  );
  if (url !== undefined) return;
  for (const path of findLinkedPaths(readme)) {
    if (!path.startsWith("lib/")) await copyFromRoot(path, directory);
    // Throws where a link leads nowhere.
    await Deno.stat(`${directory}/${locate(path)}`);
  }
}
