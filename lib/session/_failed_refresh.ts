/** What is left of a session that could not be refreshed. */

import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { ISession } from "./session.ts";

/** Checks whether a server has failed, and not only temporarily. */
function isServerError(error: unknown): boolean {
  return isOAuthClientError(error) && error.status === 500 &&
    error.error === "server_error";
}

/** Checks whether the response was a page: of a proxy, or of a server that has no JSON. */
function isPage(error: unknown): boolean {
  return isOAuthClientError(error, "unexpected_status") &&
    (error.status === 400 || error.status === 401);
}

/** Codes of failed refreshes without a status after which a sign-in may help. */
const MENDED_CODES: readonly string[] = [
  "redirect_refused",
  "invalid_id_token",
  // The client is registered with another server than the session.
  "issuer_mismatch",
];

/**
 * Returns what is left of a session that could not be refreshed, for the next sign-in.
 * A failure that is temporary, or that a sign-in does not resolve, is thrown. After any
 * other failure, the endpoint may have moved.
 */
export function restOf(
  session: ISession,
  error: unknown,
  { isNeeded, isWanted }: { isNeeded: boolean; isWanted: boolean | undefined },
): ISession | undefined {
  const { action } = adviceFor(error);
  // Some servers respond like this to each refresh with a dead refresh token.
  if (isNeeded && isServerError(error)) return session;
  // Each further refresh may lead to the same page.
  if (isWanted && action === "retry" && isPage(error)) return session;
  const isMended = isOAuthClientError(error) &&
    (error.status !== undefined || MENDED_CODES.includes(error.code));
  if (action === "retry" || !isMended) throw error;
  if (action === "reregister") return undefined;
  // This refresh token has been used: to the server, a second use may look like theft.
  const isUsed = isOAuthClientError(error, "invalid_id_token");
  if (action !== "reauthorize" && !isUsed) return session;
  const { token_type } = session.token;
  return { ...session, token: { access_token: "", token_type } };
}
