/**
 * The tests that also run in Node: those below `tests/unit/` that use nothing of
 * Deno but `Deno.test`.
 */

/** Where the portable tests are, within `tests/`. */
export const PORTABLE_FOLDER = "unit/";

/** Deno's API other than `Deno.test`, and imports of files that use it. */
const NEEDS_DENO = /\bDeno\.(?!test\b)|from "[./]*\/(?:servers|scripts)\//;

export async function* filesBelow(
  directory: URL,
  path = "",
): AsyncGenerator<string> {
  for await (const { name, isFile } of Deno.readDir(directory)) {
    if (isFile) yield path + name;
    else yield* filesBelow(new URL(`${name}/`, directory), `${path}${name}/`);
  }
}

/**
 * Finds the portable tests of a `tests/` directory, by their paths within it. A test is
 * portable if neither it nor the files of `tests/` that it imports need Deno.
 */
export async function findPortableTests(tests: URL): Promise<string[]> {
  const sources = new Map<string, string>();
  for await (const path of filesBelow(tests)) {
    if (!path.endsWith(".ts")) continue;
    sources.set(path, await Deno.readTextFile(new URL(path, tests)));
  }
  const isPortable = (path: string): boolean => {
    const source = sources.get(path);
    if (source === undefined || NEEDS_DENO.test(source)) return false;
    const imports = [...source.matchAll(/from "(\.\.?\/[^"]+\.ts)"/g)]
      .map(([, file = ""]) =>
        new URL(file, `file:///${path}`).pathname.slice(1)
      );
    return imports.every((file) => !sources.has(file) || isPortable(file));
  };
  return [...sources.keys()].filter((path) =>
    path.startsWith(PORTABLE_FOLDER) && path.endsWith("_test.ts") &&
    isPortable(path)
  ).sort();
}

/**
 * Returns the `testPattern` for dnt that matches these tests and no others, from
 * `tests/unit/` on. dnt splits a pattern at slashes before it reads the braces, so
 * the braces can hold file names only.
 */
export function testPattern(paths: readonly string[]): string {
  const names = paths.map((path) => path.replace(/^.*\//, ""));
  return `**/{${[...new Set(names)].join(",")}}`;
}
