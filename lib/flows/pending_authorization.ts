/**
 * What is kept of an authorization request while the user is at the server.
 *
 * @module
 */

import {
  requireArgument,
  requireObject,
  requireString,
  requireStrings,
} from "../core/_arguments.ts";
import type { StoredSession } from "../session/session.ts";

/**
 * The data to keep until the user comes back. It is plain JSON, and must be kept
 * secret.
 *
 * @category Sessions
 */
export interface PendingAuthorization
  extends Omit<StoredSession, "token" | "bearer" | "dpopThumbprint"> {
  /** The `state` of the request. */
  state: string;
  /** The PKCE code verifier. */
  codeVerifier: string;
  /** The redirect URI of the request. */
  redirectUri: string;
  /** Another issuer that the authorization response may contain. */
  responseIssuer?: string;
  /** Set if a response without `iss` is rejected. */
  requireIss?: true;
  /** The `prompt` of the request, if it had one. */
  prompt?: string;
  /** The `nonce` that the ID token must have. */
  nonce?: string;
  /**
   * The earliest `auth_time` that the ID token may have, in seconds since the Unix
   * epoch: `max_age` before the request.
   */
  earliestAuthTime?: number;
  /**
   * Set if the caller has not requested `openid`: the session then does not contain an
   * ID token that fails its checks.
   */
  optionalIdToken?: true;
}

/** Members that are strings; the checks of the response and of requests need them. */
const STRINGS = ["state", "codeVerifier", "redirectUri", "resource"] as const;

/** Checks what a caller has kept, which may be of another version or shape. */
export function requirePending(pending: PendingAuthorization): void {
  const { version } = requireObject("pending", pending);
  requireArgument(
    version === 1,
    "pending.version",
    "1, as written by this version",
  );
  for (const name of STRINGS) requireString(`pending.${name}`, pending[name]);
  requireStrings("pending.scopes", pending.scopes);
  requireObject("pending.server", pending.server);
  const { client_id } = requireObject("pending.client", pending.client);
  requireString("pending.client.client_id", client_id);
}
