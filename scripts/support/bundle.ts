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

/** Bundles a module, without what it does not use. Stop esbuild afterwards. */
export async function bundleCode(
  code: string,
  directory: string,
): Promise<IBytes> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: code, resolveDir: directory },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    // The smallest variant of each package, and the only one without imports.
    platform: "browser",
    write: false,
    logLevel: "silent",
  });
  const { contents } = outputFiles[0]!;
  const gzipped = gzipSync(contents, { level: 9 }).length;
  return { minified: contents.length, gzipped };
}

/** Bundles an entry file of `scripts/bench/entries/`. */
export async function bundleEntry(file: string): Promise<IBytes> {
  const url = new URL(`scripts/bench/entries/${file}.ts`, root);
  const code = `export * from ${JSON.stringify(fileURLToPath(url))}`;
  return await bundleCode(code, fileURLToPath(root));
}
