/** When a user is prompted for consent again, to obtain a refresh token. */

import { OFFLINE_ACCESS } from "../core/scopes.ts";
import type { StoredSession } from "../session/session.ts";

/**
 * Some servers issue a refresh token only after this prompt (OpenID Connect Core 1.0,
 * section 11). At others, which register no clients, only administrators can answer it:
 * so the first request has it only for a client that the library has registered, which
 * needs consent anyway.
 */
export const CONSENT = { prompt: "consent" };

/** Checks whether a session should have a refresh token, but has none. */
export function lacksRefreshToken(
  session: Pick<StoredSession, "scopes" | "token"> | null | undefined,
): boolean {
  if (!session) return false;
  const { scopes, token } = session;
  return scopes.includes(OFFLINE_ACCESS) && !!token?.access_token &&
    !token.refresh_token;
}
