/**
 * Builds the npm package with dnt into `./npm`: ESM and CommonJS with their
 * declarations, type-checked and tested in Node. The argument is the version, the
 * one of `deno.json` when there is none.
 *
 * dnt comes from JSR and nowhere else. Where JSR cannot be reached, `deno pack`
 * packs the same sources as ESM; see `scripts/release.md`.
 */

import config from "../deno.json" with { type: "json" };
import { root } from "./_deno.ts";

/**
 * Where the project is published: the one place that `repository`, `bugs` and
 * `homepage` are made from. They are left out while there is none.
 */
const PUBLIC_ADDRESS: string | undefined = undefined;

/** The part of dnt that is used here, so that this is checked without dnt. */
interface IDnt {
  emptyDir(directory: string): Promise<void>;
  build(options: {
    entryPoints: string[];
    outDir: string;
    shims: { deno: { test: "dev" } };
    declaration: "inline";
    typeCheck: "both";
    esModule: boolean;
    /** dnt's name for CommonJS is "script". */
    scriptModule: "cjs";
    test: boolean;
    rootTestDir: string;
    testPattern: string;
    compilerOptions: { target: "ES2022"; lib: string[] };
    package: Record<string, unknown>;
    postBuild(): Promise<void>;
  }): Promise<void>;
}

async function loadDnt(): Promise<IDnt | undefined> {
  // By a variable: the type check would otherwise ask JSR for it.
  const name = "@deno/dnt";
  try {
    return await import(name);
  } catch {
    return undefined;
  }
}

/** What ties a file to Deno: its API beyond `Deno.test`, and files that use it. */
const NEEDS_DENO = /\bDeno\.(?!test\b)|from "(?:\.\/servers|\.\.\/scripts)/;

/**
 * The tests that run wherever there is `fetch`, as a glob for dnt: those that
 * use nothing of Deno but `Deno.test`, neither themselves nor in what they import
 * from beside them.
 */
export async function findPortableTests(directory: URL): Promise<string[]> {
  const texts = new Map<string, string>();
  for await (const { name, isFile } of Deno.readDir(directory)) {
    if (!isFile || !name.endsWith(".ts")) continue;
    texts.set(name, await Deno.readTextFile(new URL(name, directory)));
  }
  const isPortable = (name: string): boolean => {
    const text = texts.get(name);
    if (text === undefined || NEEDS_DENO.test(text)) return false;
    const beside = [...text.matchAll(/from "\.\/([^"/]+\.ts)"/g)];
    return beside.every(([, file]) => isPortable(file ?? ""));
  };
  return [...texts.keys()]
    .filter((name) => name.endsWith("_test.ts") && isPortable(name))
    .sort();
}

/** Members of package.json that follow from the public address. */
function addresses(url: string | undefined): Record<string, unknown> {
  return url === undefined ? {} : {
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    repository: { type: "git", url: `git+${url}.git` },
  };
}

/** Fails when the build added to what is shipped. */
async function requireNothingInjected(): Promise<void> {
  for (const directory of ["npm/esm", "npm/script"]) {
    for await (const { name } of Deno.readDir(new URL(directory, root))) {
      if (!name.startsWith("_dnt.")) continue;
      if (name.includes(".test_shims.")) continue;
      throw new Error(
        `dnt put ${directory}/${name} into the package, which is to hold ` +
          "nothing but lib/. A read of `.cause` does that: take the member " +
          "out of its object by destructuring",
      );
    }
  }
}

async function build(dnt: IDnt, version: string): Promise<void> {
  const tests = await findPortableTests(new URL("tests/", root));
  Deno.chdir(root);
  await dnt.emptyDir("./npm");
  await dnt.build({
    entryPoints: ["./mod.ts"],
    outDir: "./npm",
    shims: { deno: { test: "dev" } },
    declaration: "inline",
    typeCheck: "both",
    esModule: true,
    scriptModule: "cjs",
    test: true,
    rootTestDir: "./tests",
    testPattern: `{${tests.join(",")}}`,
    // dnt's own choice has no DOM, and with it neither fetch nor URL.
    compilerOptions: {
      target: "ES2022",
      lib: ["ES2022", "DOM", "DOM.Iterable"],
    },
    // No `files`: dnt writes an .npmignore that leaves its tests out, and
    // `files` would win over it.
    package: {
      name: config.name,
      version,
      description:
        "Everything an OAuth client needs between a 401 and a token, for " +
        "every JavaScript runtime",
      keywords: ["oauth", "oauth2", "mcp", "pkce", "dpop", "discovery"],
      license: config.license,
      sideEffects: false,
      engines: { node: ">=20" },
      ...addresses(PUBLIC_ADDRESS),
    },
    async postBuild() {
      for (const name of ["README.md", "LICENSE", "CHANGELOG.md"]) {
        await Deno.copyFile(name, `npm/${name}`);
      }
      await requireNothingInjected();
    },
  });
}

if (import.meta.main) {
  const dnt = await loadDnt();
  if (dnt === undefined) {
    console.error(
      "dnt cannot be loaded, because JSR cannot be reached from here; " +
        "`deno pack` packs the same sources without it.",
    );
    Deno.exit(2);
  }
  await build(dnt, Deno.args[0] ?? config.version);
}
