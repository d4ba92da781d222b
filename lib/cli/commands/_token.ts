/** The command `token`: prints the access token. */

import type { Arguments } from "../_arguments.ts";
import { coveringSession } from "../_current_session.ts";
import { ExitCode } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { expiryFor, requireUrl, tokenFor } from "../_wanted_session.ts";

/** Prints only the token; with `--json` or `--format`, also when it expires. */
export async function run(given: Arguments, host: Host): Promise<ExitCode> {
  const { session } = await coveringSession(requireUrl(given), host);
  const token = tokenFor(session, given);
  const expiry = expiryFor(session, given);
  const { format, json, username } = given;
  if (format) {
    const { TOKEN_FORMATS } = await import("../_token_formats.ts");
    const printed = { token, expiry, username, env: host.env };
    host.print(JSON.stringify(TOKEN_FORMATS[format](printed)));
  } else if (json) {
    const { token_type } = session.token;
    host.print(
      JSON.stringify({ access_token: token, token_type, expires_at: expiry }),
    );
  } else host.print(token);
  return ExitCode.Done;
}
