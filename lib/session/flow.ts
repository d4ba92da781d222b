/**
 * How {@linkcode createAuthorizedFetch} obtains a session.
 *
 * @module
 */

import type {
  IAuthorizationDetail,
  IAuthorizationDynamicClientRegistrationRequest,
} from "../core/types.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import type { Client, IKnownClient } from "../client/known_client.ts";
import type { ISession, ISessionOptions } from "./session.ts";

/** What an {@linkcode Authorize} function is called with. */
export interface IAuthorizeRequest extends ISessionOptions {
  /** The result of the discovery. */
  context: IAuthorizationContext;
  /** Scopes to request, those of the session included. */
  scopes: string[];
  /** Scopes that a challenge requires, those of the session included. */
  requiredScopes?: string[] | undefined;
  /**
   * Whether the resource is sent the ID token: `openid` has to be requested, and the ID
   * token to be valid.
   */
  requiresIdToken?: boolean | undefined;
  /** Whether the user is to sign in anew: nothing of an earlier sign-in may be used. */
  isFresh?: boolean | undefined;
  /** The session so far, if it is of the same issuer; its client can be used again. */
  session?: ISession | undefined;
  /**
   * Runs the visit of a user who is sent away with the client of `session`. If the user
   * does not come back, because the server has forgotten that client, the next sign-in
   * is without it.
   */
  whileAway?: (<T>(visit: () => Promise<T>) => Promise<T>) | undefined;
  /** Authentication context classes that the resource requires (RFC 9470). */
  acrValues?: string | undefined;
  /** Seconds since the user's authentication that the resource accepts (RFC 9470). */
  maxAge?: number | undefined;
}

/**
 * Returns a session for the issuer and the resource of the context. Its `signal`
 * aborts when no caller waits for the session any more, and when a session is saved or
 * revoked. What it throws is thrown by the call that needed the session.
 */
export type Authorize =
  & ((request: IAuthorizeRequest) => Promise<ISession>)
  & {
    /**
     * The client that the caller has named, for the refreshes of
     * {@linkcode createAuthorizedFetch}. A function that wraps a flow passes it on.
     */
    readonly client?: Client | undefined;
  };

/** Options of {@linkcode codeFlow} and {@linkcode deviceFlow}. */
export interface IFlowOptions {
  /**
   * The client, if you have one already: an identifier, a secret and the issuer that
   * they belong to, or the result of {@linkcode privateKeyJwt} and the like. The first
   * is kept in the session, the second is not; refreshes use the one given here.
   */
  client?: Client | undefined;
  /** Clients of several servers, with their issuers; the one that fits is used. */
  knownClients?: readonly IKnownClient[] | undefined;
  /** URL of your client metadata document. */
  clientMetadataUrl?: string | URL | undefined;
  /** Client metadata for a registration, with a `client_name` at least. */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
  /** Scopes to request; what the resource names when absent. */
  scopes?: readonly string[] | undefined;
  /**
   * Adds the scope `offline_access` if the server lists it.
   *
   * @default true
   */
  offlineAccess?: boolean | undefined;
  /** Authorization details to request (RFC 9396). */
  authorizationDetails?: readonly IAuthorizationDetail[] | undefined;
  /**
   * Further parameters of the authorization request. When the resource requires
   * another authentication (RFC 9470), its `acr_values` replace yours, and the smaller
   * `max_age` is sent.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
  /** `false` for a server that rejects the `resource` parameter. */
  resource?: false | undefined;
  /**
   * Sends the scopes of the session in a refresh, for a server that requires them there
   * as well, such as Microsoft Entra ID where one application is client and API.
   */
  refreshScope?: boolean | undefined;
}
