/**
 * Bundles unit tests for Node without JSR and without dnt: one ES module in which
 * `node:test` takes the place of `Deno.test`.
 */

import * as esbuild from "esbuild";
import map from "../npm_only/import_map.json" with { type: "json" };

/** What was bundled, and what it needs beside it. */
export interface IBundle {
  /** Path of the module. */
  readonly file: string;
  /** Versions of npm packages by name. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Name of `node:test`'s function in the bundle; no source uses it. */
const NODE_TEST = "__nodeTest";

/** `npm:name@version/path`, or `npm:/name@version/path` as import maps have it. */
const NPM = /^npm:\/?((?:@[^/]+\/)?[^@/]+)@([^/]+)(\/.*)?$/;

/** What the import map makes of a specifier, by the whole name or its beginning. */
function mapped(specifier: string): string {
  const imports: Record<string, string> = map.imports;
  const prefix = Object.keys(imports).find((name) =>
    name.endsWith("/") && specifier.startsWith(name)
  );
  return imports[specifier] ??
    (prefix && imports[prefix] + specifier.slice(prefix.length)) ?? specifier;
}

/**
 * Resolves as `import_map.json` says: files are bundled, npm packages are left to
 * Node and noted among the dependencies.
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

/**
 * Bundles these files of `tests/` in a copy of the project's sources, one after
 * the other, into `<name>.mjs` in the copy.
 */
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
