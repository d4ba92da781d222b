/**
 * What is kept of an authorization request while the user is at the server.
 *
 * @module
 */

import type { KnownClient } from "../client/known_client.ts";
import {
  requireObject,
  requireString,
  requireStrings,
} from "../core/_arguments.ts";
import type { SessionApi, SessionServerMetadata } from "../session/session.ts";

/**
 * The data to keep until the user comes back. It is plain JSON, and must be kept
 * secret.
 *
 * @category Sessions
 */
export interface PendingAuthorization {
  /** The `state` of the request. */
  state: string;
  /** The PKCE code verifier. */
  codeVerifier: string;
  /** The redirect URI of the request. */
  redirectUri: string;
  /** Issuer of the server that the user was sent to. */
  issuer: string;
  /** Another issuer that the authorization response may contain. */
  responseIssuer?: string;
  /** Set if a response without `iss` is rejected. */
  requireIss?: true;
  /** Identifier of the resource that the token is for. */
  resource: string;
  /** Set if the `resource` parameter is never sent to the server. */
  omitResource?: true;
  /** What is sent as `resource` parameter, if it is not `resource` (RFC 8707). */
  resourceIndicator?: string;
  /** Set if a refresh sends the scopes. */
  sendScopeOnRefresh?: true;
  /** Other parameters of token requests and refreshes. */
  tokenParameters?: Record<string, string>;
  /** The `redirect_uri` that a refresh sends. */
  sendRedirectUriOnRefresh?: string;
  /** The other APIs that share the sign-in. */
  apis?: Record<string, SessionApi>;
  /** Set if the API signs in alone, because the server declines to share. */
  isAlone?: true;
  /** Metadata of the server. */
  serverMetadata: SessionServerMetadata;
  /** The client, with its secret if it has one. */
  client: KnownClient;
  /** The requested scopes. */
  scopes: string[];
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
  requireObject("pending", pending);
  for (const name of STRINGS) requireString(`pending.${name}`, pending[name]);
  requireStrings("pending.scopes", pending.scopes);
  requireObject("pending.serverMetadata", pending.serverMetadata);
  const { client_id } = requireObject("pending.client", pending.client);
  requireString("pending.client.client_id", client_id);
}
