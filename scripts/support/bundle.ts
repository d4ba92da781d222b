/** The bytes of a bundle, as an application would have it. */

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { root } from "./deno.ts";
import { entryPoints, toSpecifier } from "./npm_package.ts";

/** Bytes of a bundle. */
interface IBytes {
  readonly minified: number;
  readonly gzipped: number;
}

/**
 * The entry files of `scripts/bench/entries/`, each a part of this library: its title,
 * the bytes that it should have at most, gzipped, and those that it may have. Lower
 * the limit when the part gets smaller; README has that of the first.
 */
export const ENTRIES = ([
  ["command_line", "the first program of README", 25_000, 33_500],
  ["code_flow", "code flow, from 401 to a token", 9_500, 14_500],
  ["discovery", "discoverAuthorization", 7_000, 9_100],
  ["metadata", "the two metadata fetches", 4_800, 6_800],
  [
    "authorized_fetch",
    "createAuthorizedFetch, codeFlow, memoryStore",
    13_000,
    27_800,
  ],
  ["browser", "the receivers of ./browser", 3_200, 3_300],
  ["challenge", "parseWWWAuthenticateHeader", 700, 700],
  ["claims", "getClaimsFromJWT", 760, 760],
  // gzip alone takes 20 bytes.
  ["nothing", "an import that uses nothing", 20, 20],
] as const).map(([file, title, goal, limit]) => ({ file, title, goal, limit }));

/** Bundles a module, without what it does not use. */
export function bundleCode(
  code: string,
  directory: string,
  external: string[] = [],
): IBytes {
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents: code, resolveDir: directory },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    // The smallest variant of each package, and the only one without imports.
    platform: "browser",
    external,
    write: false,
    logLevel: "silent",
  });
  const { contents } = outputFiles[0]!;
  const gzipped = gzipSync(contents, { level: 9 }).length;
  return { minified: contents.length, gzipped };
}

/**
 * Returns a message for each entry point of the package of which an import that uses
 * nothing leaves bytes in a bundle. It is resolved from the directory.
 */
export function findKeptImports(
  packageName: string,
  directory: string,
): string[] {
  return entryPoints.flatMap(({ name }) => {
    const specifier = toSpecifier(packageName, name);
    const code = `import * as unused from ${JSON.stringify(specifier)};`;
    // Even of what is left out, esbuild resolves the imports.
    const { minified } = bundleCode(code, directory, ["node:*"]);
    return minified === 0
      ? []
      : [`An unused import of ${specifier} leaves ${minified} bytes`];
  });
}

/** Returns a module that exports what an entry file does. */
export function codeOfEntry(file: string): string {
  const url = new URL(`scripts/bench/entries/${file}.ts`, root);
  return `export * from ${JSON.stringify(fileURLToPath(url))}`;
}

/** Bundles an entry file. */
export function bundleEntry(file: string): IBytes {
  return bundleCode(codeOfEntry(file), fileURLToPath(root), ["node:*"]);
}
