/** The command `doctor`: the diagnosis of a server. */

import { runDoctor } from "../doctor/_command.ts";
import type { IHost } from "./_host.ts";

/** Runs the doctor with its own arguments. */
export async function run(
  args: readonly string[],
  {
    print,
    printError,
    printProgress,
    hasColours,
    isTerminal,
    endSignal,
  }: IHost,
): Promise<number> {
  return await runDoctor(args, {
    print,
    printError,
    // The tokens of a sign-in are revoked before the program ends.
    signal: endSignal(),
    colour: hasColours(),
    ...(isTerminal() && { progress: printProgress }),
  });
}
