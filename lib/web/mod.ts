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
  AuthenticatedRequest,
  ClientAuthentication,
} from "../client/authentication.ts";
export type { Dpop, DpopRequest, DpopResponse } from "../client/dpop.ts";
export type * from "../client/known_client.ts";
export type { ChallengeHeaders } from "../core/challenge.ts";
export type {
  DiscoveryAttempt,
  OAuthClientErrorCode,
  SignInReason,
} from "../core/errors.ts";
export type * from "../core/metadata.ts";
export type {
  AuthorizationDetail,
  IAuthenticationChallenge,
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationJWTClaims,
  IAuthorizationTokenResponse,
} from "../core/types.ts";
export type {
  AuthorizationContext,
  DiscoverAuthorizationOptions,
} from "../discovery/discover.ts";
export type { DiscoverAuthorizationServerOptions } from "../discovery/discover_server.ts";
export type { ServerMetadata } from "../core/metadata.ts";
export type { AuthorizedFetchEvent, OnEvent } from "../http/events.ts";
export type * from "../http/request_options.ts";
export type * from "../fetch/authorized_fetch_options.ts";
export type * from "../flows/code_flow_options.ts";
export type * from "../flows/flow.ts";
export type { PendingAuthorization } from "../flows/pending_authorization.ts";
export type { InitialAccessToken } from "../flows/initial_access_token.ts";
export type * from "../flows/shared_apis.ts";
export type {
  Session,
  SessionApi,
  SessionOptions,
  SessionServerMetadata,
} from "../session/session.ts";
export type { SessionStore } from "../session/store.ts";
export type { Token } from "../token/token.ts";
