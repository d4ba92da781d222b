/**
 * The portable unit tests in every Node, and type-checked as dnt does it: what
 * the build with dnt tests, as far as it goes without dnt. They run on the
 * sources, not on the package.
 */

import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import map from "../npm_only/import_map.json" with { type: "json" };
import {
  findPortableTests,
  LIBRARY_TYPES,
  nodeHasTransfer,
} from "../build_npm.ts";
import { attempt, type IContext, installTool, packages } from "./context.ts";
import { findNode } from "./node.ts";
import { copySources } from "../support/package.ts";
import { install, outputOf, run } from "../support/process.ts";
import type { IRow } from "./table.ts";
import { root } from "../support/deno.ts";
import { bundleTests, type IBundle } from "./unit_test_bundle.ts";
import { judgeTap } from "./unit_test_report.ts";

/** A copy of the sources with the tests bundled and their packages installed. */
interface IProject {
  readonly directory: string;
  /** The portable tests, by the names of their files. */
  readonly tests: readonly string[];
  /** For a Node with `ArrayBuffer.prototype.transfer`. */
  readonly all: IBundle;
  /** For a Node without it. */
  readonly withoutTransfer: IBundle;
}

/** What the type check knows of Deno and of the packages without declarations. */
const DECLARATIONS = `declare namespace Deno {
  function test(name: string, fn: () => void | Promise<void>): void;
}
declare module "npm:*";
`;

/** Makes the project; its packages have the versions that `npm_only` names. */
async function prepare({ temporary }: IContext): Promise<IProject> {
  const directory = await copySources(`${temporary}/unit_tests`);
  await outputOf("cp", ["-r", "tests", directory], {
    cwd: fileURLToPath(root),
  });
  await Deno.mkdir(`${directory}/scripts`);
  await outputOf("cp", ["-r", "scripts/npm_only", `${directory}/scripts`], {
    cwd: fileURLToPath(root),
  });
  const copies = new URL(`file://${directory}/tests/`);
  const tests = await findPortableTests(copies, true);
  const all = await bundleTests(directory, "all", tests);
  const withoutTransfer = await bundleTests(
    directory,
    "without_transfer",
    await findPortableTests(copies, false),
  );
  await install(directory, {
    ...all.dependencies,
    "@types/node": packages["@types/node"],
  });
  return { directory, tests, all, withoutTransfer };
}

/** Runs the tests in a process of this Node. */
async function runIn(program: string, project: IProject): Promise<IRow> {
  const cwd = project.directory;
  const version = await outputOf(program, ["--version"], { cwd });
  const { file } = await nodeHasTransfer(program)
    ? project.all
    : project.withoutTransfer;
  // With a limit of its own, a test that hangs is named in the report.
  const args = ["--test-reporter=tap", "--test-timeout=15000", file];
  const { passed, failure } = judgeTap(await run(program, args, { cwd }));
  return {
    runtime: "Node",
    version: version.trim().replace(/^v/, ""),
    loaded: `unit tests, ${passed}`,
    failure,
  };
}

/** Where TypeScript finds what `import_map.json` maps onto files. */
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

/** What is type-checked, and by which types. */
interface ICheck {
  readonly loaded: string;
  readonly lib: readonly string[];
  readonly types: readonly string[];
  readonly files: readonly string[];
}

/**
 * The tests with the library types that dnt is given; and the library alone with
 * those of ES2022, because the former would let it use newer ones.
 */
function checksFor({ tests }: IProject): ICheck[] {
  return [
    {
      loaded: "unit tests",
      lib: LIBRARY_TYPES,
      types: ["node"],
      files: tests.map((name) => `tests/${name}`),
    },
    {
      loaded: "sources, ES2022",
      lib: ["ES2022", "DOM", "DOM.Iterable"],
      types: [],
      files: ["mod.ts"],
    },
  ];
}

/** Type-checks with this TypeScript and the options of the build with dnt. */
async function typeCheck(
  context: IContext,
  version: string,
  { directory }: IProject,
  { loaded, files, ...options }: ICheck,
): Promise<IRow> {
  const tool = await installTool(context, "typescript", version);
  const compilerOptions = {
    ...config.compilerOptions,
    ...options,
    target: "ES2022",
    module: "esnext",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    paths: paths(),
  };
  await Deno.writeTextFile(`${directory}/declarations.d.ts`, DECLARATIONS);
  await Deno.writeTextFile(
    `${directory}/tsconfig.json`,
    JSON.stringify({ compilerOptions, files: ["declarations.d.ts", ...files] }),
  );
  const { code, stdout, stderr } = await run(
    `${tool}/node_modules/.bin/tsc`,
    ["-p", "tsconfig.json"],
    { cwd: directory },
  );
  const failure = code === 0 ? undefined : `${stdout}${stderr}`;
  return { runtime: "TypeScript", version, loaded, failure };
}

/** Every version of Node. */
async function runInEveryNode(
  context: IContext,
  project: IProject,
): Promise<IRow[]> {
  const rows: IRow[] = [];
  for (const version of packages.node) {
    rows.push(
      ...await attempt("Node", version, "unit tests", async () => {
        return await runIn(await findNode(context, version), project);
      }),
    );
  }
  return rows;
}

/** By the first TypeScript only: nobody else's compiler ever sees the tests. */
async function runTypeChecks(
  context: IContext,
  project: IProject,
): Promise<IRow[]> {
  const [version = ""] = packages.typescript;
  const rows: IRow[] = [];
  for (const check of checksFor(project)) {
    rows.push(
      ...await attempt(
        "TypeScript",
        version,
        check.loaded,
        () => typeCheck(context, version, project, check),
      ),
    );
  }
  return rows;
}

/** The portable tests in every Node, and in the eyes of TypeScript. */
export async function runUnitTests(context: IContext): Promise<IRow[]> {
  return await attempt("Node", "-", "unit tests", async () => {
    const project = await prepare(context);
    return [
      ...await runInEveryNode(context, project),
      ...await runTypeChecks(context, project),
    ];
  });
}
