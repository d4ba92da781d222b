/** The command `status`: lists the sessions. */

import { printable, printableJson } from "../../core/_quote.ts";
import type { Arguments } from "../_arguments.ts";
import { ExitCode } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { filesOf } from "../_place.ts";
import { sessionsOf } from "../_session_files.ts";
import { type Summary, summaryLines, summaryOf } from "../_summary.ts";

/** An unreadable file, such as an encrypted one without its key. */
interface Unreadable {
  readonly file: string;
  readonly error: string;
}

/** Lists the sessions: all, or the sessions of `--account`. */
export async function run(given: Arguments, host: Host): Promise<ExitCode> {
  const found: (Summary | Unreadable)[] = [];
  for (const { path, error, ...file } of await filesOf(given, host)) {
    if (error) found.push({ file: path, error: error.message });
    for (const session of sessionsOf([{ path, ...file }])) {
      const { account } = given;
      const isOther = account !== undefined && session.account !== account;
      if (!isOther) found.push(summaryOf(session));
    }
  }
  if (given.json) host.print(printableJson(found));
  else if (found.length === 0) host.print("No sessions.");
  for (const one of given.json ? [] : found) {
    const lines = "url" in one
      ? summaryLines(one)
      : [printable(one.file), `  ${printable(one.error)}`];
    for (const line of lines) host.print(line);
  }
  return ExitCode.Done;
}
