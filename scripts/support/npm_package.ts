/** What the npm package consists of: entry points, compiler options, package.json. */

import config from "../../deno.json" with { type: "json" };
import { REPOSITORY } from "../../lib/doctor/report/_repository.ts";

/** An entry point: its name in `exports`, such as `./stores`, and its source. */
interface EntryPoint {
  readonly name: string;
  readonly path: string;
}

/** The entry points of the package, as `exports` of deno.json lists them. */
export const entryPoints: readonly EntryPoint[] = Object
  .entries(config.exports)
  .map(([name, path]) => ({ name, path }));

/** Entry points that also run as programs in Deno, with `import.meta.main`. */
const RUN_BY_DENO = ["./lib/cli/mod.ts"];

/**
 * The entry points of the npm package, which has one program of its own: bundlers for
 * pages and Workers would follow the import of the program to modules of Node.
 */
export const npmEntryPoints: readonly EntryPoint[] = entryPoints.map((
  { name, path },
) => ({
  name,
  path: RUN_BY_DENO.includes(path) ? path.replace(/mod\.ts$/, "api.ts") : path,
}));

/** Returns what a program imports: `@scope/name` for `.`, `@scope/name/sub` for `./sub`. */
export function toSpecifier(packageName: string, entryPoint: string): string {
  return packageName + entryPoint.slice(1);
}

/**
 * The compiler options for dnt. It has its own default for every option that is
 * not given here, and does not read deno.json.
 *
 * dnt's default for `lib` has no DOM, and so neither `fetch` nor `URL`. dnt checks
 * the tests too, and the JSR packages that they import; these use types newer than
 * ES2022, such as `Disposable` and the methods of `Set`. The consumer tests check
 * that `lib/` itself needs ES2022 only.
 */
export const COMPILER_OPTIONS = {
  target: "ES2022",
  lib: ["ESNext", "DOM", "DOM.Iterable"],
} as const;

/**
 * The polyfills that dnt would add for what the sources contain. It looks for names
 * only, such as a method `findLast`, and Node 20 has all three.
 */
export const NO_POLYFILLS = {
  arrayFindLast: false,
  errorCause: false,
  objectHasOwn: false,
} as const;

/** dnt's defaults that change what its type check reports. */
export const DNT_DEFAULTS = {
  strict: true,
  useUnknownInCatchVariables: false,
  isolatedModules: true,
  skipLibCheck: true,
} as const;

/** Returns the repository's URL: {@linkcode REPOSITORY}, or the one of the running workflow. */
export function repositoryUrl(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = environment;
  return REPOSITORY ?? (server && name ? `${server}/${name}` : undefined);
}

/** Returns the members of package.json that are made from the repository's URL. */
function repositoryMembers(url: string | undefined) {
  return url === undefined ? {} : {
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    repository: { type: "git", url: `git+${url}.git` },
  };
}

/**
 * Returns what keeps npm from publishing a package.json with provenance, one
 * message for each problem. npm compares `repository` with the repository of the
 * workflow.
 */
export function findRepositoryProblems(
  packageJson: Readonly<Record<string, unknown>>,
  url: string | undefined,
): string[] {
  if (url === undefined) {
    return [
      "The URL of the repository is unknown: set REPOSITORY in " +
      "lib/doctor/report/_repository.ts, or run this in a workflow",
    ];
  }
  return Object.entries(repositoryMembers(url)).flatMap(([name, expected]) => {
    const [actual, wanted] = [packageJson[name], expected].map((value) =>
      JSON.stringify(value)
    );
    return actual === wanted ? [] : [
      `package.json: "${name}" is ${actual ?? "missing"}, expected ${wanted}`,
    ];
  });
}

/** The program of the package, `npx @oauth-helper/client`: its name and source. */
export const PROGRAM = { name: "oauth-helper", path: "./lib/cli/main.ts" };

/**
 * Returns what an editor or debugger cannot open in a package, one message for each
 * problem: a declaration or a module without a map, or a map to a file that is not among
 * the `files`, which are the texts of the package by their paths.
 */
export function findMapProblems(
  files: ReadonlyMap<string, string>,
): string[] {
  const built = [...files.keys()].filter((path) => /\.(d\.ts|js)$/.test(path));
  return built.flatMap((path) => {
    const map = files.get(`${path}.map`);
    if (map === undefined) return [`${path} has no map`];
    const { sources, sourceRoot = "" } = JSON.parse(map);
    const base = new URL(sourceRoot, `file:///${path}`);
    return (sources as string[]).flatMap((source) => {
      const found = new URL(source, base).pathname.slice(1);
      return files.has(found) ? [] : [`${path}.map: ${found} is missing`];
    });
  });
}

/** Returns the members of package.json that do not depend on how it is built. */
export function packageMembers() {
  return {
    description:
      "Everything an OAuth client needs between a 401 and a 200, for every " +
      "JavaScript runtime",
    // What people search for.
    keywords: [
      "oauth",
      "oauth2",
      "oauth2-client",
      "oauth2.1",
      "openid-connect",
      "oidc",
      "pkce",
      "dpop",
      "mcp",
      "model-context-protocol",
      "authorization-code",
      "device-flow",
      "client-credentials",
      "token",
      "refresh-token",
      "fetch",
      "cli",
      "login",
      "typescript",
      "deno",
      "bun",
      "cloudflare-workers",
    ],
    license: config.license,
    sideEffects: false,
    // From these on, `require` loads ES modules.
    engines: { node: "^20.19.0 || >=22.12.0" },
    ...repositoryMembers(repositoryUrl(Deno.env.toObject())),
  };
}

/** What dnt writes into package.json, as far as it is changed. */
interface BuiltPackageJson {
  readonly [member: string]: unknown;
  readonly exports: Readonly<Record<string, { import: string }>>;
  readonly bin: Readonly<Record<string, string>>;
}

/**
 * Returns the package.json to publish, from the one that dnt writes:
 * - with `type`, so that nothing has to guess the format of a file beside the folder
 *   `esm/`, which has a package.json of its own;
 * - with exports for `require` as well, as dnt names the condition `import` alone;
 * - with the declarations as the first condition, as TypeScript takes the first one
 *   that matches;
 * - with an export of package.json, which tools read;
 * - with paths of programs as npm writes them: it "corrects" others at publication;
 * - without the script for dnt's tests, which are not published.
 */
export function finishPackageJson(
  packageJson: BuiltPackageJson,
): Record<string, unknown> {
  const { exports, bin, scripts: _, ...members } = packageJson;
  const modules = Object.entries(exports).map(([name, { import: path }]) => {
    const types = path.replace(/\.js$/, ".d.ts");
    return [name, { types, default: path }] as const;
  });
  const programs = Object.entries(bin).map(([name, path]) =>
    [name, path.replace(/^\.\//, "")] as const
  );
  return {
    ...members,
    type: "module",
    exports: {
      ...Object.fromEntries(modules),
      "./package.json": "./package.json",
    },
    bin: Object.fromEntries(programs),
  };
}
