/**
 * Holds lib/ to its plan: a file imports only from floors below its own, nothing
 * imports mod.ts or a package, every file is reached from mod.ts, and none is
 * longer than 400 lines. Without circles by construction: imports run downwards.
 */

import { root } from "./_deno.ts";

/** The plan. A file in lib/ that stands on no floor fails the check. */
export const FLOORS: readonly (readonly string[])[] = [
  [
    "constants",
    "error_codes",
    "request_options",
    "errors",
    "_base64",
    "_stream",
    "_secrets",
    "_url",
  ],
  ["types", "_arguments", "_reply", "_identifiers", "single_flight"],
  [
    "scopes",
    "guards",
    "challenge",
    "well_known",
    "pkce",
    "_endpoint",
    "_form",
    "_jws",
  ],
  ["_http", "jwt_claims", "dpop", "token_body", "grant_body"],
  ["_discovery", "client_auth", "client_selection", "authorization_request"],
  ["resource_metadata", "server_metadata", "registration"],
  ["_search", "_form_request"],
  ["discovery", "token_request"],
  ["device_flow", "cross_app_access"],
];

const MAX_LINES = 400;

/** What one module of the graph imports, by address. */
export interface IModule {
  specifier: string;
  imports: string[];
}

/** What is wrong with these modules, a line each; nothing when all is well. */
export function findLayerProblems(
  modules: readonly IModule[],
  floors: readonly (readonly string[])[],
): string[] {
  const problems: string[] = [];
  const floorOf = (specifier: string) => {
    const name = /\/lib\/([^/]+)\.ts$/.exec(specifier)?.[1] ?? "";
    return floors.findIndex((files) => files.includes(name));
  };
  const short = (specifier: string) => specifier.split("/").slice(-2).join("/");
  for (const { specifier, imports } of modules) {
    if (!specifier.includes("/lib/")) continue;
    const floor = floorOf(specifier);
    if (floor === -1) problems.push(`${short(specifier)} is on no floor`);
    for (const target of imports) {
      const below = floorOf(target);
      if (below === -1) {
        problems.push(
          `${short(specifier)} imports ${target}, which is no file of lib/`,
        );
      } else if (below >= floor) {
        problems.push(
          `${short(specifier)} (floor ${floor}) imports ` +
            `${short(target)} (floor ${below})`,
        );
      }
    }
  }
  return problems;
}

/** The module graph below mod.ts, as Deno itself resolves it. */
async function readGraph(): Promise<IModule[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "mod.ts"],
    cwd: root,
  }).output();
  interface IResolved {
    specifier?: string;
  }
  interface IDependency {
    specifier: string;
    code?: IResolved;
    type?: IResolved;
  }
  interface IGraph {
    modules: { specifier: string; dependencies?: IDependency[] }[];
  }
  const graph: IGraph = JSON.parse(new TextDecoder().decode(stdout));
  return graph.modules.map(({ specifier, dependencies = [] }) => ({
    specifier,
    imports: dependencies.map(({ specifier, code, type }) =>
      code?.specifier ?? type?.specifier ?? specifier
    ),
  }));
}

if (import.meta.main) {
  const modules = await readGraph();
  const problems = findLayerProblems(modules, FLOORS);
  const reached = modules.map(({ specifier }) => specifier);
  let files = 0;
  for await (const { name } of Deno.readDir(new URL("lib", root))) {
    files++;
    const file = new URL(`lib/${name}`, root);
    if (!reached.includes(file.href)) {
      problems.push(`lib/${name} is not reached from mod.ts`);
    }
    const lines = (await Deno.readTextFile(file)).split("\n").length - 1;
    if (lines > MAX_LINES) {
      problems.push(`lib/${name} has ${lines} lines, more than ${MAX_LINES}`);
    }
  }
  for (const problem of problems) console.error(problem);
  console.log(`Layers: ${files} files, ${problems.length} problems.`);
  if (problems.length > 0) Deno.exit(1);
}
