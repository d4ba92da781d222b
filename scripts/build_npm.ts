/**
 * Builds the npm package with dnt into `./npm`: ES modules with their declarations,
 * type-checked and tested in Node.
 *
 * `--version 1.2.3` is the version of the package; the default is the one in
 * `deno.json`.
 *
 * `--check-repository` builds nothing. It checks that `./npm/package.json` contains the
 * repository, without which npm refuses to publish with provenance.
 *
 * dnt is published on JSR only. Where it cannot be loaded, `deno task pack` packs the
 * same sources as ESM; see `.github/CONTRIBUTING.md`.
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import config from "../deno.json" with { type: "json" };
import { findKeptImports } from "./support/bundle.ts";
import { root } from "./support/deno.ts";
import { joinModules } from "./support/joined_modules.ts";
import {
  COMPILER_OPTIONS,
  findMapProblems,
  findRepositoryProblems,
  finishPackageJson,
  NO_POLYFILLS,
  npmEntryPoints,
  packageMembers,
  PROGRAM,
  repositoryUrl,
} from "./support/npm_package.ts";
import { npmPack } from "./support/package.ts";
import {
  declarationsBelow,
  writeDocuments,
} from "./support/package_documents.ts";
import {
  findPortableTests,
  PORTABLE_FOLDER,
  testPattern,
} from "./support/portable_tests.ts";
import { outputOf, temporaryDirectory } from "./support/process.ts";

/** The part of dnt that is used here, so that this file is checked without dnt. */
interface Dnt {
  emptyDir(directory: string): Promise<void>;
  build(options: Record<string, unknown>): Promise<void>;
}

/** Fails if dnt added files to what is published. */
async function requireOnlySources(): Promise<void> {
  for await (const { name } of Deno.readDir(new URL("npm/esm", root))) {
    // What its tests need is not published.
    if (!name.startsWith("_dnt.") || name.startsWith("_dnt.test_")) continue;
    throw new Error(
      `dnt added npm/esm/${name} to the package, expected the sources only. If ` +
        "it is a polyfill that no supported Node needs, add its name to " +
        "NO_POLYFILLS in scripts/support/npm_package.ts",
    );
  }
}

/** Fails if the package, as npm packs it, has declarations without their sources. */
async function requireSources(): Promise<void> {
  await using folder = await temporaryDirectory("npm_");
  const directory = folder.path;
  const tarball = await npmPack(fileURLToPath(new URL("npm", root)), directory);
  await outputOf("tar", ["-xzf", tarball], { cwd: directory });
  const packed = await outputOf("tar", ["-tzf", tarball], { cwd: directory });
  const files = new Map<string, string>();
  for (const path of packed.split("\n").filter((path) => path !== "")) {
    files.set(
      path.replace(/^package\//, ""),
      await Deno.readTextFile(`${directory}/${path}`),
    );
  }
  const problems = findMapProblems(files);
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

/**
 * Completes what dnt wrote: `esm/` has a package.json without `sideEffects`, and
 * bundlers read the one that is nearest to a file.
 */
async function finishPackageJsons(): Promise<void> {
  const change = async (path: string, finish: typeof finishPackageJson) => {
    const json = finish(JSON.parse(await Deno.readTextFile(path)));
    await Deno.writeTextFile(path, `${JSON.stringify(json, null, 2)}\n`);
  };
  await change("npm/package.json", finishPackageJson);
  await change(
    "npm/esm/package.json",
    (json) => ({ ...json, sideEffects: false }),
  );
}

async function build(dnt: Dnt, version: string): Promise<void> {
  const tests = await findPortableTests(new URL("tests/", root));
  Deno.chdir(root);
  await dnt.emptyDir("./npm");
  await dnt.build({
    entryPoints: [...npmEntryPoints, { kind: "bin", ...PROGRAM }],
    outDir: "./npm",
    // The tests need the packages that it names.
    importMap: "scripts/import_map.json",
    shims: { deno: { test: "dev" } },
    declaration: "inline",
    // With the sources beside them, so that "go to definition" shows code.
    declarationMap: true,
    typeCheck: "single",
    esModule: true,
    // No CommonJS: `require` loads ES modules in every Node that is supported.
    scriptModule: false,
    test: true,
    rootTestDir: `./tests/${PORTABLE_FOLDER.slice(0, -1)}`,
    testPattern: testPattern(tests),
    compilerOptions: { ...COMPILER_OPTIONS, sourceMap: true },
    // From dnt 0.43 on.
    polyfills: NO_POLYFILLS,
    // Without `files`: it would take precedence over the .npmignore in which dnt
    // excludes its tests.
    package: {
      name: config.name,
      version,
      ...packageMembers(),
    },
  });
  // Only now, as the tests import single modules.
  await finish();
}

/** Makes of what dnt built and tested what is published, and checks it. */
async function finish(): Promise<void> {
  await joinModules(fileURLToPath(new URL("npm/esm", root)));
  const url = repositoryUrl(Deno.env.toObject());
  await writeDocuments("npm", { moduleAt: declarationsBelow("esm/"), url });
  await requireOnlySources();
  await finishPackageJsons();
  await requireSources();
  // Bundlers read `sideEffects`.
  const kept = findKeptImports(
    config.name,
    fileURLToPath(new URL("npm", root)),
  );
  if (kept.length > 0) throw new Error(kept.join("\n"));
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      version: { type: "string", default: config.version },
      "check-repository": { type: "boolean" },
    },
  });
  if (values["check-repository"]) {
    const file = new URL("npm/package.json", root);
    const problems = findRepositoryProblems(
      JSON.parse(await Deno.readTextFile(file)),
      repositoryUrl(Deno.env.toObject()),
    );
    for (const problem of problems) console.error(problem);
    Deno.exit(problems.length === 0 ? 0 : 1);
  }
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(values.version)) {
    console.error(`--version must be like 1.2.3, got "${values.version}"`);
    Deno.exit(1);
  }
  let dnt: Dnt;
  try {
    // In a variable, so that the type check does not load it from JSR.
    const name = "@deno/dnt";
    dnt = await import(name);
  } catch (failure) {
    console.error(
      `Failed to load @deno/dnt: ${String(failure).trim()}\n` +
        "Without dnt, `deno task pack` packs the same sources as ESM.",
    );
    Deno.exit(2);
  }
  await build(dnt, values.version);
}
