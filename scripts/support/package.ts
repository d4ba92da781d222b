/** The package under test: packed here, or given. */

import config from "../../deno.json" with { type: "json" };
import { joinModules } from "./joined_modules.ts";
import {
  entryPoints,
  npmEntryPoints,
  packageMembers,
  PROGRAM,
  repositoryUrl,
} from "./npm_package.ts";
import { declarationsBelow, writeDocuments } from "./package_documents.ts";
import {
  BUILD_SECONDS,
  copyFromRoot,
  outputOf,
  temporaryDirectory,
} from "./process.ts";

/** A package as a registry would receive it. */
export interface Package {
  readonly tarball: string;
  /** How the package was made: `deno task pack`, or the path that was given. */
  readonly origin: string;
  readonly name: string;
  readonly version: string;
  /** Paths of the declarations, by the names of the entry points. */
  readonly declarations: Readonly<Record<string, string>>;
}

interface PackageJson {
  name: string;
  version: string;
  /** Paths of modules, or what `deno pack` writes. */
  exports: Record<string, string | { types: string }>;
}

/**
 * Writes what JSR publishes, and nothing else of the working tree. deno.json names no
 * import map, because no module of the package imports another package. `exports`
 * replaces its entry points.
 */
export async function copySources(
  directory: string,
  exports: Record<string, string> = config.exports,
): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  for (const path of ["mod.ts", "lib"]) await copyFromRoot(path, directory);
  // The folder has nothing that is not published.
  const { importMap: _, publish: __, ...members } = config;
  await Deno.writeTextFile(
    `${directory}/deno.json`,
    `${JSON.stringify({ ...members, exports }, null, 2)}\n`,
  );
  const url = repositoryUrl(Deno.env.toObject());
  await writeDocuments(directory, { moduleAt: (path) => path, url });
  return directory;
}

/** The entry point of the program while the package is made. */
const BIN = "./bin";

export async function npmPack(directory: string, destination: string) {
  const args = [
    "--json",
    "--ignore-scripts",
    "--pack-destination",
    destination,
  ];
  const json = await outputOf("npm", ["pack", ...args], { cwd: directory });
  return `${destination}/${JSON.parse(json)[0].filename}`;
}

/** The folder with the tarball that the gate has packed once for all of its steps. */
export const PACKED = "OAUTH_HELPER_PACKED";

/** Returns a copy of the tarball that was packed before, if it was. */
async function copyPacked(destination: string): Promise<string | undefined> {
  const folder = Deno.env.get(PACKED);
  if (folder === undefined) return undefined;
  for await (const { name } of Deno.readDir(folder)) {
    await Deno.copyFile(`${folder}/${name}`, `${destination}/${name}`);
    return `${destination}/${name}`;
  }
}

/**
 * Packs the sources as ESM, with declarations and the program, into `destination`;
 * returns the path of the tarball.
 */
export async function packSources(destination: string): Promise<string> {
  const known = await copyPacked(destination);
  if (known !== undefined) return known;
  await using folder = await temporaryDirectory("pack_");
  const temporary = folder.path;
  // `deno pack` takes the modules of the program from an entry point as well.
  const paths = [...npmEntryPoints, { name: BIN, path: PROGRAM.path }]
    .map(({ name, path }) => [name, path]);
  const exports = Object.fromEntries(paths);
  const cwd = await copySources(`${temporary}/sources`, exports);
  const tarball = `${temporary}/packed.tgz`;
  const args = ["pack", "--allow-dirty", "--no-source-maps"];
  await outputOf(Deno.execPath(), [...args, "--output", tarball], {
    ...{ cwd, seconds: BUILD_SECONDS },
  });
  await outputOf("tar", ["-xzf", tarball], { cwd: temporary });
  const directory = `${temporary}/package`;
  // `deno pack` omits what a package needs beyond its modules.
  const file = `${directory}/package.json`;
  const json = JSON.parse(await Deno.readTextFile(file));
  const bin = PROGRAM.path.replace(/^\.\/(.*)\.ts$/, "$1.js");
  const { [BIN]: _, ...packed } = json.exports;
  const finished = {
    ...json,
    ...packageMembers(),
    exports: { ...packed, "./package.json": "./package.json" },
    bin: { [PROGRAM.name]: bin },
  };
  await Deno.writeTextFile(file, `${JSON.stringify(finished, null, 2)}\n`);
  const program = await Deno.readTextFile(`${directory}/${bin}`);
  await Deno.writeTextFile(
    `${directory}/${bin}`,
    `#!/usr/bin/env node\n${program}`,
  );
  await joinModules(directory);
  const url = repositoryUrl(Deno.env.toObject());
  await writeDocuments(directory, { moduleAt: declarationsBelow(""), url });
  return await npmPack(directory, destination);
}

/**
 * Unpacks a package below a directory, where programs of the directory find it; returns
 * where it is.
 */
export async function unpackInto(
  directory: string,
  tarball: string,
): Promise<string> {
  const installed = `${directory}/node_modules/${config.name}`;
  await Deno.mkdir(installed, { recursive: true });
  const args = ["-xzf", tarball, "--strip-components=1"];
  await outputOf("tar", args, { cwd: installed });
  return installed;
}

/** Packs the sources, and unpacks the package below a directory. */
export async function packInto(directory: string): Promise<void> {
  await unpackInto(directory, await packSources(directory));
}

/** Packs the sources or a directory such as dnt's; returns the path of the tarball. */
async function makeTarball(path: string | undefined, temporary: string) {
  if (path === undefined) return await packSources(temporary);
  const given = await Deno.realPath(path);
  if ((await Deno.stat(given)).isFile) return given;
  // npm would link a directory; only a tarball shows what will be published.
  return await npmPack(given, temporary);
}

/** Returns the path of an entry point's declarations within the package. */
function declarationsOf({ exports }: PackageJson, name: string): string {
  const module = exports[name];
  const found = typeof module === "object" ? module.types : module;
  if (!found) throw new Error(`The package has no entry point "${name}"`);
  // Declarations that are not named are beside the module.
  return found.replace(/^\.\//, "").replace(/\.js$/, ".d.ts");
}

export async function preparePackage(
  path: string | undefined,
  temporary: string,
): Promise<Package> {
  const tarball = await makeTarball(path, temporary);
  await outputOf("tar", ["-xzf", tarball], { cwd: temporary });
  const directory = `${temporary}/package`;
  const json: PackageJson = JSON.parse(
    await Deno.readTextFile(`${directory}/package.json`),
  );
  return {
    tarball,
    origin: path ?? "deno task pack",
    name: json.name,
    version: json.version,
    declarations: Object.fromEntries(
      entryPoints.map(({ name }) => [
        name,
        `${directory}/${declarationsOf(json, name)}`,
      ]),
    ),
  };
}
