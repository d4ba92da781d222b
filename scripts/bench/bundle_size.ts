/** How many bytes a bundler makes of this library and of others. */

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import config from "../../deno.json" with { type: "json" };
import { root } from "../support/deno.ts";
import { type IGoal, type ISection, type Row, verdict } from "./timing.ts";

/** One line of a comparison: a name, and the module that is bundled. */
interface IEntry {
  readonly name: string;
  readonly code: string;
}

interface IBundleSize {
  readonly name: string;
  readonly minified: number;
  readonly gzipped: number;
}

const mod = JSON.stringify(fileURLToPath(new URL("mod.ts", root)));

const lib = (file: string) =>
  JSON.stringify(fileURLToPath(new URL(`lib/${file}.ts`, root)));

/** The ten operations that 0.1.0 began with, with their constants and guards. */
const TEN_OPERATIONS: IEntry = {
  name: "ours, the first ten operations",
  code: `
    export * from ${lib("core/constants")};
    export * from ${lib("core/error_codes")};
    export * from ${lib("core/errors")};
    export * from ${lib("core/guards")};
    export * from ${lib("discovery/resource_metadata")};
    export * from ${lib("discovery/server_metadata")};
    export * from ${lib("token/id_jag_body")};
    export { fetchDynamicRegistration, getClaimsFromJWT,
      getDefaultMetadataForUrl, parseWWWAuthenticateHeader, scopesMatch
      } from ${mod};`,
};

/** Everything that a package exports. */
const EVERYTHING: readonly IEntry[] = [
  { name: "ours", code: `export * from ${mod}` },
  TEN_OPERATIONS,
  { name: "oauth4webapi", code: 'export * from "oauth4webapi"' },
  { name: "openid-client", code: 'export * from "openid-client"' },
  {
    name: "@modelcontextprotocol/client",
    code: 'export * from "@modelcontextprotocol/client"',
  },
];

/**
 * The functions that lead from a challenge to the metadata of both servers.
 * oauth4webapi reads challenges within its `process...` functions; openid-client
 * has nothing for a challenge or a resource, so its line does less.
 */
const DISCOVERY: readonly IEntry[] = [
  {
    name: "ours",
    code: `export { parseWWWAuthenticateHeader, fetchResourceMetadata,
      fetchAuthorizationServerMetadata } from ${mod}`,
  },
  {
    name: "oauth4webapi",
    code: `export { resourceDiscoveryRequest, processResourceDiscoveryResponse,
      discoveryRequest, processDiscoveryResponse } from "oauth4webapi"`,
  },
  {
    name: "openid-client (authorization server only)",
    code: 'export { discovery } from "openid-client"',
  },
  {
    name: "@modelcontextprotocol/client",
    code: `export { extractWWWAuthenticateParams,
      discoverOAuthProtectedResourceMetadata,
      discoverAuthorizationServerMetadata
      } from "@modelcontextprotocol/client"`,
  },
];

/** What leads from a challenge to a token; the caller of oauth4webapi does more. */
const ROAD: readonly IEntry[] = [
  {
    name: "ours",
    code: `export { buildAuthorizationCodeBody, buildAuthorizationUrl,
      createPkcePair, createState, discoverAuthorization, fetchToken,
      parseAuthorizationResponse, registerClient, selectClientAuthentication
      } from ${mod}`,
  },
  {
    name: "oauth4webapi",
    code: `export { resourceDiscoveryRequest, processResourceDiscoveryResponse,
      discoveryRequest, processDiscoveryResponse,
      dynamicClientRegistrationRequest, processDynamicClientRegistrationResponse,
      generateRandomState, generateRandomCodeVerifier, calculatePKCECodeChallenge,
      validateAuthResponse, None, authorizationCodeGrantRequest,
      processAuthorizationCodeResponse } from "oauth4webapi"`,
  },
  {
    name: "@modelcontextprotocol/client",
    code: `export { extractWWWAuthenticateParams, auth
      } from "@modelcontextprotocol/client"`,
  },
];

