/**
 * The portable unit tests, run in every Node and type-checked with the options
 * that dnt uses: what the build with dnt tests, as far as is possible without dnt.
 * They test the sources, not the package.
 */

import { stripVTControlCharacters } from "node:util";
import * as esbuild from "esbuild";
import { bundle } from "../../tests/support/bundle.ts";
import config from "../../deno.json" with { type: "json" };
import all from "../import_map.json" with { type: "json" };
import map from "../npm_only/import_map.json" with { type: "json" };
import {
  COMPILER_OPTIONS,
  DNT_DEFAULTS,
  npmEntryPoints,
} from "../support/npm_package.ts";
import { findPortableTests } from "../support/portable_tests.ts";
import { attempt, type Context, packages, rowsOf } from "./context.ts";
import { findNode } from "./node.ts";
import { copySources } from "../support/package.ts";
import { copyFromRoot, install, outputOf, run } from "../support/process.ts";
import type { Row } from "./table.ts";
import { typeCheck } from "./types.ts";

/** A copy of the sources, with the tests bundled and their packages installed. */
interface Project {
  readonly directory: string;
  /** Paths of the portable tests within `tests/`. */
  readonly tests: readonly string[];
  readonly file: string;
}

/** The npm packages that the tests import, for TypeScript. */
const DEPENDENCIES = ["fast-check", "jose"] as const;

/** Declarations of what only Deno has, and of the packages that have none. */
const DECLARATIONS = `declare namespace Deno {
  function test(name: string, fn: () => void | Promise<void>): void;
}
interface ImportMeta {
  readonly main?: boolean;
}
declare module "npm:*";
`;

/** Bundles tests as one ES module, in which `node:test` replaces `Deno.test`. */
async function bundleTests(
  directory: string,
  tests: readonly string[],
): Promise<string> {
  const entry = `${directory}/all.ts`;
  const file = `${directory}/all.mjs`;
  const imports = tests.map((test) => `import "./tests/${test}";\n`);
  await Deno.writeTextFile(entry, imports.join(""));
  await bundle(entry, file, []);
  const { code } = esbuild.transformSync(await Deno.readTextFile(file), {
    target: "es2022",
    define: { "Deno.test": "nodeTest" },
    banner: 'import { test as nodeTest } from "node:test";',
  });
  await Deno.writeTextFile(file, code);
  return file;
}

/** Creates the project, with the package versions of import_map.json. */
async function prepare({ temporary }: Context): Promise<Project> {
  const directory = await copySources(`${temporary}/unit_tests`);
  await copyFromRoot("tests", directory);
  await copyFromRoot("scripts/npm_only", directory);
  const copies = new URL(`file://${directory}/tests/`);
  const tests = await findPortableTests(copies);
  const file = await bundleTests(directory, tests);
  const versions = DEPENDENCIES.map((name) =>
    [name, all.imports[name].replace(/^.*@/, "")] as const
  );
  await install(directory, {
    ...Object.fromEntries(versions),
    "@types/node": packages["@types/node"],
  });
  return { directory, tests, file };
}

/** Runs the tests with this `node` program. */
async function runIn(
  program: string,
  { directory: cwd, file }: Project,
): Promise<Partial<Row>> {
  const version = await outputOf(program, ["--version"], { cwd });
  // Without a timeout for each test, the report would not name one that hangs.
  const args = ["--test-reporter=spec", "--test-timeout=15000", file];
  const { code, stdout, stderr } = await run(program, args, {
    cwd,
    seconds: 150,
  });
  const report = stripVTControlCharacters(stdout);
  const passed = Number(/^\S+ pass (\d+)$/m.exec(report)?.[1] ?? 0);
  return {
    version: version.trim().replace(/^v/, ""),
    loaded: `unit tests, ${passed}`,
    failure: code === 0 && passed > 0
      ? undefined
      // The end of a run that was stopped has no such section.
      : `${stderr}${report.split("failing tests:")[1] ?? report.slice(-800)}`,
  };
}

/** The entries of `import_map.json` that are files, as TypeScript's `paths`. */
function paths(): Record<string, string[]> {
  const files = Object.entries(map.imports).filter(([, target]) =>
    target.startsWith(".")
  );
  return Object.fromEntries(
    files.map(([name, target]) => {
      const { pathname } = new URL(target, "file:///scripts/npm_only/");
      return [name, [`.${pathname}`]];
    }),
  );
}

/** Files to type-check, and the compiler options for them. */
interface Check {
  readonly loaded: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly files: readonly string[];
}

/** The entry points that have something for programs alone, with modules of Node. */
const PROGRAMS = ["./native", "./cli", "./testing"];

/**
 * The tests with the options of dnt; and the library alone with the options of
 * deno.json and the types of ES2022, because dnt's options would allow newer ones. Only
 * the entry points for programs have the types of Node.
 */
function checksFor({ tests }: Project): Check[] {
  const options = {
    ...config.compilerOptions,
    target: "ES2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    skipLibCheck: true,
  };
  const pathsOf = (arePrograms: boolean) =>
    npmEntryPoints.filter(({ name }) => PROGRAMS.includes(name) === arePrograms)
      .map(({ path }) => path);
  const asDnt = {
    options: { ...DNT_DEFAULTS, ...COMPILER_OPTIONS, types: ["node"] },
    files: tests.map((path) => `tests/${path}`),
  };
  return [
    { ...asDnt, loaded: "unit tests, as dnt" },
    {
      loaded: "sources, ES2022",
      options: { ...options, types: [] },
      files: pathsOf(false),
    },
    {
      loaded: "sources for programs, ES2022",
      options: { ...options, types: ["node"] },
      files: pathsOf(true),
    },
  ];
}

/** Type-checks with the first TypeScript only; consumers never compile the tests. */
async function runTypeChecks(
  context: Context,
  project: Project,
): Promise<Row[]> {
  const { directory } = project;
  const [version = ""] = packages.typescript;
  await Deno.writeTextFile(`${directory}/declarations.d.ts`, DECLARATIONS);
  return await rowsOf(
    checksFor(project),
    ({ loaded, options, files }) =>
      typeCheck(context, directory, [version, loaded], {
        compilerOptions: {
          module: "esnext",
          moduleResolution: "bundler",
          ...options,
          allowImportingTsExtensions: true,
          noEmit: true,
          paths: paths(),
        },
        files: ["declarations.d.ts", ...files],
      }),
  );
}

/** Runs the portable tests in every Node, and type-checks them. */
export async function runUnitTests(
  context: Context,
): Promise<readonly Row[]> {
  return await attempt("Node", "-", "unit tests", async () => {
    const project = await prepare(context);
    const rows = await Promise.all([
      // In one version after another: some use a fixed port.
      rowsOf(
        packages.node,
        (version) =>
          attempt("Node", version, "unit tests", async () => {
            return await runIn(await findNode(context, version), project);
          }),
      ),
      runTypeChecks(context, project),
    ]);
    return rows.flat();
  });
}
