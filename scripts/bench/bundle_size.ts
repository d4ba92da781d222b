/** Compares the size of this library with that of others, after bundling. */

import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import config from "../../deno.json" with { type: "json" };
import {
  bundleCode,
  bundleEntry,
  codeOfEntry,
  ENTRIES,
  type IBytes,
} from "../support/bundle.ts";
import { root } from "../support/deno.ts";
import { type IGoal, type ISection, type Row, verdict } from "./timing.ts";

/** One row of a comparison: a name, and the module that is bundled. */
interface IEntry {
  readonly name: string;
  readonly code: string;
}

interface IBundleSize extends IBytes {
  readonly name: string;
}

const mod = JSON.stringify(fileURLToPath(new URL("mod.ts", root)));

/** All exports of each package. */
const EVERYTHING: readonly IEntry[] = [
  { name: "ours", code: `export * from ${mod}` },
  { name: "oauth4webapi", code: 'export * from "oauth4webapi"' },
  { name: "openid-client", code: 'export * from "openid-client"' },
  {
    name: "@modelcontextprotocol/client",
    code: 'export * from "@modelcontextprotocol/client"',
  },
];

/**
 * The functions for discovery, from a challenge to the metadata of the resource
 * and of the authorization server. oauth4webapi parses challenges within its
 * `process...` functions. openid-client supports neither challenges nor metadata
 * of resources, so its row does less.
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

/**
 * The functions from a challenge to a token. A caller of oauth4webapi has to write
 * more code of its own.
 */
const FLOW: readonly IEntry[] = [
  {
    name: "ours",
    code: codeOfEntry("code_flow"),
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

/** What else of this library weighs, beside the entry files. */
const PARTS: readonly IEntry[] = [{
  name: "an authorized fetch, with a flow of your own",
  code: `export { createAuthorizedFetch } from ${mod}`,
}];

/** The packages that this library is compared with. */
export const PACKAGES = [
  "oauth4webapi",
  "openid-client",
  "@modelcontextprotocol/client",
] as const;

/**
 * The packages that cover everything from a 401 to a token, as this library does.
 * openid-client supports neither challenges nor metadata of resources.
 */
export const SAME_SCOPE = [
  "oauth4webapi",
  "@modelcontextprotocol/client",
] as const satisfies readonly typeof PACKAGES[number][];

function versionOf(name: keyof typeof config.imports): string {
  return config.imports[name].replace(/^.*@/, "");
}

/** Returns the packages of the comparison with their versions in deno.json. */
export function packageVersions(): string {
  const names = ["http-auth-utils", "jose", "jwt-decode", "esbuild"] as const;
  return [...names, ...PACKAGES]
    .map((name) => `${name} ${versionOf(name)}`).join(", ");
}

/**
 * Installs the packages, and others, into this directory, because esbuild needs
 * node_modules and Deno creates none for a script. Uses `deno install`, as npm may
 * be missing.
 */
export async function installPackages(
  directory: string,
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  const dependencies = {
    ...Object.fromEntries(
      [...PACKAGES, "jose" as const].map((name) => [name, versionOf(name)]),
    ),
    ...others,
  };
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
  return { name, ...await bundleCode(code, directory) };
}

/** Bundles all entries of these lists. */
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

/** Bundles the entry files, and compares each with its limit. */
async function compareEntries(): Promise<ISection> {
  const rows = await Promise.all(
    ENTRIES.map(async ({ file, title, goal }): Promise<Row> => {
      const { minified, gzipped } = await bundleEntry(file);
      return {
        name: title,
        "minified bytes": minified,
        "gzipped bytes": gzipped,
        limit: goal,
        goal: verdict(gzipped <= goal),
      };
    }),
  );
  await esbuild.stop();
  return {
    title: "Bundle, the entry files of scripts/bench/entries",
    note: "Nothing, gzipped, has 20 bytes.",
    rows,
  };
}

function sizeRows(bundles: readonly IBundleSize[]): Row[] {
  return bundles.map(({ name, minified, gzipped }) => ({
    name,
    "minified bytes": minified,
    "gzipped bytes": gzipped,
    "ratio to ours": gzipped / bundles[0]!.gzipped,
  }));
}

/** Compares our bundle, the first, with every package of the same scope. */
function sizeGoals([ours, ...others]: readonly IBundleSize[]): IGoal[] {
  return SAME_SCOPE.map((peer) => {
    const theirs = others.find(({ name }) => name === peer)!;
    return {
      text: `smaller than ${peer}, gzipped`,
      reached: ours!.gzipped < theirs.gzipped,
    };
  });
}

/** Measures all bundles. */
export async function* compareBundles(): AsyncGenerator<ISection> {
  yield await compareEntries();
  try {
    const lists = [EVERYTHING, FLOW, DISCOVERY, PARTS];
    const [all, flow, part, parts] = await measureBundles(lists);
    yield* [
      {
        title: "Bundle, everything",
        rows: sizeRows(all!),
        goals: sizeGoals(all!),
      },
      {
        title: "Bundle, from 401 to a token",
        rows: sizeRows(flow!),
        goals: sizeGoals(flow!),
      },
      { title: "Bundle, discovery alone", rows: sizeRows(part!) },
      {
        title: "Bundle, parts of this library",
        rows: parts!.map(({ name, minified, gzipped }) => ({
          name,
          "minified bytes": minified,
          "gzipped bytes": gzipped,
        })),
      },
    ];
  } catch (failure) {
    // The rest of the report needs no package registry.
    const reason = String(failure).split("\n")[0]!;
    yield { title: "Bundles", rows: [{ "not measured": reason }] };
  }
}
