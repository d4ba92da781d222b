/** The bytes of a bundle, as an application would have it. */

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { root } from "./deno.ts";

/** Bytes of a bundle. */
export interface IBytes {
  readonly minified: number;
  readonly gzipped: number;
}

/** An entry file of `scripts/bench/entries/`: a part of this library. */
export interface IBundleEntry {
  readonly file: string;
  readonly title: string;
  /** The bytes that it should have at most, gzipped. */
  readonly goal: number;
  /** The bytes that it may have at most. Lower it when the part gets smaller. */
  readonly limit: number;
}

/** The entry files; README has the limit of the first. */
export const ENTRIES: readonly IBundleEntry[] = [
  {
    file: "command_line",
    title: "the first program of README",
    goal: 25_000,
    limit: 33_500,
  },
  {
    file: "code_flow",
    title: "code flow, from 401 to a token",
    goal: 9_500,
    limit: 14_500,
  },
  {
    file: "discovery",
    title: "discoverAuthorization",
    goal: 7_000,
    limit: 9_100,
  },
  {
    file: "metadata",
    title: "the two metadata fetches",
    goal: 4_800,
    limit: 6_800,
  },
  {
    file: "authorized_fetch",
    title: "createAuthorizedFetch, codeFlow, memoryStore",
    goal: 13_000,
    limit: 27_800,
  },
  {
    file: "browser",
    title: "the receivers of ./browser",
    goal: 3_200,
    limit: 3_300,
  },
  {
    file: "challenge",
    title: "parseWWWAuthenticateHeader",
    goal: 700,
    limit: 700,
  },
  { file: "claims", title: "getClaimsFromJWT", goal: 760, limit: 760 },
  // gzip alone takes 20 bytes.
  {
    file: "nothing",
    title: "an import that uses nothing",
    goal: 20,
    limit: 20,
  },
];

/** Bundles a module, without what it does not use. Stop esbuild afterwards. */
export async function bundleCode(
  code: string,
  directory: string,
  external: string[] = [],
): Promise<IBytes> {
  const { outputFiles } = await esbuild.build({
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
 * Returns the bytes that imports leave in a bundle, minified, when nothing of them is
 * used. The specifiers are resolved from the directory.
 */
export async function unusedImports(
  specifiers: readonly string[],
  directory: string,
): Promise<Record<string, number>> {
  const bytes: Record<string, number> = {};
  try {
    for (const specifier of specifiers) {
      const code = `import * as unused from ${JSON.stringify(specifier)};`;
      // Even of what is left out, esbuild resolves the imports.
      const { minified } = await bundleCode(code, directory, ["node:*"]);
      bytes[specifier] = minified;
    }
  } finally {
    await esbuild.stop();
  }
  return bytes;
}

/** Returns a module that exports what an entry file does. */
export function codeOfEntry(file: string): string {
  const url = new URL(`scripts/bench/entries/${file}.ts`, root);
  return `export * from ${JSON.stringify(fileURLToPath(url))}`;
}

/** Bundles an entry file. */
export async function bundleEntry(file: string): Promise<IBytes> {
  return await bundleCode(codeOfEntry(file), fileURLToPath(root), ["node:*"]);
}
