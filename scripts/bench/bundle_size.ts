/** Compares the size of this package with other packages, after bundling. */

import map from "../import_map.json" with { type: "json" };
import {
  bundleCode,
  bundleEntries,
  CODE_FLOW,
  exportOf,
  installedIn,
  type Library,
} from "../support/bundle.ts";
import type { Section } from "./timing.ts";

const PACKAGES = [
  "oauth4webapi",
  "openid-client",
  "@modelcontextprotocol/client",
] as const;

/**
 * The packages that cover everything from a 401 to a token, as this library does, so
 * that ours has to be smaller. openid-client supports neither challenges nor metadata
 * of resources.
 */
const SAME_SCOPE = ["oauth4webapi", "@modelcontextprotocol/client"];

/** A module for each name, the first of which is ours. */
type Modules = Readonly<Record<string, string>>;

const bundlesOf = (library: Library): Readonly<Record<string, Modules>> => ({
  "Bundle, everything": {
    ours: exportOf({ ".": "*" }, library),
    ...Object.fromEntries(
      PACKAGES.map((name) => [name, `export * from "${name}"`]),
    ),
  },
  // A caller of oauth4webapi has to write more code of its own.
  "Bundle, from 401 to a token": {
    ours: exportOf(CODE_FLOW, library),
    "oauth4webapi":
      `export { resourceDiscoveryRequest, processResourceDiscoveryResponse,
      discoveryRequest, processDiscoveryResponse,
      dynamicClientRegistrationRequest, processDynamicClientRegistrationResponse,
      generateRandomState, generateRandomCodeVerifier, calculatePKCECodeChallenge,
      validateAuthResponse, None, authorizationCodeGrantRequest,
      processAuthorizationCodeResponse } from "oauth4webapi"`,
    "@modelcontextprotocol/client": `export { extractWWWAuthenticateParams, auth
      } from "@modelcontextprotocol/client"`,
  },
});

function versionOf(name: keyof typeof map.imports): string {
  return map.imports[name].replace(/^.*@/, "");
}

/** Returns the packages of the comparison with their versions in import_map.json. */
export function packageVersions(): string {
  const names = ["http-auth-utils", "jose", "jwt-decode", "esbuild"] as const;
  return [...names, ...PACKAGES]
    .map((name) => `${name} ${versionOf(name)}`).join(", ");
}

function compareEntries(library: Library): Section {
  const entries = bundleEntries(library);
  return {
    title: "Bundle, the parts of this library",
    note: "Nothing, gzipped, has 20 bytes.",
    rows: entries.map(({ title, minified, gzipped }) => ({
      name: title,
      "minified bytes": minified,
      "gzipped bytes": gzipped,
    })),
  };
}

function compare(
  title: string,
  modules: Modules,
  directory: string,
): Section {
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
      "ratio to ours": (gzipped / ours).toFixed(2),
    })),
    goals: sizes.filter(({ name }) => SAME_SCOPE.includes(name))
      .map(({ name, gzipped }) => ({
        text: `smaller than ${name}, gzipped`,
        reached: ours < gzipped,
      })),
  };
}

export function comparedPackages(): Record<string, string> {
  return Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)]));
}

/** Measures all bundles of the packages that are installed in a directory. */
export function* compareBundles(directory: string): Generator<Section> {
  const library = installedIn(directory);
  yield compareEntries(library);
  for (const [title, modules] of Object.entries(bundlesOf(library))) {
    yield compare(title, modules, directory);
  }
}
