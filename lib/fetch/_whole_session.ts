import { OAuthClientError } from "../core/errors.ts";
import type { StoredSession } from "../session/session.ts";
import { requireVersion } from "../session/_version.ts";

/** Fails if a custom store returns less than a session, such as a part of a row. */
export function requireWhole(stored: StoredSession | undefined): void {
  if (!stored) return;
  requireVersion(stored, "the store");
  const { version, issuer, server, client, token } = stored;
  if (version && issuer && server && (client || token)) return;
  const message =
    "The value in the store is not a session (revoke() deletes it)";
  throw new OAuthClientError("invalid_session", message);
}
