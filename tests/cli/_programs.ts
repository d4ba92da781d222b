/** The program in each runtime: from the sources in Deno, from the package in Node. */

import { findNode } from "../../scripts/consumers/node.ts";
import { packages } from "../../scripts/consumers/context.ts";
import { packSources } from "../../scripts/support/package.ts";
import { install } from "../../scripts/support/process.ts";
import type { Program } from "../support/terminal.ts";

const source = new URL("../../lib/cli/mod.ts", import.meta.url).pathname;

export const IN_DENO: Program = [
  Deno.execPath(),
  "run",
  "--allow-all",
  "--quiet",
  "--no-config",
  source,
];

/** Writes `oauth-helper` to a directory, as it is on the path once it is installed. */
export async function installOnPath(directory: string): Promise<void> {
  const words = IN_DENO.map((word) => `'${word}'`).join(" ");
  const script = `#!/bin/sh\nexec ${words} "$@"\n`;
  await Deno.writeTextFile(`${directory}/oauth-helper`, script, {
    mode: 0o700,
  });
}

/** The versions of Node that are played: the oldest and a current one. */
const NODES = packages.node.filter((version) => /^(20|24)\./.test(version));

/** Packs and installs the package, and returns the program in each runtime. */
export async function installPrograms(
  temporary: string,
): Promise<ReadonlyMap<string, Program>> {
  const tarball = await packSources(temporary);
  const directory = `${temporary}/installed`;
  await install(directory, { "@oauth-helper/client": `file:${tarball}` });
  const bin = await Deno.realPath(
    `${directory}/node_modules/.bin/oauth-helper`,
  );
  const programs = new Map<string, Program>([["Deno", IN_DENO]]);
  for (const version of NODES) {
    const { stdout } = await new Deno.Command(
      await findNode({ temporary }, version),
      { args: ["-p", "process.execPath"] },
    ).output();
    const node = new TextDecoder().decode(stdout).trim();
    programs.set(`Node ${version}`, [node, bin]);
  }
  return programs;
}
