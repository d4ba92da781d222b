/** One request to the resource with the token of a session. */

import { printableWithout } from "../core/_quote.ts";
import { requireSafeUrl } from "../core/_url.ts";
import { findChallenges } from "../core/challenge.ts";
import { isOAuthClientError } from "../core/errors.ts";
import { requestHead } from "../http/_request.ts";
import { contextOf, secretsIn } from "../http/_context.ts";
import { rejectsToken } from "../fetch/policy/_rejections.ts";
import { tokensOf } from "../fetch/policy/_need.ts";
import type { Session } from "../session/session.ts";
import { ExitCode, Failure, remedy } from "./_failure.ts";
import type { Host } from "./_host.ts";
import { type ResourceArguments, tokenFor } from "./_wanted_session.ts";
import { USER_AGENT } from "./_server_options.ts";

/** Returns undefined without a response. */
async function responseTo(
  session: Session,
  given: ResourceArguments,
  signal: AbortSignal,
) {
  const { url, allowHttp } = given;
  requireSafeUrl("The URL", url, { allowHttp, allowLoopback: true });
  const context = { ...contextOf({ signal }), userAgent: USER_AGENT };
  const Authorization = `Bearer ${tokenFor(session, given)}`;
  const headers = { Accept: "*/*", Authorization };
  const purpose = "resource";
  try {
    return await requestHead({ url: url.href, purpose, headers }, context);
  } catch (error) {
    signal.throwIfAborted();
    if (isOAuthClientError(error)) return undefined;
    throw error;
  }
}

/**
 * Returns why the resource rejects a session's token: a 401, or a 403 with
 * `invalid_token`. Another response, or none, is no rejection.
 */
export async function refusalOf(
  session: Session,
  given: ResourceArguments,
  host: Host,
): Promise<Failure | undefined> {
  const signal = host.endSignal();
  const response = await responseTo(session, given, signal);
  if (!response || !rejectsToken(response)) return undefined;
  const { status, headers } = response;
  const { params } = findChallenges(headers)
    .find(({ params }) => params.error !== undefined) ?? {};
  const secrets = secretsIn({ sent: tokensOf(session) });
  const reason = [params?.error, params?.error_description]
    .map((text) => printableWithout(secrets, text))
    .filter(Boolean).join(": ");
  const { href } = given.url;
  return new Failure(
    ExitCode.Failed,
    `${href} rejects the token of this sign-in: ${status} ${
      reason || "without a reason"
    }`,
    remedy`The session is kept. \`${"doctor"}\` shows more.`,
  );
}
