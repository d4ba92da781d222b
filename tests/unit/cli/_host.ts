/** A host of the program that keeps what is printed. */

import type { Host } from "../../../lib/cli/_host.ts";
import { runOn } from "../../../lib/cli/_program.ts";

/** Runs the program, by default without sessions and without a terminal. */
export async function run(args: readonly string[], given: Partial<Host> = {}) {
  const output: string[] = [];
  const errors: string[] = [];
  const code = await runOn(args, {
    platform: "linux",
    env: { HOME: "/no/such/home" },
    isTerminal: () => false,
    hasColours: () => false,
    print: (line) => output.push(line),
    flush: () => Promise.resolve(),
    printError: (line) => errors.push(line),
    printProgress: () => {},
    endSignal: () => new AbortController().signal,
    ...given,
  });
  return { code, output: output.join("\n"), errors: errors.join("\n") };
}
