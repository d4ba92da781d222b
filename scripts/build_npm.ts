/**
 * Builds the npm package with dnt into `./npm`: ESM and CommonJS with their
 * declarations, type-checked and tested in Node. The argument is the version, the
 * one of `deno.json` when there is none.
 *
 * dnt comes from JSR and nowhere else. Where JSR cannot be reached, `deno pack`
 * packs the same sources as ESM; see `scripts/release.md`.
 */

import config from "../deno.json" with { type: "json" };
import { outputOf } from "./support/process.ts";
import { root } from "./support/deno.ts";

/**
 * Where the project is published: the one place that `repository`, `bugs` and
 * `homepage` are made from. They are left out while there is none.
 */
const PUBLIC_ADDRESS: string | undefined = undefined;

/**
 * The library types that dnt's type check knows. Its own choice has no DOM, and
 * with it neither `fetch` nor `URL`. It checks the tests too, and the JSR packages
 * that they import, which name newer types than ES2022 has: `Disposable`, the
 * methods of `Set`, iterator helpers. The consumer tests' TypeScript projects hold
 * `lib/` itself to ES2022.
 */
export const LIBRARY_TYPES = ["ESNext", "DOM", "DOM.Iterable"];

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
const NEEDS_DENO = /\bDeno\.(?!test\b)|from "[./]*\/(?:servers|scripts)\//;

/** What calls `ArrayBuffer.prototype.transfer`, which Node 20 lacks. */
const NEEDS_TRANSFER = /from "@std\/encoding\b/;

/** Whether this program, some Node, has `ArrayBuffer.prototype.transfer`. */
export async function nodeHasTransfer(program: string): Promise<boolean> {
  const expression = "typeof ArrayBuffer.prototype.transfer";
  const type = await outputOf(program, ["-p", expression], { cwd: "." });
  return type.trim() === "function";
}

/**
 * Of files by name, the tests that run wherever there is `fetch`: those that use
 * nothing of Deno but `Deno.test`, neither themselves nor in what they import
 * from beside them. Without `ArrayBuffer.prototype.transfer`, those that need
 * `@std/encoding` are left out as well.
 */
export function selectPortableTests(
  texts: ReadonlyMap<string, string>,
  hasTransfer: boolean,
): string[] {
  const isPortable = (name: string): boolean => {
    const text = texts.get(name);
    if (text === undefined || NEEDS_DENO.test(text)) return false;
    if (!hasTransfer && NEEDS_TRANSFER.test(text)) return false;
    const imports = [...text.matchAll(/from "(\.\.?\/[^"]+\.ts)"/g)]
      .map(([, file = ""]) =>
        new URL(file, `file:///${name}`).pathname.slice(1)
      );
    return imports.every((file) => !texts.has(file) || isPortable(file));
  };
  return [...texts.keys()]
    .filter((name) => name.endsWith("_test.ts") && isPortable(name))
    .sort();
}

/** The files below a directory, by their paths within it. */
async function* filesBelow(directory: URL, path = ""): AsyncGenerator<string> {
  for await (const { name, isFile } of Deno.readDir(directory)) {
    if (isFile) yield path + name;
    else yield* filesBelow(new URL(`${name}/`, directory), `${path}${name}/`);
  }
}

/** The paths of the portable tests below a directory. */
export async function findPortableTests(
  directory: URL,
  hasTransfer: boolean,
): Promise<string[]> {
  const texts = new Map<string, string>();
  for await (const path of filesBelow(directory)) {
    if (!path.endsWith(".ts")) continue;
    texts.set(path, await Deno.readTextFile(new URL(path, directory)));
  }
  return selectPortableTests(texts, hasTransfer);
}

/**
 * The tests that the `node` on the path can run, which is the one that dnt
 * takes; says which are left out for want of `ArrayBuffer.prototype.transfer`.
 */
async function findTestsForNode(directory: URL): Promise<string[]> {
  const all = await findPortableTests(directory, true);
  const tests = await findPortableTests(
    directory,
    await nodeHasTransfer("node"),
  );
  const leftOut = all.filter((name) => !tests.includes(name));
  if (leftOut.length > 0) {
    console.log(
      "Tests left out, because this Node has no " +
        `ArrayBuffer.prototype.transfer: ${leftOut.join(", ")}.`,
    );
  }
  return tests;
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
  const tests = await findTestsForNode(new URL("tests/", root));
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
    compilerOptions: { target: "ES2022", lib: LIBRARY_TYPES },
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
