/** The command `token`: prints the access token. */

import type { IArguments } from "./_arguments.ts";
import { currentSession } from "./_current_session.ts";
import { ExitCode } from "./_failure.ts";
import type { IHost } from "./_host.ts";
import { requireUrl } from "./_wanted_session.ts";

/** Prints the access token and nothing else; with `--json`, when it expires as well. */
export async function run(given: IArguments, host: IHost): Promise<ExitCode> {
  const { session } = await currentSession(requireUrl(given), host);
  const { access_token, token_type, expires_at } = session.token;
  host.print(
    given.json
      ? JSON.stringify({ access_token, token_type, expires_at })
      : access_token,
  );
  return ExitCode.Done;
}
