/** Measures how long a new process takes to import this library and others. */

import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { installPackages, PACKAGES, SAME_SCOPE } from "./bundle_size.ts";
import { root } from "../support/deno.ts";
import { outputOf, temporaryDirectory } from "../support/process.ts";
import {
  type ISection,
  median,
  medianRatio,
  notMeasured,
  type Row,
} from "./timing.ts";

/** The first round is not counted: it fills the caches of the disk and of Deno. */
const ROUNDS = 12;

const PROGRAM = `
const start = performance.now();
await import(process.argv[2]);
console.log(String(performance.now() - start));
`;

/** Compares what a command imports: specifiers by name, the first of which is ours. */
async function compareIn(
  runtime: string,
  [program = "", ...args]: readonly string[],
  imports: Readonly<Record<string, string>>,
  { cwd, note }: { cwd: string; note: string },
): Promise<ISection> {
  const title = `Cold import in ${runtime}`;
  const names = Object.keys(imports);
  const times: number[][] = names.map(() => []);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, specifier] of Object.values(imports).entries()) {
        const ms = await outputOf(program, [...args, specifier], { cwd });
        if (round > 0) times[index]!.push(Number(ms));
      }
    }
  } catch (failure) {
    return notMeasured(title, failure);
  }
  const medians = times.map(median);
  return {
    title,
    note: `${note} ${ROUNDS - 1} new processes of each.`,
    rows: names.map((name, index): Row => ({
      name,
      "ms": medians[index]!,
      "ratio to ours": medianRatio(times[index]!, times[0]!),
    })),
    goals: SAME_SCOPE.map((peer) => ({
      text: `shorter than ${peer}`,
      reached: medians[0]! < medians[names.indexOf(peer)]!,
    })),
  };
}

/** Measures the import in Node and in Deno. */
export async function* compareImports(): AsyncGenerator<ISection> {
  try {
    await using directory = await temporaryDirectory("cold_import_");
    const cwd = directory.path;
    await installPackages(cwd);
    const bundled = `${cwd}/ours.mjs`;
    esbuild.buildSync({
      entryPoints: [fileURLToPath(new URL("mod.ts", root))],
      outfile: bundled,
      bundle: true,
      format: "esm",
      target: "es2022",
      platform: "neutral",
      logLevel: "silent",
    });
    await Deno.writeTextFile(`${cwd}/import.mjs`, PROGRAM);
    const empty = `${cwd}/empty.mjs`;
    await Deno.writeTextFile(empty, "export {};\n");
    const others = {
      ...Object.fromEntries(PACKAGES.map((name) => [name, name])),
      "an empty module": empty,
    };
    yield await compareIn(
      "Node",
      ["node", "import.mjs"],
      { ours: bundled, ...others },
      {
        cwd,
        note:
          "Ours is one JavaScript file, bundled by esbuild and not minified.",
      },
    );
    yield await compareIn(
      "Deno",
      [Deno.execPath(), "run", "-A", "--quiet", "import.mjs"],
      {
        ours: new URL("mod.ts", root).href,
        ...others,
        "ours, in one file": bundled,
      },
      {
        cwd,
        note: "Ours is the source, with one file for each module. All are in " +
          "the cache of Deno.",
      },
    );
  } catch (failure) {
    // The rest of the report needs no package registry.
    yield notMeasured("Cold import", failure);
  }
}
