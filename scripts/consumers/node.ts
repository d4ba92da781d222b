/** The consumers in Node and Bun: by `import` and by `require`. */

import {
  attempt,
  copyFiles,
  failureOf,
  type IContext,
  installTool,
  packages,
  parseOutcome,
} from "./context.ts";
import { root } from "../support/deno.ts";
import { install, outputOf, run } from "../support/process.ts";
import type { IRow } from "./table.ts";

const NODE_PACKAGE = `node-${
  Deno.build.os === "windows" ? "win" : Deno.build.os
}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;

/** Returns the `node` on the path if it has this major version, otherwise npm's. */
export async function findNode(
  context: Pick<IContext, "temporary">,
  version: string,
): Promise<string> {
  const [major] = version.split(".");
  const onPath = await outputOf("node", ["--version"], {
    cwd: context.temporary,
  }).catch(() => "");
  if (onPath.startsWith(`v${major}.`)) return "node";
  const tool = await installTool(context, NODE_PACKAGE, version);
  return `${tool}/node_modules/${NODE_PACKAGE}/bin/node`;
}

/** Returns the `bun` from npm. */
export async function findBun(
  context: Pick<IContext, "temporary">,
): Promise<string> {
  const tool = await installTool(context, "bun", packages.bun);
  return `${tool}/node_modules/bun/bin/bun.exe`;
}

/** The example for Node, without syntax of TypeScript. */
const EXAMPLE = new URL("tests/examples/command_line.ts", root);

/** Runs the example with a URL that nothing listens on; it ends with one line. */
async function runExample(
  runtime: string,
  version: string,
  program: string,
  project: string,
): Promise<IRow> {
  const file = "command_line.mjs";
  await Deno.copyFile(EXAMPLE, `${project}/${file}`);
  const args = [file, "http://127.0.0.1:1/"];
  const { code, stdout, stderr } = await run(program, args, { cwd: project });
  const isLine = /^\w*Error: .+\n$/.test(stderr) && stdout === "";
  const failure = code === 1 && isLine
    ? undefined
    : `${file} ended with ${code}: ${stdout}${stderr}`;
  return { runtime, version, loaded: "command_line.ts", failure };
}

/** Loads the installed package of a project by `import` and by `require`. */
async function runBoth(
  runtime: string,
  program: string,
  project: string,
  context: IContext,
): Promise<IRow[]> {
  const version = (await outputOf(program, ["--version"], { cwd: project }))
    .trim().replace(/^v/, "");
  const rows: IRow[] = [];
  for (const way of ["import", "require"] as const) {
    const file = way === "import" ? "import.mjs" : "require.cjs";
    rows.push(
      ...await attempt(runtime, version, way, async () => {
        const printed = await outputOf(program, [file, context.server], {
          cwd: project,
        });
        const outcome = parseOutcome(printed);
        const kind = outcome.kind ?? "ESM";
        return {
          runtime,
          version,
          loaded: `${way}, ${kind}`,
          importMs: outcome.importMs,
          failure: kind === "ESM" && way === "require" &&
              context.package.hasCommonJs && runtime === "Node"
            ? "require() loaded ESM, although the package contains CommonJS"
            : failureOf(outcome),
        };
      }),
    );
  }
  rows.push(await runExample(runtime, version, program, project));
  return rows;
}

/**
 * Runs the program of the package, as `npx` does: its version, and its exit code where a
 * person would have to sign in.
 */
async function runProgram(
  runtime: string,
  program: string,
  project: string,
  context: IContext,
): Promise<IRow[]> {
  const packed = context.package.version;
  const version = (await outputOf(program, ["--version"], { cwd: project }))
    .trim().replace(/^v/, "");
  const bin = await Deno.realPath(`${project}/node_modules/.bin/oauth-helper`);
  const cwd = project;
  return await attempt(runtime, version, "oauth-helper", async () => {
    const printed = await outputOf(program, [bin, "--version"], { cwd });
    const url = "https://api.example/mcp";
    const { code, stderr } = await run(
      program,
      [bin, "token", "--account", crypto.randomUUID(), url],
      { cwd },
    );
    const failure = printed.trim() !== packed
      ? `The program has the version ${printed}`
      : code !== 3
      ? `Exit code ${code}, expected 3: ${stderr}`
      : undefined;
    return { runtime, version, loaded: "oauth-helper", failure };
  });
}

/** Runs the scenario in every version of Node. */
export async function runNode(context: IContext): Promise<IRow[]> {
  const project = `${context.temporary}/node`;
  const { name, tarball } = context.package;
  await install(project, { [name]: `file:${tarball}` });
  await copyFiles(project, "scenario.js", "import.mjs", "require.cjs");
  const rows: IRow[] = [];
  for (const version of packages.node) {
    rows.push(
      ...await attempt("Node", version, "-", async () => {
        const program = await findNode(context, version);
        return [
          ...await runBoth("Node", program, project, context),
          ...await runProgram("Node", program, project, context),
        ];
      }),
    );
  }
  return rows;
}

/** Runs the scenario in Bun, which installs the package itself. */
export async function runBun(context: IContext): Promise<IRow[]> {
  return await attempt("Bun", packages.bun, "-", async () => {
    const program = await findBun(context);
    const project = `${context.temporary}/bun`;
    const { name, tarball } = context.package;
    await copyFiles(project, "scenario.js", "import.mjs", "require.cjs");
    await Deno.writeTextFile(
      `${project}/package.json`,
      JSON.stringify({ dependencies: { [name]: `file:${tarball}` } }),
    );
    await outputOf(program, ["install"], { cwd: project });
    return [
      ...await runBoth("Bun", program, project, context),
      ...await runProgram("Bun", program, project, context),
    ];
  });
}
