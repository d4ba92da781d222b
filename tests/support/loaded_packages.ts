/** Which packages a program loads, by the imports of its files. */

/** An import or an export from another module, but not one of types only. */
const IMPORT = /^(?:im|ex)port (?!type\b)(?:[^;]*? from )?"([^"]+)";/gm;

/** The same, or `import()`. */
const ANY_IMPORT = new RegExp(
  `${IMPORT.source}|\\bimport\\(\\s*"([^"]+)"`,
  "gm",
);

interface Loading {
  /** Names a file, whose own imports are then left out. */
  readonly nameOf?: (specifier: string) => string | undefined;
  /** Whether `import()` counts too. @default false */
  readonly isLazyToo?: boolean;
}

/** Returns the packages that a file and the files that it imports load, in their order. */
export async function loadedPackages(
  entry: URL,
  { nameOf = () => undefined, isLazyToo = false }: Loading = {},
): Promise<string[]> {
  const files = new Set([entry.href]);
  const names = new Set<string>();
  for (const file of files) {
    const code = await Deno.readTextFile(new URL(file));
    for (
      const [, fixed, lazy] of code.matchAll(
        isLazyToo ? ANY_IMPORT : IMPORT,
      )
    ) {
      const specifier = fixed ?? lazy ?? "";
      const name = nameOf(specifier);
      if (name !== undefined) names.add(name);
      else if (specifier.startsWith(".")) {
        files.add(new URL(specifier, file).href);
      } else if (!specifier.startsWith("node:")) {
        names.add(specifier.replace(/^((?:@[^/]+\/)?[^/]+).*/, "$1"));
      }
    }
  }
  return [...names];
}
