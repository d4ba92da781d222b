/**
 * Sign-in for web servers: {@linkcode createWebSignIn}.
 *
 * **Frameworks.** The functions accept a `Request` and return a `Response`, as in Hono,
 * Deno, Bun, Workers, SvelteKit, Remix, Fresh and the route handlers of Next.js. For
 * Express and other servers of Node, use {@linkcode webRequestOf} and
 * {@linkcode sendResponse}.
 *
 * **Behind a proxy**, a request may have another origin than the site: only the option
 * `origin` counts.
 *
 * **Cookies.** The cookie of a sign-in contains the identifier of the session. While a
 * user is at the server, a second cookie contains what is needed when the user comes
 * back. Both are encrypted, so a copy of your database does not sign an attacker in. A
 * cookie that was copied out of a browser does, until the user signs out or its
 * lifetime ends.
 *
 * **The store** needs a lifetime too, because users who do not come back never sign
 * out. Set it to at least the option `lifetimeSeconds`.
 *
 * @module
 */

export * from "./node_server.ts";
export * from "./web_sign_in.ts";
export * from "./web_sign_in_options.ts";

// The types that the signatures above name, and the types that these name.
export type {
  IAuthenticatedRequest,
  IClientAuthentication,
} from "../client/authentication.ts";
export type { IDpop, IDpopRequest, IDpopResponse } from "../client/dpop.ts";
export type * from "../client/known_client.ts";
export type { IChallengeHeaders } from "../core/challenge.ts";
export type {
  IDiscoveryAttempt,
  OAuthClientErrorCode,
  SignInReason,
} from "../core/errors.ts";
export type * from "../core/metadata.ts";
export type {
  IAuthenticationChallenge,
  IAuthorizationDetail,
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationJWTClaims,
  IAuthorizationTokenResponse,
} from "../core/types.ts";
export type {
  IAuthorizationContext,
  IDiscoverAuthorizationOptions,
} from "../discovery/discover.ts";
export type { IDiscoverAuthorizationServerOptions } from "../discovery/discover_server.ts";
export type { KnownServerMetadata } from "../discovery/unpublished_metadata.ts";
export type { AuthorizedFetchEvent, OnEvent } from "../http/events.ts";
export type * from "../http/request_options.ts";
export type * from "../fetch/authorized_fetch_options.ts";
export type * from "../flows/code_flow_options.ts";
export type * from "../flows/flow.ts";
export type { IPendingAuthorization } from "../flows/pending_authorization.ts";
export type { RegistrationToken } from "../flows/registration_token.ts";
export type * from "../flows/shared_apis.ts";
export type {
  ISession,
  ISessionApi,
  ISessionOptions,
  SessionServerMetadata,
} from "../session/session.ts";
export type { ISessionStore } from "../session/store.ts";
export type { IToken } from "../token/token.ts";
