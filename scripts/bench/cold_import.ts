/** Measures how long a new process takes to import this library and others. */

import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { installPackages, PACKAGES, SAME_SCOPE } from "./bundle_size.ts";
import { root } from "../support/deno.ts";
import { type ISection, median, medianRatio, type Row } from "./timing.ts";

/** The first round is not counted: it fills the caches of the disk and of Deno. */
const ROUNDS = 12;

const PROGRAM = `
const start = performance.now();
await import(process.argv[2]);
console.log(performance.now() - start);
`;

interface IImport {
  readonly name: string;
  readonly specifier: string;
}

async function importOnce(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<number> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr).trim());
  return Number(decoder.decode(stdout));
}

async function compareIn(
  runtime: string,
  run: (specifier: string) => Promise<number>,
  imports: readonly IImport[],
  note: string,
): Promise<ISection> {
  const title = `Cold import in ${runtime}`;
  const times: number[][] = imports.map(() => []);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, { specifier }] of imports.entries()) {
        const ms = await run(specifier);
        if (round > 0) times[index]!.push(ms);
      }
    }
  } catch (failure) {
    const reason = String(failure).split("\n")[0]!;
    return { title, rows: [{ "not measured": reason }] };
  }
  const rows = imports.map(({ name }, index): Row => ({
    name,
    "ms": median(times[index]!),
    "ratio to ours": medianRatio(times[index]!, times[0]!),
  }));
  const ours = median(times[0]!);
  return {
    title,
    note: `${note} ${ROUNDS - 1} new processes of each.`,
    rows,
    goals: SAME_SCOPE.map((peer) => ({
      text: `shorter than ${peer}`,
      reached: ours <
        median(times[imports.findIndex(({ name }) => name === peer)]!),
    })),
  };
}

/** Bundles the library as one module that Node can load. */
async function bundleOurs(outfile: string): Promise<void> {
  try {
    await esbuild.build({
      entryPoints: [fileURLToPath(new URL("mod.ts", root))],
      outfile,
      bundle: true,
      format: "esm",
      target: "es2022",
      platform: "neutral",
      logLevel: "silent",
    });
  } finally {
    await esbuild.stop();
  }
}

/** Measures the import in Node and in Deno. */
export async function* compareImports(): AsyncGenerator<ISection> {
  const directory = await Deno.makeTempDir({ prefix: "cold_import_" });
  try {
    await installPackages(directory);
    const bundled = `${directory}/ours.mjs`;
    await bundleOurs(bundled);
    await Deno.writeTextFile(`${directory}/import.mjs`, PROGRAM);
    const empty = `${directory}/empty.mjs`;
    await Deno.writeTextFile(empty, "export {};\n");
    const others = [
      ...PACKAGES.map((name) => ({ name, specifier: name })),
      { name: "an empty module", specifier: empty },
    ];
    yield await compareIn(
      "Node",
      (specifier) => importOnce("node", ["import.mjs", specifier], directory),
      [{ name: "ours", specifier: bundled }, ...others],
      "Ours is one JavaScript file, bundled by esbuild and not minified.",
    );
    yield await compareIn(
      "Deno",
      (specifier) =>
        importOnce(
          Deno.execPath(),
          ["run", "-A", "--quiet", "import.mjs", specifier],
          directory,
        ),
      [
        { name: "ours", specifier: new URL("mod.ts", root).href },
        ...others,
        { name: "ours, in one file", specifier: bundled },
      ],
      "Ours is the source, with one file for each module. All are in the " +
        "cache of Deno.",
    );
  } catch (failure) {
    // The rest of the report needs no package registry.
    const reason = String(failure).split("\n")[0]!;
    yield { title: "Cold import", rows: [{ "not measured": reason }] };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