/** The packages that ours is compared with. */
export const PACKAGES = [
  "oauth4webapi",
  "openid-client",
  "@modelcontextprotocol/client",
] as const;

/**
 * Those that lead from a 401 to a token as ours does. openid-client is not among
 * them: it knows neither challenges nor metadata of resources.
 */
export const SAME_REACH = [
  "oauth4webapi",
  "@modelcontextprotocol/client",
] as const satisfies readonly typeof PACKAGES[number][];

function versionOf(name: keyof typeof config.imports): string {
  return config.imports[name].replace(/^.*@/, "");
}

/** The packages that take part in the comparison, as deno.json pins them. */
export function packageVersions(): string {
  const names = ["http-auth-utils", "jose", "jwt-decode", "esbuild"] as const;
  return [...names, ...PACKAGES]
    .map((name) => `${name} ${versionOf(name)}`).join(", ");
}

/**
 * Installs the packages into this directory. esbuild looks for node_modules,
 * which Deno does not make for a script; Deno's own installer is on every
 * machine that can run this, npm is not.
 */
export async function installPackages(directory: string): Promise<void> {
  const dependencies = Object.fromEntries(
    PACKAGES.map((name) => [name, versionOf(name)]),
  );
  await Deno.writeTextFile(
    `${directory}/package.json`,
    JSON.stringify({ private: true, dependencies }),
  );
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet"],
    cwd: directory,
    env: { NO_COLOR: "1" },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
}

async function bundle(
  { name, code }: IEntry,
  directory: string,
): Promise<IBundleSize> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: code, resolveDir: directory },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    // The smallest of the packages' variants, and the one without imports left.
    platform: "browser",
    write: false,
    logLevel: "silent",
  });
  const { contents } = outputFiles[0]!;
  const gzipped = gzipSync(contents, { level: 9 }).length;
  return { name, minified: contents.length, gzipped };
}

/** Bundles one list of entries after the other. */
async function measureBundles(
  lists: readonly (readonly IEntry[])[],
): Promise<IBundleSize[][]> {
  const directory = await Deno.makeTempDir({ prefix: "bundle_size_" });
  try {
    await installPackages(directory);
    return await Promise.all(
      lists.map((list) =>
        Promise.all(list.map((entry) => bundle(entry, directory)))
      ),
    );
  } finally {
    await esbuild.stop();
    await Deno.remove(directory, { recursive: true });
  }
}

function sizeRows(bundles: readonly IBundleSize[], limit?: number): Row[] {
  return bundles.map(({ name, minified, gzipped }) => ({
    name,
    "minified bytes": minified,
    "gzipped bytes": gzipped,
    "ratio to ours": gzipped / bundles[0]!.gzipped,
    goal: limit && name === TEN_OPERATIONS.name ? verdict(gzipped < limit) : "",
  }));
}

/** Ours, the first of these bundles, against every peer with the same reach. */
function sizeGoals([ours, ...others]: readonly IBundleSize[]): IGoal[] {
  return SAME_REACH.map((peer) => {
    const theirs = others.find(({ name }) => name === peer)!;
    return {
      text: `smaller than ${peer}, gzipped`,
      reached: ours!.gzipped < theirs.gzipped,
    };
  });
}

/** The sizes of all bundles; the limit is for our ten operations, gzipped. */
export async function compareBundles(limit: number): Promise<ISection[]> {
  try {
    const lists = [EVERYTHING, ROAD, DISCOVERY];
    const [all, road, part] = await measureBundles(lists);
    return [
      {
        title: "Bundle, everything",
        rows: sizeRows(all!, limit),
        goals: sizeGoals(all!),
      },
      {
        title: "Bundle, from 401 to a token",
        rows: sizeRows(road!),
        goals: sizeGoals(road!),
      },
      { title: "Bundle, discovery alone", rows: sizeRows(part!) },
    ];
  } catch (failure) {
    // Without a package registry the rest of the report is still worth printing.
    const reason = String(failure).split("\n")[0]!;
    return [{ title: "Bundles", rows: [{ "not measured": reason }] }];
  }
}
