/** The bytes of a bundle, as an application would have it. */

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import config from "../../deno.json" with { type: "json" };
import { root } from "./deno.ts";
import { entryPoints, toSpecifier } from "./npm_package.ts";

interface Bytes {
  readonly minified: number;
  readonly gzipped: number;
}

/** What a program uses of the entry points, by their names. */
type Used = Readonly<Record<string, string>>;

/** From a 401 to a token by the code flow. */
export const CODE_FLOW: Used = {
  ".": `{ buildAuthorizationCodeBody, buildAuthorizationUrl, createPkcePair,
    createState, discoverAuthorization, fetchToken, parseAuthorizationResponse,
    registerClient }`,
};

/**
 * Parts of this library: title, what it uses, and the bytes that it may have, gzipped.
 * Lower the limit when the part gets smaller.
 */
const ENTRIES: readonly [title: string, Used, limit: number][] = [
  [
    "the first program of README",
    {
      ".": "{ codeFlow, createAuthorizedFetch }",
      "./native": "{ createLoopbackReceiver, fileStore }",
    },
    47_600,
  ],
  ["code flow, from 401 to a token", CODE_FLOW, 17_850],
  [
    "discoverAuthorization",
    { ".": "{ discoverAuthorization }" },
    10_800,
  ],
  [
    "the two metadata fetches",
    {
      ".": "{ fetchAuthorizationServerMetadata, fetchResourceMetadata }",
    },
    7_620,
  ],
  [
    "createAuthorizedFetch, codeFlow, memoryStore",
    { ".": "{ codeFlow, createAuthorizedFetch, memoryStore }" },
    39_400,
  ],
  ["the receivers of ./browser", { "./browser": "*" }, 3_450],
  ["createWebSignIn", { "./web": "{ createWebSignIn }" }, 44_960],
  [
    "parseWWWAuthenticateHeader",
    { ".": "{ parseWWWAuthenticateHeader }" },
    700,
  ],
  ["getClaimsFromJWT", { ".": "{ getClaimsFromJWT }" }, 760],
  // gzip alone takes 20 bytes.
  ["an import that uses nothing", { ".": "{}" }, 20],
];

export interface Library {
  /** From where its modules are resolved. */
  readonly directory: string;
  readonly specifierOf: (entryPoint: string) => string;
}

export const SOURCES: Library = {
  directory: fileURLToPath(root),
  specifierOf: (entryPoint) =>
    entryPoints.find(({ name }) => name === entryPoint)!.path,
};

export const installedIn = (directory: string): Library => ({
  directory,
  specifierOf: (entryPoint) => toSpecifier(config.name, entryPoint),
});

export function exportOf(used: Used, { specifierOf }: Library): string {
  return Object.entries(used).map(([entryPoint, names]) =>
    `export ${names} from ${JSON.stringify(specifierOf(entryPoint))};`
  ).join("\n");
}

export function bundleEntries(library: Library) {
  return ENTRIES.map(([title, used, limit]) => {
    const code = exportOf(used, library);
    return {
      title,
      code,
      limit,
      ...bundleCode(code, library.directory, ["node:*"]),
    };
  });
}

/** Bundles a module, without what it does not use. */
export function bundleCode(
  code: string,
  directory: string,
  external: string[] = [],
): Bytes {
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
    // esbuild resolves the imports even of what it drops.
    const { minified } = bundleCode(code, directory, ["node:*"]);
    return minified === 0
      ? []
      : [`An unused import of ${specifier} leaves ${minified} bytes`];
  });
}
