import {
  requireArgument,
  requireObject,
  requireString,
  requireStrings,
} from "../core/_arguments.ts";
import type { StoredSession } from "../session/session.ts";

/**
 * The data of an authorization request to keep until the user comes back. Plain JSON;
 * keep it secret.
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
  /** The `prompt` of the request. */
  prompt?: string;
  /** The `nonce` that the ID token must contain. */
  nonce?: string;
  /**
   * The earliest allowed `auth_time` of the ID token, in seconds since the Unix epoch.
   */
  earliestAuthTime?: number;
  /**
   * Set if the caller did not request `openid`: an ID token that fails its checks is
   * then omitted.
   */
  optionalIdToken?: true;
}

/** Members that the checks of the response and requests need. */
const STRINGS = ["state", "codeVerifier", "redirectUri", "resource"] as const;

/** Checks stored data, which may have another version or shape. */
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
