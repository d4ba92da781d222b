/** Compares the size of this library with that of others, after bundling. */

import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { bundleCode, bundleEntries, CODE_FLOW } from "../support/bundle.ts";
import { root } from "../support/deno.ts";
import { install, temporaryDirectory } from "../support/process.ts";
import type { ISection } from "./timing.ts";

/** The packages that this library is compared with. */
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

const mod = JSON.stringify(fileURLToPath(new URL("mod.ts", root)));

/** What is bundled: a module for each name, the first of which is ours. */
const BUNDLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Bundle, everything": {
    ours: `export * from ${mod}`,
    ...Object.fromEntries(
      PACKAGES.map((name) => [name, `export * from "${name}"`]),
    ),
  },
  // A caller of oauth4webapi has to write more code of its own.
  "Bundle, from 401 to a token": {
    ours: CODE_FLOW,
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
};

function versionOf(name: keyof typeof config.imports): string {
  return config.imports[name].replace(/^.*@/, "");
}

/** Returns the packages of the comparison with their versions in deno.json. */
export function packageVersions(): string {
  const names = ["http-auth-utils", "jose", "jwt-decode", "esbuild"] as const;
  return [...names, ...PACKAGES]
    .map((name) => `${name} ${versionOf(name)}`).join(", ");
}

/** Compares the parts of this library with their goals. */
function compareEntries(): ISection {
  const entries = bundleEntries();
  return {
    title: "Bundle, the parts of this library",
    note: "Nothing, gzipped, has 20 bytes.",
    rows: entries.map(({ title, minified, gzipped }) => ({
      name: title,
      "minified bytes": minified,
      "gzipped bytes": gzipped,
    })),
    goals: entries.map(({ title, gzipped, goal }) => ({
      text: `${title}: ${gzipped} bytes (goal: at most ${goal})`,
      reached: gzipped <= goal,
    })),
  };
}

function compare(
  title: string,
  modules: Readonly<Record<string, string>>,
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
      "ratio to ours": (gzipped / ours).toFixed(2),
    })),
    goals: sizes.filter(({ name }) => SAME_SCOPE.includes(name))
      .map(({ name, gzipped }) => ({
        text: `smaller than ${name}, gzipped`,
        reached: ours < gzipped,
      })),
  };
}

/** Measures all bundles. */
export async function* compareBundles(): AsyncGenerator<ISection> {
  yield compareEntries();
  try {
    await using directory = await temporaryDirectory("bundle_size_");
    // esbuild needs node_modules, and Deno creates none for a script.
    const packages = PACKAGES.map((name) => [name, versionOf(name)]);
    await install(directory.path, Object.fromEntries(packages));
    for (const [title, modules] of Object.entries(BUNDLES)) {
      yield compare(title, modules, directory.path);
    }
  } catch (failure) {
    // The rest of the report needs no package registry.
    const reason = String(failure).split("\n")[0]!;
    yield { title: "Bundles", rows: [{ "not measured": reason }] };
  }
}
