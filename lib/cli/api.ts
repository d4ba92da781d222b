import { requireStrings } from "../core/_arguments.ts";
import { processHost } from "./_process_host.ts";
import { runOn } from "./_program.ts";

/**
 * Runs the program `oauth-helper` with these arguments, inside another program. It
 * prints to the standard output and the standard error. While a lock is held or a
 * refresh is running, it handles the signals that stop the process.
 *
 * @param args The arguments, the command first.
 * @returns The exit code: 0 if the command succeeded, 1 if it failed, 2 for invalid
 * arguments, 3 if sign-in is required but the command cannot prompt, and after a signal
 * 128 plus its number. A command that fails prints why, and does not reject.
 * @throws {OAuthClientError} `invalid_argument`: `args` is not an array of strings.
 *
 * @example Add the commands to your own program
 * ```ts
 * import process from "node:process";
 * import { runProgram } from "@oauth-helper/client/cli";
 *
 * export async function auth(args: string[]): Promise<void> {
 *   process.exitCode = await runProgram(args);
 * }
 * ```
 */
export async function runProgram(args: readonly string[]): Promise<number> {
  return await runOn(requireStrings("args", args), processHost());
}
