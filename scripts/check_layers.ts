/**
 * Checks the structure of lib/: which folder may import from which, also within
 * `fetch/`; that no imports form a circle, that every file is reached from an entry
 * point, that no file is longer than 350 lines, and that no folder has more than 28
 * files.
 */

import { fileURLToPath } from "node:url";
import { root } from "./support/deno.ts";
import { entryPoints } from "./support/npm_package.ts";
import { filesBelow } from "./support/portable_tests.ts";
import { outputOf } from "./support/process.ts";

const MESSAGES = ["core", "http", "discovery", "client", "token"];
const SESSIONS = [...MESSAGES, "session", "flows", "fetch"];

/** The folders of lib/, and the other folders that each may import from. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  http: ["core"],
  discovery: ["core", "http"],
  client: ["core", "http"],
  token: ["core", "http", "client"],
  session: MESSAGES,
  flows: [...MESSAGES, "session"],
  fetch: [...MESSAGES, "session", "flows"],
  stores: SESSIONS,
  browser: SESSIONS,
  web: SESSIONS,
  native: [...SESSIONS, "stores"],
  doctor: SESSIONS,
  cli: [...SESSIONS, "stores", "native", "doctor"],
  testing: ["core", "http"],
};

/** Rooms of a folder, and what they may import of the folder, by how the paths start. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "fetch/policy/": [],
  "fetch/keeper/": [
    "fetch/policy/",
    "fetch/_shared_session.ts",
    "fetch/_whole_session.ts",
  ],
};

/** Where `node:` modules may be imported; the last one does so when it is called. */
const NODE_FILES = ["native/", "cli/", "testing/start_test_servers.ts"];

const MAX_LINES = 350;

/** How many files a folder has at most: beyond that, nobody finds the room by its name. */
const MAX_FILES = 28;

/** A module of the import graph and the URLs of the modules it imports. */
interface Module {
  specifier: string;
  imports: string[];
}

/** Returns the path of a file within lib/; undefined for any other module. */
function pathInLib(specifier: string): string | undefined {
  return /\/lib\/((?:[^/]+\/)+[^/]+\.ts)$/.exec(specifier)?.[1];
}

const folderOf = (path: string) => path.split("/")[0] ?? "";

/** Finds imports that the folders do not allow, one message for each. */
function findForbiddenImports(modules: readonly Module[]): string[] {
  return modules.flatMap(({ specifier, imports }) => {
    if (!specifier.includes("/lib/")) return [];
    const path = pathInLib(specifier);
    const allowed = path && FOLDERS[folderOf(path)];
    if (!path || !allowed) return [`${specifier} is in no folder of lib/`];
    const room = Object.keys(ROOMS).find((one) => path.startsWith(one));
    return imports.flatMap((target) => {
      // Programs on a user's machine; everything else runs in browsers too.
      const isProgram = NODE_FILES.some((one) => path.startsWith(one));
      if (isProgram && target.startsWith("node:")) return [];
      const imported = pathInLib(target);
      if (!imported) return [`${path} must not import ${target}, outside lib/`];
      const folder = folderOf(imported);
      const isAllowed = folder !== folderOf(path)
        ? allowed.includes(folder)
        : !room ||
          [room, ...ROOMS[room]!].some((one) => imported.startsWith(one));
      return isAllowed ? [] : [`${path} must not import ${imported}`];
    });
  });
}

/** Finds circles of imports, one message for the first at each file. */
function findCircles(modules: readonly Module[]): string[] {
  const importsOf = new Map(
    modules.map(({ specifier, imports }) => [specifier, imports]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (specifier: string, trail: readonly string[]) => {
    const start = trail.indexOf(specifier);
    if (start !== -1) {
      const circle = [...trail.slice(start), specifier];
      circles.push(
        `Circle: ${circle.map((one) => pathInLib(one) ?? one).join(" -> ")}`,
      );
    } else if (!done.has(specifier)) {
      for (const target of importsOf.get(specifier) ?? []) {
        visit(target, [...trail, specifier]);
      }
      done.add(specifier);
    }
  };
  for (const { specifier } of modules) {
    if (specifier.includes("/lib/")) visit(specifier, []);
  }
  return circles;
}

/** Reads the module graph of an entry point, as Deno resolves it. */
async function readGraph(path: string): Promise<Module[]> {
  const json = await outputOf(Deno.execPath(), ["info", "--json", path], {
    cwd: fileURLToPath(root),
  });
  interface Dependency {
    specifier: string;
    code?: { specifier?: string };
    type?: { specifier?: string };
  }
  const graph: {
    modules: { specifier: string; dependencies?: Dependency[] }[];
  } = JSON.parse(json);
  return graph.modules.map(({ specifier, dependencies = [] }) => ({
    specifier,
    imports: dependencies.map(({ specifier, code, type }) =>
      code?.specifier ?? type?.specifier ?? specifier
    ),
  }));
}

if (import.meta.main) {
  const graphs = await Promise.all(
    entryPoints.map(({ path }) => readGraph(path)),
  );
  const modules = [
    ...new Map(graphs.flat().map((module) => [module.specifier, module]))
      .values(),
  ];
  const problems = [...findForbiddenImports(modules), ...findCircles(modules)];
  const reached = modules.map(({ specifier }) => specifier);
  let files = 0;
  const filesOf = new Map<string, number>();
  const lib = new URL("lib/", root);
  for await (const path of filesBelow(lib)) {
    files++;
    const folder = path.slice(0, path.lastIndexOf("/"));
    filesOf.set(folder, (filesOf.get(folder) ?? 0) + 1);
    const file = new URL(path, lib);
    if (!reached.includes(file.href)) {
      problems.push(`${path} is not reached from an entry point`);
    }
    const lines = (await Deno.readTextFile(file)).split("\n").length - 1;
    if (lines > MAX_LINES) {
      problems.push(`${path} has ${lines} lines, more than ${MAX_LINES}`);
    }
  }
  for (const [folder, count] of filesOf) {
    if (count <= MAX_FILES) continue;
    problems.push(`${folder}/ has ${count} files, more than ${MAX_FILES}`);
  }
  for (const problem of problems) console.error(problem);
  console.log(`Layers: ${files} files, ${problems.length} problems.`);
  if (problems.length > 0) Deno.exit(1);
}
