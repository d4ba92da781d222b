import { OFFLINE_ACCESS } from "../core/scopes.ts";
import type { StoredSession } from "../session/session.ts";

/**
 * Some servers issue a refresh token only after this prompt (OpenID Connect Core 1.0,
 * section 11). Some servers that register no clients let only administrators answer it.
 * So the first request contains it only for a client that the library registered, which
 * needs consent anyway.
 */
export const CONSENT = { prompt: "consent" };

/** Checks whether a session should contain a refresh token, but does not. */
export function lacksRefreshToken(
  session: Pick<StoredSession, "scopes" | "token"> | null | undefined,
): boolean {
  if (!session) return false;
  const { scopes, token } = session;
  return scopes.includes(OFFLINE_ACCESS) && !!token?.access_token &&
    !token.refresh_token;
}
