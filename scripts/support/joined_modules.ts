/**
 * Joins the modules of an npm package, as TypeScript has emitted them, into few files:
 * Node opens, resolves and compiles each file by itself, which takes it half a
 * millisecond and more.
 *
 * Each entry point has a file, and esbuild makes one for what several of them share. It
 * makes one for each set of entry points that shares something, which would be seventy
 * files here. So most modules are put into layers before, each of which is one file.
 */

import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { npmEntryPoints, PROGRAM } from "./npm_package.ts";
import { filesBelow } from "./portable_tests.ts";

/** The folder of the files that several entry points share. */
const SHARED = "shared";

/** The paths of sources, written as emitted modules. */
const emitted = (...sources: readonly string[]) =>
  sources.map((path) => path.replace(/^\.\//, "").replace(/\.ts$/, ".js"));

/** The modules that have a file of their own: what a program or `exports` names. */
const ENTRIES = emitted(
  ...[...npmEntryPoints, PROGRAM].map(({ path }) => path),
);

const MAIN = emitted("./mod.ts");
const STORES = emitted("./lib/stores/mod.ts");
const NATIVE = emitted("./lib/native/mod.ts");
/** What the program loads for a token, before each request of a script. */
const TOKEN = emitted(PROGRAM.path, "./lib/cli/commands/_token.ts");
/** What needs a small part of the main entry point. */
const SMALL = [
  ...STORES,
  ...emitted("./lib/browser/mod.ts"),
  ...NATIVE,
  ...TOKEN,
];

/** A file of modules that are joined, and these modules by their paths. */
interface Layer {
  readonly name: string;
  readonly modules: ReadonlySet<string>;
}

const OPTIONS = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  external: ["node:*"],
  // For those who read it, and for the stacks of errors.
  minify: false,
  charset: "utf8",
  metafile: true,
  write: false,
  logLevel: "silent",
  // Not the module of a folder above.
  tsconfigRaw: "{}",
} as const satisfies esbuild.BuildOptions;

/**
 * Runs esbuild; a warning is an error, such as about two modules with the same export.
 */
async function build(options: esbuild.BuildOptions) {
  const { warnings, outputFiles, metafile } = await esbuild.build({
    ...OPTIONS,
    ...options,
  });
  if (warnings.length > 0) {
    const lines = warnings.map(({ text, location }) =>
      `${location?.file}:${location?.line}: ${text}`
    );
    throw new Error(`The modules cannot be joined:\n${lines.join("\n")}`);
  }
  return { files: outputFiles!, metafile: metafile! };
}

/** Stands for the file of a layer until the place of the importing file is known. */
const placeholder = ({ name }: Layer) => `layer:${name}`;

function importLayers(
  directory: string,
  layers: readonly Layer[],
): esbuild.Plugin {
  return {
    name: "layers",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
        const module = relative(directory, join(resolveDir, path));
        const layer = layers.find(({ modules }) => modules.has(module));
        return layer &&
          { path: placeholder(layer), external: true, sideEffects: false };
      });
    },
  };
}

/** Returns the layers; each imports from those before it only. */
async function findLayers(directory: string): Promise<Layer[]> {
  const { metafile: { inputs } } = await build({
    absWorkingDir: directory,
    entryPoints: ENTRIES,
    outdir: directory,
  });
  /** The modules that these import, but for those that are imported on demand. */
  const importedBy = (paths: readonly string[]): Set<string> => {
    const found = new Set(paths);
    for (const path of found) {
      for (const { path: next, kind, external } of inputs[path]!.imports) {
        if (kind === "import-statement" && !external) found.add(next);
      }
    }
    return found;
  };
  const [main, stores, native] = [MAIN, STORES, NATIVE].map(importedBy);
  const rest = new Set(Object.keys(inputs)).difference(new Set(ENTRIES));
  /** The modules of the layers so far. */
  const joined = new Set<string>();
  return [
    {
      // Without modules of Node, as bundles for pages and Workers have it.
      name: "core",
      modules: importedBy(SMALL)
        .intersection(main!.union(stores!.intersection(native!))),
    },
    { name: "client", modules: main! },
    { name: "files", modules: importedBy(TOKEN).intersection(native!) },
    { name: "native", modules: native! },
  ].map(({ name, modules: all }) => {
    const modules = all.intersection(rest).difference(joined);
    for (const path of modules) joined.add(path);
    for (const path of modules) {
      for (const { path: next, kind, external } of inputs[path]!.imports) {
        if (external || (kind === "import-statement" && joined.has(next))) {
          continue;
        }
        // It would be in this file and in another one, or no longer on demand.
        throw new Error(`${path} of the layer ${name} imports ${next}`);
      }
    }
    return { name, modules };
  });
}

/** Joins the modules of a directory; returns the files to write. */
async function joinedFiles(directory: string): Promise<esbuild.OutputFile[]> {
  const layers = await findLayers(directory);
  const isEmittedWithMaps = await Deno.stat(`${directory}/${MAIN[0]}.map`)
    .then(() => true, () => false);
  const options = {
    absWorkingDir: directory,
    outdir: directory,
    // They lead to what the maps of the modules lead to, which is in the package.
    sourcemap: isEmittedWithMaps ? "linked" : false,
    sourcesContent: false,
  } as const;
  const { files } = await build({
    ...options,
    entryPoints: ENTRIES,
    outbase: directory,
    splitting: true,
    chunkNames: `${SHARED}/[name]-[hash]`,
    plugins: [importLayers(directory, layers)],
  });
  for (const { path, text } of files) {
    if (!/^export \* from "layer:/m.test(text)) continue;
    throw new Error(
      `${path} would export all that modules share: export by name instead of "*"`,
    );
  }
  for (const [index, { name, modules }] of layers.entries()) {
    const statements = [...modules].sort().map((path) =>
      `export * from ${JSON.stringify(`./${path}`)};`
    );
    const layer = await build({
      ...options,
      stdin: { contents: statements.join("\n"), resolveDir: directory },
      entryNames: `${SHARED}/${name}`,
      plugins: [importLayers(directory, layers.slice(0, index))],
    });
    files.push(...layer.files);
  }
  return files;
}

/** Removes the modules of the library, and leaves their declarations. */
async function removeModules(directory: string): Promise<void> {
  const lib = pathToFileURL(`${directory}/lib/`);
  for await (const path of filesBelow(lib)) {
    if (/\.js(\.map)?$/.test(path)) await Deno.remove(new URL(path, lib));
  }
}

/**
 * Replaces the modules of a package below this directory by the files in which they are
 * joined: one for each entry point and the program, and those that these share. Where the
 * modules have source maps, so do the files.
 */
export async function joinModules(directory: string): Promise<void> {
  const files = await joinedFiles(directory);
  await esbuild.stop();
  await removeModules(directory);
  for (const { path, text } of files) {
    const shared = relative(dirname(path), join(directory, SHARED));
    const base = /^\.\.?(\/|$)/.test(shared) ? shared : `./${shared}`;
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(
      path,
      text.replaceAll(/(?<=")layer:(\w+)(?=")/g, `${base}/$1.js`),
    );
  }
}
