/**
 * Bundles unit tests for Node without JSR and without dnt: as one ES module in which
 * `node:test` replaces `Deno.test`.
 */

import * as esbuild from "esbuild";
import map from "../npm_only/import_map.json" with { type: "json" };

/** A bundle and the packages that it imports. */
export interface IBundle {
  /** Path of the module. */
  readonly file: string;
  /** Versions of npm packages by name. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Name of the function of `node:test` in the bundle; unused in the sources. */
const NODE_TEST = "__nodeTest";

/** `npm:name@version/path`, or `npm:/name@version/path` as in import maps. */
const NPM = /^npm:\/?((?:@[^/]+\/)?[^@/]+)@([^/]+)(\/.*)?$/;

/** Maps a specifier by the import map, by its whole name or by its prefix. */
function mapped(specifier: string): string {
  const imports: Record<string, string> = map.imports;
  const prefix = Object.keys(imports).find((name) =>
    name.endsWith("/") && specifier.startsWith(name)
  );
  return imports[specifier] ??
    (prefix && imports[prefix] + specifier.slice(prefix.length)) ?? specifier;
}

/**
 * Resolves specifiers by `import_map.json`. Files are bundled; npm packages remain
 * imports and are added to the dependencies.
 */
function resolveByMap(
  directory: string,
  dependencies: Record<string, string>,
): esbuild.Plugin {
  return {
    name: "import_map",
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (kind === "entry-point" || path.startsWith("node:")) return;
        const target = mapped(path);
        if (target.startsWith(".")) {
          const base = `file://${directory}/scripts/npm_only/`;
          return { path: new URL(target, base).pathname };
        }
        const [, name, version, rest = ""] = NPM.exec(target) ?? [];
        if (name === undefined || version === undefined) return;
        dependencies[name] = version;
        return { path: name + rest, external: true };
      });
    },
  };
}

/** Bundles these files of `tests/` as `<name>.mjs`, in a copy of the sources. */
export async function bundleTests(
  directory: string,
  name: string,
  tests: readonly string[],
): Promise<IBundle> {
  const file = `${directory}/${name}.mjs`;
  const dependencies: Record<string, string> = {};
  try {
    await esbuild.build({
      stdin: {
        contents: tests.map((test) => `import "./tests/${test}";`).join("\n"),
        resolveDir: directory,
      },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "es2022",
      outfile: file,
      define: { "Deno.test": NODE_TEST },
      banner: { js: `import { test as ${NODE_TEST} } from "node:test";` },
      plugins: [resolveByMap(directory, dependencies)],
      logLevel: "silent",
    });
  } finally {
    await esbuild.stop();
  }
  return { file, dependencies };
}
