/** When a user is asked for consent again, so that there is a refresh token. */

import { OFFLINE_ACCESS } from "../core/scopes.ts";
import type { ISession } from "./session.ts";

/**
 * Some servers issue a refresh token only after this prompt (OpenID Connect Core 1.0,
 * section 11). Others let administrators alone answer it, so that it is never sent at
 * first.
 */
export const CONSENT = { prompt: "consent" };

/** Checks whether a session was to have a refresh token, and has none. */
export function lacksRefreshToken(
  session: Pick<ISession, "scopes" | "token"> | undefined,
): boolean {
  return session !== undefined && session.scopes.includes(OFFLINE_ACCESS) &&
    session.token.access_token !== "" && !session.token.refresh_token;
}
