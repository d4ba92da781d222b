/** The command `token`: prints the access token. */

import type { IArguments } from "../_arguments.ts";
import { coveringSession } from "../_current_session.ts";
import { ExitCode } from "../_failure.ts";
import type { IHost } from "../_host.ts";
import { requireUrl, tokenFor } from "../_wanted_session.ts";

/** Prints only the access token; with `--json`, also when it expires. */
export async function run(given: IArguments, host: IHost): Promise<ExitCode> {
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
