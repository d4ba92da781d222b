/** The consumers in Node and Bun: by `import` and by `require`. */

import {
  attempt,
  type Context,
  copyFiles,
  installTool,
  judge,
  packages,
  parseOutcome,
  rowsOf,
} from "./context.ts";
import { root } from "../support/deno.ts";
import { install, outputOf, run } from "../support/process.ts";
import type { Row } from "./table.ts";

const NODE_PACKAGE = `node-${
  Deno.build.os === "windows" ? "win" : Deno.build.os
}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;

/** Returns the `node` on the path if it has this version, otherwise npm's. */
export async function findNode(
  context: Pick<Context, "temporary">,
  version: string,
): Promise<string> {
  const onPath = await outputOf("node", ["--version"], {
    cwd: context.temporary,
  }).catch(() => "");
  if (onPath.trim() === `v${version}`) return "node";
  const tool = await installTool(context, NODE_PACKAGE, version);
  return `${tool}/node_modules/${NODE_PACKAGE}/bin/node`;
}

/** Returns the `bun` from npm. */
export async function findBun(
  context: Pick<Context, "temporary">,
): Promise<string> {
  const tool = await installTool(context, "bun", packages.bun);
  return `${tool}/node_modules/bun/bin/bun.exe`;
}

/** The example for Node, without syntax of TypeScript. */
const EXAMPLE = new URL("tests/examples/command_line.ts", root);

/** Runs the example with a URL that nothing listens on; it ends with one line. */
async function runExample(
  program: string,
  cwd: string,
): Promise<Partial<Row>> {
  const file = "command_line.mjs";
  await Deno.copyFile(EXAMPLE, `${cwd}/${file}`);
  const args = [file, "http://127.0.0.1:1/"];
  const { code, stdout, stderr } = await run(program, args, { cwd });
  const isLine = /^\w*Error: .+\n$/.test(stderr) && stdout === "";
  return code === 1 && isLine
    ? {}
    : { failure: `${file} ended with ${code}: ${stdout}${stderr}` };
}

/**
 * Runs the program of the package, as `npx` does: its version, and its exit code where a
 * person would have to sign in.
 */
async function runProgram(
  program: string,
  cwd: string,
  { package: { version } }: Context,
): Promise<Partial<Row>> {
  const bin = await Deno.realPath(`${cwd}/node_modules/.bin/oauth-helper`);
  const printed = await outputOf(program, [bin, "--version"], { cwd });
  if (printed.trim() !== version) {
    return { failure: `The program has the version ${printed}` };
  }
  const url = "https://api.example/mcp";
  const args = [bin, "token", "--account", crypto.randomUUID(), url];
  const { code, stderr } = await run(program, args, { cwd });
  return code === 3
    ? {}
    : { failure: `Exit code ${code}, expected 3: ${stderr}` };
}

/**
 * Loads the installed package of a project by `import` and by `require`, and runs the
 * example and the program.
 */
async function runAll(
  runtime: string,
  program: string,
  cwd: string,
  context: Context,
): Promise<Row[]> {
  const printed = await outputOf(program, ["--version"], { cwd });
  const version = printed.trim().replace(/^v/, "");
  const load = async (file: string): Promise<Partial<Row>> => {
    const args = [file, context.server];
    const outcome = parseOutcome(await outputOf(program, args, { cwd }));
    return judge(outcome);
  };
  const tasks = {
    import: () => load("import.mjs"),
    require: () => load("require.cjs"),
    "command_line.ts": () => runExample(program, cwd),
    "oauth-helper": () => runProgram(program, cwd, context),
  };
  return await rowsOf(
    Object.entries(tasks),
    ([loaded, task]) => attempt(runtime, version, loaded, task),
  );
}

/** Runs the scenario in every version of Node. */
export async function runNode(context: Context): Promise<Row[]> {
  const project = `${context.temporary}/node`;
  const { name, tarball } = context.package;
  await install(project, { [name]: `file:${tarball}` });
  await copyFiles(project, "scenario.js", "import.mjs", "require.cjs");
  return await rowsOf(
    packages.node,
    (version) =>
      attempt("Node", version, "-", async () => {
        const program = await findNode(context, version);
        return await runAll("Node", program, project, context);
      }),
  );
}

/** Runs the scenario in Bun, which installs the package itself. */
export async function runBun(context: Context): Promise<readonly Row[]> {
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
    return await runAll("Bun", program, project, context);
  });
}
