/** The package under test: packed here, or given. */

import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { root } from "./deno.ts";
import { entryPoints } from "./npm_package.ts";
import { outputOf } from "./process.ts";

/** A package as a registry would receive it. */
export interface IPackage {
  /** Path of the tarball. */
  readonly tarball: string;
  /** How the package was made: `deno pack`, or the path that was given. */
  readonly origin: string;
  readonly name: string;
  readonly version: string;
  /** Whether `require` finds CommonJS in it. */
  readonly hasCommonJs: boolean;
  /** Paths of the declarations, by the names of the entry points. */
  readonly declarations: Readonly<Record<string, string>>;
}

interface IPackageJson {
  name: string;
  version: string;
  types?: string;
  exports?: Record<string, unknown>;
}

/** Copies the files that are published, and nothing else of the working tree. */
export async function copySources(directory: string): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  for (const name of config.publish.include) {
    const source = new URL(name, root);
    await outputOf("cp", ["-r", fileURLToPath(source), directory], {
      cwd: ".",
    });
  }
  return directory;
}

/** Packs the sources or a directory such as dnt's; returns the path of the tarball. */
async function makeTarball(path: string | undefined, temporary: string) {
  if (path === undefined) {
    const sources = await copySources(`${temporary}/pack`);
    const tarball = `${temporary}/packed.tgz`;
    await outputOf(
      Deno.execPath(),
      ["pack", "--allow-dirty", "--output", tarball],
      { cwd: sources },
    );
    return tarball;
  }
  const given = await Deno.realPath(path);
  if ((await Deno.stat(given)).isFile) return given;
  // npm would link a directory; only a tarball shows what will be published.
  const json = await outputOf(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", temporary],
    { cwd: given },
  );
  return `${temporary}/${JSON.parse(json)[0].filename}`;
}

/** Looks up a path in nested conditions of `exports`. */
function find(conditions: unknown, ...names: string[]): string | undefined {
  if (typeof conditions === "string") return conditions;
  if (typeof conditions !== "object" || conditions === null) return undefined;
  // The first condition that holds wins, in the order of the package.
  for (const [name, value] of Object.entries(conditions)) {
    if (!names.includes(name) && name !== "default") continue;
    const found = find(value, ...names);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the path of an entry point's declarations within the package. */
function declarationsOf({ exports, types }: IPackageJson, name: string) {
  const found = find(exports?.[name], "types", "import") ??
    (name === "." ? types : undefined);
  if (!found) throw new Error(`The package has no entry point "${name}"`);
  // Declarations that are not named are beside the module.
  return found.replace(/^\.\//, "").replace(/\.js$/, ".d.ts");
}

/** Packs the sources, or uses the package at this path. */
export async function preparePackage(
  path: string | undefined,
  temporary: string,
): Promise<IPackage> {
  const tarball = await makeTarball(path, temporary);
  await outputOf("tar", ["-xzf", tarball], { cwd: temporary });
  const directory = `${temporary}/package`;
  const json: IPackageJson = JSON.parse(
    await Deno.readTextFile(`${directory}/package.json`),
  );
  const main = json.exports?.["."];
  return {
    tarball,
    origin: path ?? "deno pack",
    name: json.name,
    version: json.version,
    hasCommonJs: find(main, "node", "require") !== find(main, "import"),
    declarations: Object.fromEntries(
      entryPoints.map(({ name }) => [
        name,
        `${directory}/${declarationsOf(json, name)}`,
      ]),
    ),
  };
}
