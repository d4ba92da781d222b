/** The command `token`: prints the access token. */

import type { Arguments } from "../_arguments.ts";
import { coveringSession } from "../_current_session.ts";
import { ExitCode } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { requireUrl, tokenFor } from "../_wanted_session.ts";

/** Prints only the access token; with `--json`, also when it expires. */
export async function run(given: Arguments, host: Host): Promise<ExitCode> {
  const { session } = await coveringSession(requireUrl(given), host);
  const { token_type, expires_at } = session.token;
  const access_token = tokenFor(session, given);
  host.print(
    given.json
      ? JSON.stringify({ access_token, token_type, expires_at })
      : access_token,
  );
  return ExitCode.Done;
}
