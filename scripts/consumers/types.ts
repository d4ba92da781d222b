/** The consumers that only inspect the package: TypeScript, publint, attw. */

import {
  attempt,
  type Context,
  copyFiles,
  packages,
  rowsOf,
  runTool,
} from "./context.ts";
import { install } from "../support/process.ts";
import type { Row } from "./table.ts";

interface Project {
  readonly name: string;
  /** Name of the copy of types.ts; `.cts` is CommonJS. */
  readonly file: string;
  readonly options: Record<string, unknown>;
}

const BROWSER = { lib: ["ES2022", "DOM"], types: [] };
const NODE = { lib: ["ES2022"], types: ["node"] };
const NODE16 = { module: "node16", moduleResolution: "node16" };
const BUNDLER = { module: "esnext", moduleResolution: "bundler" };

/** Allows CommonJS to import an ES module, unlike `node16`. */
const NODENEXT = { module: "nodenext", moduleResolution: "nodenext" };

const PROJECTS: readonly Project[] = [
  { name: "node16", file: "types.mts", options: { ...NODE16, ...BROWSER } },
  {
    name: "nodenext, CommonJS",
    file: "types.cts",
    options: { ...NODENEXT, ...BROWSER },
  },
  { name: "bundler", file: "types.ts", options: { ...BUNDLER, ...BROWSER } },
  {
    name: "node16, no DOM",
    file: "types.mts",
    options: { ...NODE16, ...NODE },
  },
];

const OPTIONS = {
  target: "ES2022",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
};

/** Type-checks files of a directory; returns the row of it. */
export function typeCheck(
  context: Context,
  directory: string,
  [version, loaded]: readonly [version: string, loaded: string],
  config: {
    compilerOptions: Record<string, unknown>;
    files: readonly string[];
  },
): Promise<readonly Row[]> {
  return attempt("TypeScript", version, loaded, async () => {
    await Deno.writeTextFile(
      `${directory}/tsconfig.json`,
      JSON.stringify(config),
    );
    const tool = ["typescript", version, "tsc"] as [string, string, string];
    const args = ["-p", "tsconfig.json"];
    const { failure } = await runTool(context, tool, args, directory);
    return { failure };
  });
}

/** Type-checks a consumer with every resolution and every TypeScript. */
export async function runTypeScript(context: Context): Promise<Row[]> {
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
  const projects = packages.typescript.flatMap((version) =>
    PROJECTS.map((project) => ({ version, ...project }))
  );
  return await rowsOf(
    projects,
    ({ version, name, file, options }) =>
      typeCheck(context, directory, [version, name], {
        compilerOptions: { ...OPTIONS, ...options },
        files: [file],
      }),
  );
}

/**
 * Runs publint, whose suggestions and warnings count as errors, and attw ("are the types
 * wrong?") with its profile for ES modules.
 */
export async function runLinters(context: Context): Promise<Row[]> {
  const { tarball } = context.package;
  const profile = "esm-only";
  const attw = ["--profile", profile, "--no-emoji", "--format", "ascii"];
  const linters = [
    ["publint", "publint", "strict", ["run", tarball, "--strict"]],
    [
      "attw",
      "@arethetypeswrong/cli",
      `profile ${profile}`,
      [tarball, ...attw],
    ],
  ] as const;
  return await rowsOf(linters, ([program, name, loaded, args]) => {
    const version = packages[name];
    return attempt(program, version, loaded, async () => {
      const tool = [name, version, program] as [string, string, string];
      const { printed, failure } = await runTool(context, tool, args);
      console.log(`\n${printed.trim()}`);
      return { failure };
    });
  });
}
