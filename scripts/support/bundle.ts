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

const exportOf = (names: string, path = "mod.ts") =>
  `export ${names} from ${JSON.stringify(fileURLToPath(new URL(path, root)))};`;

/** From a 401 to a token by the code flow. */
export const CODE_FLOW = exportOf(`{ buildAuthorizationCodeBody,
  buildAuthorizationUrl, createPkcePair, createState, discoverAuthorization,
  fetchToken, parseAuthorizationResponse, registerClient }`);

/**
 * Parts of this library: title, code, the bytes that it should have at most, gzipped,
 * and those that it may have. Lower the limit when the part gets smaller; README has
 * that of the first.
 */
const ENTRIES = [
  [
    "the first program of README",
    exportOf("{ codeFlow, createAuthorizedFetch }") +
    exportOf("{ createLoopbackReceiver, fileStore }", "lib/native/mod.ts"),
    25_000,
    43_500,
  ],
  ["code flow, from 401 to a token", CODE_FLOW, 9_500, 18_000],
  [
    "discoverAuthorization",
    exportOf("{ discoverAuthorization }"),
    7_000,
    10_900,
  ],
  [
    "the two metadata fetches",
    exportOf("{ fetchAuthorizationServerMetadata, fetchResourceMetadata }"),
    4_800,
    7_500,
  ],
  [
    "createAuthorizedFetch, codeFlow, memoryStore",
    exportOf("{ codeFlow, createAuthorizedFetch, memoryStore }"),
    13_000,
    36_000,
  ],
  [
    "the receivers of ./browser",
    exportOf("*", "lib/browser/mod.ts"),
    3_200,
    3_400,
  ],
  [
    "parseWWWAuthenticateHeader",
    exportOf("{ parseWWWAuthenticateHeader }"),
    700,
    700,
  ],
  ["getClaimsFromJWT", exportOf("{ getClaimsFromJWT }"), 760, 760],
  // gzip alone takes 20 bytes.
  ["an import that uses nothing", exportOf("{}"), 20, 20],
] as const;

/** Bundles the parts. */
export function bundleEntries() {
  const directory = fileURLToPath(root);
  return ENTRIES.map(([title, code, goal, limit]) => {
    return {
      title,
      code,
      goal,
      limit,
      ...bundleCode(code, directory, ["node:*"]),
    };
  });
}

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
