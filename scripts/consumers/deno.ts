/** The consumers in Deno: by `jsr:` specifier, by file, and as an npm package. */

import {
  attempt,
  type Context,
  copyFiles,
  judge,
  parseOutcome,
} from "./context.ts";
import { entryPoints, toSpecifier } from "../support/npm_package.ts";
import { copySources, unpackInto } from "../support/package.ts";
import { outputOf } from "../support/process.ts";
import type { Row } from "./table.ts";

/** Runs one project whose deno.json says where the client comes from. */
async function runProject(
  context: Context,
  loaded: string,
  directory: string,
  settings: Record<string, unknown>,
): Promise<readonly Row[]> {
  return await attempt("Deno", Deno.version.deno, loaded, async () => {
    await copyFiles(directory, "scenario.js", "import.mjs");
    await Deno.writeTextFile(
      `${directory}/deno.json`,
      JSON.stringify({ lock: false, ...settings }),
    );
    const host = new URL(context.server).host;
    const permissions = [`--allow-net=${host},localhost`, "--no-prompt"];
    const printed = await outputOf(
      Deno.execPath(),
      ["run", ...permissions, "import.mjs", context.server],
      { cwd: directory },
    );
    return judge(parseOutcome(printed));
  });
}

/**
 * Runs the sources by `jsr:` specifier, with `links` instead of JSR, and by path;
 * and the packed package from node_modules. The only permission is the network,
 * because the client needs no other.
 */
export async function runDeno(context: Context): Promise<Row[]> {
  const { name, version, tarball } = context.package;
  const base = `${context.temporary}/deno`;
  const sources = await copySources(`${base}/sources`);
  await unpackInto(`${base}/npm`, tarball);
  await Deno.writeTextFile(
    `${base}/npm/package.json`,
    JSON.stringify({ dependencies: { [name]: version } }),
  );
  return [
    ...await runProject(context, "jsr: by links", `${base}/jsr`, {
      imports: { [name]: `jsr:${name}@^${version}` },
      links: ["../sources"],
    }),
    ...await runProject(context, "file", `${base}/file`, {
      imports: Object.fromEntries(
        entryPoints.map(({ name: entryPoint, path }) => [
          toSpecifier(name, entryPoint),
          `${sources}/${path}`,
        ]),
      ),
    }),
    ...await runProject(context, "npm package, ESM", `${base}/npm`, {
      nodeModulesDir: "manual",
    }),
  ];
}
