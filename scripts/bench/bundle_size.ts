/** Compares the size of this library with that of others, after bundling. */

import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { bundleCode, bundleEntries, CODE_FLOW } from "../support/bundle.ts";
import { root } from "../support/deno.ts";
import { outputOf, temporaryDirectory } from "../support/process.ts";
import { type ISection, notMeasured, verdict } from "./timing.ts";

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

const mod = JSON.stringify(fileURLToPath(new URL("mod.ts", root)));

/** What is bundled: a module for each name, the first of which is ours. */
interface IBundles {
  readonly title: string;
  readonly modules: Readonly<Record<string, string>>;
  /** Whether all do the same, so that ours has to be smaller. */
  readonly hasGoals?: boolean;
}

const BUNDLES: readonly IBundles[] = [
  {
    title: "Bundle, everything",
    hasGoals: true,
    modules: {
      ours: `export * from ${mod}`,
      ...Object.fromEntries(
        PACKAGES.map((name) => [name, `export * from "${name}"`]),
      ),
    },
  },
  {
    // A caller of oauth4webapi has to write more code of its own.
    title: "Bundle, from 401 to a token",
    hasGoals: true,
    modules: {
      ours: CODE_FLOW,
      "oauth4webapi":
        `export { resourceDiscoveryRequest, processResourceDiscoveryResponse,
        discoveryRequest, processDiscoveryResponse,
        dynamicClientRegistrationRequest, processDynamicClientRegistrationResponse,
        generateRandomState, generateRandomCodeVerifier, calculatePKCECodeChallenge,
        validateAuthResponse, None, authorizationCodeGrantRequest,
        processAuthorizationCodeResponse } from "oauth4webapi"`,
      "@modelcontextprotocol/client":
        `export { extractWWWAuthenticateParams, auth
        } from "@modelcontextprotocol/client"`,
    },
  },
  {
    // From a challenge to both metadata documents. oauth4webapi parses challenges
    // within its `process...` functions; openid-client has less to do.
    title: "Bundle, discovery alone",
    modules: {
      ours: `export { parseWWWAuthenticateHeader, fetchResourceMetadata,
        fetchAuthorizationServerMetadata } from ${mod}`,
      "oauth4webapi":
        `export { resourceDiscoveryRequest, processResourceDiscoveryResponse,
        discoveryRequest, processDiscoveryResponse } from "oauth4webapi"`,
      "openid-client (authorization server only)":
        'export { discovery } from "openid-client"',
      "@modelcontextprotocol/client": `export { extractWWWAuthenticateParams,
        discoverOAuthProtectedResourceMetadata,
        discoverAuthorizationServerMetadata
        } from "@modelcontextprotocol/client"`,
    },
  },
  {
    title: "Bundle, another part of this library",
    modules: {
      "an authorized fetch, with a flow of your own":
        `export { createAuthorizedFetch } from ${mod}`,
    },
  },
];

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
  cwd: string,
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  const dependencies = {
    ...Object.fromEntries(
      [...PACKAGES, "jose" as const].map((name) => [name, versionOf(name)]),
    ),
    ...others,
  };
  await Deno.writeTextFile(
    `${cwd}/package.json`,
    JSON.stringify({ private: true, dependencies }),
  );
  await outputOf(Deno.execPath(), ["install", "--quiet"], {
    cwd,
    seconds: 150,
  });
}

/** Compares the parts of this library with their limits. */
function compareEntries(): ISection {
  return {
    title: "Bundle, the parts of this library",
    note: "Nothing, gzipped, has 20 bytes.",
    rows: bundleEntries().map(({ title, minified, gzipped, goal }) => ({
      name: title,
      "minified bytes": minified,
      "gzipped bytes": gzipped,
      limit: goal,
      goal: verdict(gzipped <= goal),
    })),
  };
}

function compare(
  { title, modules, hasGoals = false }: IBundles,
  directory: string,
): ISection {
  const sizes = Object.entries(modules).map(([name, code]) => ({
    name,
    ...bundleCode(code, directory),
  }));
  const ours = sizes[0]!.gzipped;
  return {
    title,
    rows: sizes.map(({ name, minified, gzipped }) => ({
      name,
      "minified bytes": minified,
      "gzipped bytes": gzipped,
      "ratio to ours": gzipped / ours,
    })),
    goals: hasGoals
      ? SAME_SCOPE.map((peer) => ({
        text: `smaller than ${peer}, gzipped`,
        reached: ours < sizes.find(({ name }) => name === peer)!.gzipped,
      }))
      : [],
  };
}

/** Measures all bundles. */
export async function* compareBundles(): AsyncGenerator<ISection> {
  yield compareEntries();
  try {
    await using directory = await temporaryDirectory("bundle_size_");
    await installPackages(directory.path);
    for (const bundles of BUNDLES) yield compare(bundles, directory.path);
  } catch (failure) {
    // The rest of the report needs no package registry.
    yield notMeasured("Bundles", failure);
  }
}
