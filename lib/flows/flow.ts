/**
 * How {@linkcode createAuthorizedFetch} obtains a session.
 *
 * @module
 */

import type {
  AuthorizationDetail,
  IAuthorizationDynamicClientRegistrationRequest,
} from "../core/types.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import type { Client, KnownClient } from "../client/known_client.ts";
import type { InitialAccessToken } from "./initial_access_token.ts";
import type {
  Session,
  SessionOptions,
  StoredSession,
} from "../session/session.ts";

/**
 * The argument of a {@linkcode Flow} function.
 *
 * @category Flows
 */
export interface FlowRequest extends SessionOptions {
  /** The result of the discovery. */
  context: AuthorizationContext;
  /** Scopes to request, including those of the session. */
  scopes: string[];
  /** Scopes that a challenge requires, including those of the session. */
  requiredScopes?: string[] | undefined;
  /**
   * Whether the ID token is sent to the resource: `openid` has to be requested, and the
   * ID token has to be valid.
   */
  requiresIdToken?: boolean | undefined;
  /**
   * Whether the user has to sign in again: nothing from an earlier sign-in may be used.
   */
  isFresh?: boolean | undefined;
  /** The present session, if it has the same issuer; its client can be used again. */
  session?: StoredSession | undefined;
  /** Authentication context classes that the resource requires (RFC 9470). */
  acrValues?: string | undefined;
  /** Seconds that may have passed since the user's authentication (RFC 9470). */
  maxAge?: number | undefined;
  /** What the fetch tells flows of this library: pass it on as it is. */
  internal?: object | undefined;
}

/**
 * Returns a session for the issuer and the resource of the context. The `signal` of its
 * argument aborts when no caller waits for the session any more, and when a session is
 * saved or revoked. Its errors are thrown by the call that needed the session.
 *
 * To wrap a flow, copy the members of the flow to your function, and pass on its
 * argument, or a copy by spread with other members. `fetch` in it also carries the
 * fetch's events, its `userAgent`, and what errors must not repeat: with a function of
 * your own around it, the requests of the flow lack these.
 *
 * @example Write down each sign-in of a flow
 * ```ts
 * import { type Flow, createAuthorizedFetch, deviceFlow } from "@oauth-helper/client";
 *
 * function logged(flow: Flow): Flow {
 *   const wrapped: Flow = async (request) => {
 *     console.log(`Signing in at ${request.context.issuer}`);
 *     return await flow({ ...request, scopes: ["read"] });
 *   };
 *   return Object.assign(wrapped, flow);
 * }
 *
 * export const api = createAuthorizedFetch("https://api.example/mcp", {
 *   flow: logged(deviceFlow({
 *     clientMetadata: { client_name: "My client" },
 *     show: ({ verification_uri, user_code }) =>
 *       console.log(`Open ${verification_uri} and enter ${user_code}`),
 *   })),
 * });
 * ```
 *
 * @category Flows
 */
export type Flow =
  & ((request: FlowRequest) => Promise<Session>)
  & {
    /**
     * The client that the caller has set. {@linkcode createAuthorizedFetch} uses it for
     * refreshes.
     */
    readonly client?: Client | undefined;
    /** The clients that the caller has set; they are never discarded. */
    readonly knownClients?: readonly KnownClient[] | undefined;
    /**
     * `false` if no user is needed, as with {@linkcode clientCredentialsFlow}: calls use
     * it even if `signInOn` is `signIn`.
     */
    readonly needsUser?: boolean | undefined;
  };

/** Options of {@linkcode codeFlow} and {@linkcode deviceFlow}. */
export interface FlowOptions {
  /**
   * The client, if you have one already. An object with the identifier, the secret and
   * their issuer is kept in the session; a client with its own authentication, such as
   * from {@linkcode privateKeyJwt}, is not. Refreshes use the client given here.
   */
  client?: Client | undefined;
  /**
   * Clients of several servers, with their issuers; the client of the discovered server
   * is used.
   */
  knownClients?: readonly KnownClient[] | undefined;
  /** URL of your client metadata document. */
  clientMetadataUrl?: string | URL | undefined;
  /** Client metadata for a registration, at least a `client_name`. */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
  /**
   * Initial access token for a registration (RFC 7591, section 3), or a function that
   * returns it for an issuer. It is sent to the registration endpoint only, and is not
   * kept in a session. Set a function unless every server that the resource may list is
   * allowed to have the token.
   */
  initialAccessToken?: InitialAccessToken | undefined;
  /** Scopes to request; when absent, the scopes that the resource lists. */
  scopes?: readonly string[] | undefined;
  /**
   * Adds the scope `offline_access` if the server lists it. For a client
   * that {@linkcode codeFlow} registered, its requests with this scope also contain
   * `prompt=consent`, unless `parameters` contains a `prompt`, until there is a token; and
   * again where the session has a refresh token: some servers issue one only then. If
   * `grant_types` of `clientMetadata` lacks `refresh_token`, the default is false.
   *
   * @default true
   */
  offlineAccess?: boolean | undefined;
  /** Authorization details to request (RFC 9396). */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined;
  /**
   * Other parameters of the authorization request. When the resource requires
   * another authentication (RFC 9470), its `acr_values` replace yours, and the smaller
   * `max_age` is sent.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * The resource indicator to send, where the server knows the resource by another
   * name; `false` for a server that rejects the `resource` parameter. The token is sent
   * to the resource of the discovery only, whatever is set here.
   *
   * @default {the resource of the discovery}
   */
  resourceIndicator?: string | URL | false | undefined;
  /**
   * Sends the scopes of the session in a refresh too, for a server that requires them,
   * such as Microsoft Entra ID if one application is both client and API.
   */
  sendScopeOnRefresh?: boolean | undefined;
  /**
   * Other parameters of token requests and refreshes, which are kept in the session;
   * parameters with an empty value are omitted. A parameter that the request or the
   * client authentication sets itself is not replaced. Errors do not repeat the values.
   */
  tokenParameters?: Readonly<Record<string, string>> | undefined;
}
