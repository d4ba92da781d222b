/** Runs programs in Deno and in Node. */

import { bundle } from "../support/bundle.ts";
import { findNode } from "./_node.ts";

/** A program for tests. */
interface IProgram {
  source: URL;
  /** Options of `deno run`, such as permissions. */
  deno: readonly string[];
  stdin: "null" | "piped";
}

/**
 * Bundles a program, and runs a task with it in Deno and then in Node. The task receives
 * a function that starts the program with arguments, and a directory that is its `PATH`:
 * it finds no command that opens a browser.
 */
export async function inRuntimes(
  { source, deno, stdin }: IProgram,
  task: (
    start: (...args: string[]) => Deno.ChildProcess,
    directory: string,
  ) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    const bundled = `${directory}/program.mjs`;
    await bundle(source.pathname, bundled);
    const node = await findNode();
    for (
      const [program, ...first] of [
        [Deno.execPath(), "run", ...deno, "--quiet", "--no-config", bundled],
        [node, bundled],
      ] as const
    ) {
      await task((...args) =>
        new Deno.Command(program, {
          args: [...first, ...args],
          env: { PATH: directory },
          stdin,
          stdout: "piped",
          stderr: "piped",
        }).spawn(), directory);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
