/** What a store of the user's own returns. */

import { OAuthClientError } from "../core/errors.ts";
import type { Session } from "../session/session.ts";

/** Fails if a stored value is less than a session, such as a part of a row. */
export function requireWhole(stored: Session | undefined): void {
  const { issuer, client, token, serverMetadata } = stored ??
    {} as Partial<Session>;
  if (!stored || issuer && client && token && serverMetadata) return;
  const message =
    "The value in the store is not a session (revoke() deletes it)";
  throw new OAuthClientError("invalid_session", message);
}
