/** What a refresh makes of a session, even if it fails. */

import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import { fetchWith } from "../http/_transport.ts";
import { emit } from "../http/events.ts";
import { expires } from "./_bearer.ts";
import { type INeed, secretTokens } from "./_renewal_reason.ts";
import { revoked } from "./_shared_store.ts";
import { type IRenewal, replaceSession } from "./_usable_session.ts";
import { refreshed, sessionDropped } from "./_session_events.ts";
import { type ISession, refreshSession, sessionOptionsOf } from "./session.ts";

/** Checks whether a server has failed, and not only temporarily. */
function isServerError(error: unknown): boolean {
  return isOAuthClientError(error) && error.status === 500 &&
    error.error === "server_error";
}

/** Codes of failed refreshes without a status after which a sign-in may help. */
const MENDED_CODES: readonly string[] = [
  "redirect_refused",
  "invalid_id_token",
  // The client is registered with another server than that of the session.
  "issuer_mismatch",
];

/**
 * Returns what is left of a session that could not be refreshed, for the next sign-in.
 * A failure that is temporary, or that a sign-in does not resolve, is thrown. After any
 * other failure, the endpoint may have moved.
 */
function restOf(
  session: ISession,
  error: unknown,
  isNeeded: boolean,
): ISession | undefined {
  const { action } = adviceFor(error);
  // Some servers respond like this to each refresh with a dead refresh token.
  if (isNeeded && isServerError(error)) return session;
  const isMended = isOAuthClientError(error) &&
    (error.status !== undefined || MENDED_CODES.includes(error.code));
  if (action === "retry" || !isMended) throw error;
  if (action === "reregister") return undefined;
  if (action !== "reauthorize") return session;
  const { token_type } = session.token;
  return { ...session, token: { access_token: "", token_type } };
}

/**
 * Refreshes a session; tries once more if the response of a rotation may have been
 * lost.
 */
async function refreshTwice(
  session: ISession,
  { rules, options }: IRenewal,
): Promise<ISession> {
  // The server knows the access token too.
  const sent = secretTokens(session);
  const refresh = () =>
    refreshSession(session, {
      // Without a signal: the server may have rotated the refresh token already.
      ...sessionOptionsOf(options),
      fetch: fetchWith(options.fetch, { sent }),
    });
  try {
    return await refresh();
  } catch (error) {
    // Many servers accept the former refresh token for a while. Other servers may
    // revoke the session, so it is only sent if the session cannot be used without a
    // refresh.
    const isLost = isOAuthClientError(error) &&
      error.code === "network_error" && expires(session, "now", rules);
    if (!isLost) throw error;
    return await refresh();
  }
}

/** The refreshed session, or what is left of the former one. */
export type RefreshOutcome =
  | { readonly session: ISession }
  | { readonly rest: ISession | undefined };

/** Refreshes a session and stores the result. */
export async function refreshStored(
  stored: ISession,
  { isChallenged = false }: INeed,
  renewal: IRenewal,
): Promise<RefreshOutcome> {
  const { store, rules, authorize, onEvent, options } = renewal;
  const { deletions } = store;
  const replace = async (session: ISession | undefined) => {
    // revoke() waits for a refresh for a second only.
    if (store.deletions !== deletions) throw revoked();
    await replaceSession(stored, session, renewal);
  };
  const { issuer } = stored;
  let session: ISession;
  try {
    session = await refreshTwice(stored, renewal);
  } catch (error) {
    const isNeeded = isChallenged || expires(stored, "now", rules);
    const rest = restOf(stored, error, isNeeded);
    // Only a sign-in could find out more. The process that signs in may have the right
    // secret.
    const isNamed = rest === undefined && options.client !== undefined;
    if (!authorize && (rest === stored || isNamed)) throw error;
    if (rest !== stored) {
      await replace(rest);
      const event = sessionDropped(issuer, error as OAuthClientError);
      emit(onEvent, event, secretTokens(stored));
    }
    return { rest };
  }
  await replace(session);
  emit(onEvent, refreshed(session), secretTokens(session));
  // A server may return no ID token in a refresh.
  const isOld = rules.bearer === "id_token" && expires(session, "now", rules);
  return isOld ? { rest: session } : { session };
}
