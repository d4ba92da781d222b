/** The command `login`: signs in, and keeps the session. */

import { printableJson } from "../../core/_quote.ts";
import type { Arguments } from "../_arguments.ts";
import { currentSession } from "../_current_session.ts";
import { ExitCode } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { summaryLines, summaryOf } from "../_summary.ts";
import { refusalOf } from "../_trial.ts";
import { requireUrl } from "../_wanted_session.ts";

/**
 * Signs in unless the kept session can be used, and prints the session. Fails if the
 * resource rejects the token.
 */
export async function run(given: Arguments, host: Host): Promise<ExitCode> {
  const resource = requireUrl(given);
  let { session, isKept } = await currentSession(resource, host);
  let refusal = await refusalOf(session, resource, host);
  if (refusal && isKept) {
    const fresh = { ...resource, fresh: true };
    ({ session, isKept } = await currentSession(fresh, host));
    refusal = await refusalOf(session, resource, host);
  }
  if (refusal) throw refusal;
  const { account, json, quiet, url } = resource;
  const summary = summaryOf({ url: url.href, account, session });
  if (json) host.print(printableJson(summary));
  else if (!quiet) {
    host.printError(
      isKept
        ? "Already signed in (use --fresh to sign in again)."
        : "Signed in.",
    );
    for (const line of summaryLines(summary)) host.printError(line);
  }
  return ExitCode.Done;
}
