/** Programs in one file, which Deno and Node run. */

import { outputOf } from "../../scripts/support/process.ts";
import { bundle } from "./bundle.ts";
import { inDirectory } from "./in_directory.ts";
import { type Program, type Running, start } from "./terminal.ts";

/** Bundles a program into a directory; returns how Deno, with these options, and Node run it. */
export async function bundledPrograms(
  source: URL,
  directory: string,
  options: readonly string[] = ["-A"],
): Promise<{ deno: Program; node: Program }> {
  const program = `${directory}/program.mjs`;
  await bundle(source.pathname, program);
  // Its path: programs are started with another PATH.
  const args = ["-p", "process.execPath"];
  const node = (await outputOf("node", args, { cwd: directory })).trim();
  const deno = [Deno.execPath(), "run", "--quiet", "--no-config"] as const;
  return { deno: [...deno, ...options, program], node: [node, program] };
}

/**
 * Runs a task with a program in Deno and then in Node. The task receives a function that
 * starts the program with arguments, and a directory that is its `PATH`: it finds no
 * command that opens a browser.
 */
export function inRuntimes(
  source: URL,
  options: readonly string[],
  task: (
    start: (...args: string[]) => Running,
    directory: string,
  ) => Promise<void>,
): Promise<void> {
  return inDirectory(async (home) => {
    const programs = await bundledPrograms(source, home, options);
    for (const program of Object.values(programs)) {
      const env = { PATH: home };
      await task((...args) => start(program, args, { home, env }), home);
    }
  });
}
