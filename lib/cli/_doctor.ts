/** The command `doctor`: the diagnosis of a server. */

import { runDoctor } from "../doctor/_command.ts";
import type { IHost } from "./_host.ts";

/** Runs the doctor with its own arguments. */
export async function run(
  args: readonly string[],
  { print, printError, printProgress, hasColours, isTerminal }: IHost,
): Promise<number> {
  return await runDoctor(args, {
    print,
    printError,
    colour: hasColours(),
    ...(isTerminal() && { progress: printProgress }),
  });
}
