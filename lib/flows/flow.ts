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
  /** Scopes to request, including the session's scopes. */
  scopes: string[];
  /** Scopes that a challenge requires, including the session's scopes. */
  requiredScopes?: string[] | undefined;
  /**
   * Whether the ID token is sent to the resource: `openid` must be requested, and the
   * ID token must be valid.
   */
  requiresIdToken?: boolean | undefined;
  /**
   * Whether the user must sign in again: nothing from an earlier sign-in may be used.
   */
  isFresh?: boolean | undefined;
  /** The present session with the same issuer; its client can be used again. */
  session?: StoredSession | undefined;
  /** Authentication context classes that the resource requires (RFC 9470). */
  acrValues?: string | undefined;
  /** Seconds that may have passed since the user's authentication (RFC 9470). */
  maxAge?: number | undefined;
  /** For flows of this library: pass it on unchanged. */
  internal?: object | undefined;
}

/**
 * Returns a session for the issuer and the resource of the context. Its argument's
 * `signal` aborts when no caller waits, and when a session is saved or revoked. The
 * call that needed the session throws its errors.
 *
 * To wrap a flow, copy its members to your function, and pass on its argument, or a
 * copy by spread. Keep its `fetch`: it carries the fetch's events, `userAgent`, and the
 * secrets that errors must not repeat.
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
    /** The caller's client. {@linkcode createAuthorizedFetch} uses it for refreshes. */
    readonly client?: Client | undefined;
    /** The caller's clients, which are never discarded. */
    readonly knownClients?: readonly KnownClient[] | undefined;
    /**
     * `false` if no user is needed, as with {@linkcode clientCredentialsFlow}: calls
     * use it even if `signInOn` is `signIn`.
     */
    readonly needsUser?: boolean | undefined;
  };

/** Options of {@linkcode codeFlow} and {@linkcode deviceFlow}. */
export interface FlowOptions {
  /**
   * The client, if you have one. An object with identifier, secret and issuer is kept
   * in the session; a client with its own authentication, such as
   * {@linkcode privateKeyJwt}, is not. Refreshes use the client given here.
   */
  client?: Client | undefined;
  /**
   * Clients of several servers, with their issuers; the discovered server's client is
   * used.
   */
  knownClients?: readonly KnownClient[] | undefined;
  /** URL of your client metadata document. */
  clientMetadataUrl?: string | URL | undefined;
  /** Client metadata for a registration, at least a `client_name`. */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
  /**
   * Initial access token for a registration (RFC 7591, section 3), or a function that
   * returns it for an issuer. Only the registration endpoint receives it; sessions do
   * not contain it. A string is sent to any server that the resource lists: prefer a
   * function.
   */
  initialAccessToken?: InitialAccessToken | undefined;
  /** Scopes to request; when absent, the scopes that the resource lists. */
  scopes?: readonly string[] | undefined;
  /**
   * Adds the scope `offline_access` if the server lists it. For a client that
   * {@linkcode codeFlow} registered, such requests also contain `prompt=consent` until
   * there is a token, and whenever the session contains a refresh token: some servers
   * issue one only then. Your own `prompt` in `parameters` replaces it.
   *
   * @default {true, unless `grant_types` of `clientMetadata` lacks `refresh_token`}
   */
  offlineAccess?: boolean | undefined;
  /** Authorization details to request (RFC 9396). */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined;
  /**
   * Other parameters of the authorization request. If the resource requires another
   * authentication (RFC 9470), its `acr_values` replace yours, and the smaller
   * `max_age` is sent.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * The resource indicator to send, if the server knows the resource by another name;
   * `false` for a server that rejects `resource`. Only the discovered resource receives
   * the token.
   *
   * @default {the resource of the discovery}
   */
  resourceIndicator?: string | URL | false | undefined;
  /**
   * Sends the session's scopes in a refresh too, for a server that requires them, such
   * as Microsoft Entra ID if one application is both client and API.
   */
  sendScopeOnRefresh?: boolean | undefined;
  /**
   * Other parameters of token requests and refreshes, which the session keeps; empty
   * ones are omitted. They never replace a parameter that the request or the client
   * authentication sets. Errors do not repeat the values.
   */
  tokenParameters?: Readonly<Record<string, string>> | undefined;
}
