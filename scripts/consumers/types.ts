/** The consumers that only inspect the package: TypeScript, publint, attw. */

import {
  attempt,
  copyFiles,
  type IContext,
  installTool,
  packages,
} from "./context.ts";
import { install, run } from "../support/process.ts";
import type { IRow } from "./table.ts";

interface IProject {
  readonly name: string;
  /** Name of the copy of types.ts; `.cts` is CommonJS. */
  readonly file: string;
  readonly options: Record<string, unknown>;
}

const BROWSER = { lib: ["ES2022", "DOM"], types: [] };
const NODE = { lib: ["ES2022"], types: ["node"] };
const NODE16 = { module: "node16", moduleResolution: "node16" };
const BUNDLER = { module: "esnext", moduleResolution: "bundler" };

/** Resolves without `exports`: the sub paths need `typesVersions`. */
const NODE10 = { module: "commonjs", moduleResolution: "node10" };

/**
 * Only `nodenext` allows CommonJS to import an ES module. TypeScript 7 has no
 * `node10`, which is also called `node`.
 */
function projectsFor(hasCommonJs: boolean, typescript: string): IProject[] {
  const commonJs = hasCommonJs
    ? NODE16
    : { module: "nodenext", moduleResolution: "nodenext" };
  return [
    { name: "node16", file: "types.mts", options: { ...NODE16, ...BROWSER } },
    {
      name: `${commonJs.module}, CommonJS`,
      file: "types.cts",
      options: { ...commonJs, ...BROWSER },
    },
    { name: "bundler", file: "types.ts", options: { ...BUNDLER, ...BROWSER } },
    {
      name: "node16, no DOM",
      file: "types.mts",
      options: { ...NODE16, ...NODE },
    },
    ...hasCommonJs && typescript.startsWith("5.")
      ? [{
        name: "node10",
        file: "types.ts",
        options: { ...NODE10, ...BROWSER },
      }]
      : [],
  ];
}

async function typeCheck(
  context: IContext,
  project: IProject,
  directory: string,
  version: string,
): Promise<IRow> {
  const tool = await installTool(context, "typescript", version);
  const config = `tsconfig.${project.name.replace(/\W+/g, "_")}.json`;
  await Deno.writeTextFile(
    `${directory}/${config}`,
    JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        noEmit: true,
        ...project.options,
      },
      files: [project.file],
    }),
  );
  const { code, stdout, stderr } = await run(
    `${tool}/node_modules/.bin/tsc`,
    ["-p", config],
    { cwd: directory },
  );
  return {
    runtime: "TypeScript",
    version,
    loaded: project.name,
    failure: code === 0 ? undefined : `${stdout}${stderr}`,
  };
}

/** Type-checks a consumer with every resolution and every TypeScript. */
export async function runTypeScript(context: IContext): Promise<IRow[]> {
  const directory = `${context.temporary}/types`;
  const { name, tarball } = context.package;
  await install(directory, {
    [name]: `file:${tarball}`,
    "@types/node": packages["@types/node"],
  });
  await copyFiles(directory, "types.ts");
  for (const extension of ["mts", "cts"]) {
    await Deno.copyFile(
      `${directory}/types.ts`,
      `${directory}/types.${extension}`,
    );
  }
  const rows: IRow[] = [];
  for (const version of packages.typescript) {
    for (const project of projectsFor(context.package.hasCommonJs, version)) {
      rows.push(
        ...await attempt(
          "TypeScript",
          version,
          project.name,
          () => typeCheck(context, project, directory, version),
        ),
      );
    }
  }
  return rows;
}

/** Runs publint; suggestions and warnings count as errors. */
export async function runPublint(context: IContext): Promise<IRow[]> {
  const version = packages.publint;
  return await attempt("publint", version, "strict", async () => {
    const tool = await installTool(context, "publint", version);
    const { code, stdout, stderr } = await run(
      `${tool}/node_modules/.bin/publint`,
      ["run", context.package.tarball, "--strict"],
      { cwd: tool },
    );
    console.log(`\n${stdout.trim()}`);
    return {
      runtime: "publint",
      version,
      loaded: "strict",
      failure: code === 0 ? undefined : stdout + stderr,
    };
  });
}

/**
 * Runs attw ("are the types wrong?"), also for `node10`, which does not support
 * `exports`. A package without CommonJS is checked with the profile for ES modules.
 */
export async function runAttw(context: IContext): Promise<IRow[]> {
  const version = packages["@arethetypeswrong/cli"];
  const profile = context.package.hasCommonJs ? "strict" : "esm-only";
  return await attempt("attw", version, profile, async () => {
    const tool = await installTool(context, "@arethetypeswrong/cli", version);
    const { code, stdout, stderr } = await run(
      `${tool}/node_modules/.bin/attw`,
      [
        context.package.tarball,
        "--profile",
        profile,
        "--no-emoji",
        "--format",
        "ascii",
      ],
      { cwd: tool },
    );
    console.log(`\n${stdout.trim()}`);
    return {
      runtime: "attw",
      version,
      loaded: `profile ${profile}`,
      failure: code === 0 ? undefined : stdout + stderr,
    };
  });
}
