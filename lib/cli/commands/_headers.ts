/** The command `headers`: prints the header fields of a request. */

import type { Arguments } from "../_arguments.ts";
import { coveringSession } from "../_current_session.ts";
import { ExitCode } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { requireUrl, tokenFor } from "../_wanted_session.ts";

/** Prints the header fields as JSON; with `--lines` as `curl -H @FILE` reads them. */
export async function run(given: Arguments, host: Host): Promise<ExitCode> {
  const { session } = await coveringSession(requireUrl(given), host);
  const headers = { Authorization: `Bearer ${tokenFor(session, given)}` };
  if (!given.lines) host.print(JSON.stringify(headers));
  else {
    for (const [name, value] of Object.entries(headers)) {
      host.print(`${name}: ${value}`);
    }
  }
  return ExitCode.Done;
}
