/**
 * The sign-in of a web server: {@linkcode createWebSignIn}.
 *
 * **Frameworks.** Its functions take a `Request` and return a `Response`, as Hono, Deno,
 * Bun, Workers, SvelteKit, Remix, Fresh and the route handlers of Next.js do. For Express
 * and other servers of Node there are {@linkcode webRequestOf} and
 * {@linkcode sendResponse}.
 *
 * **Behind a proxy**, the origin of a request is not that of the site: only `origin` of
 * the options counts.
 *
 * **Cookies.** That of a sign-in has the identifier of the session, and one for each
 * visit what is needed when the user comes back; both are encrypted. A copy of your
 * database is therefore no sign-in. A cookie that was copied out of a browser is the
 * user's sign-in until the user signs out, or its lifetime ends.
 *
 * **The store** needs a lifetime of its own, as users who do not come back never sign
 * out: that of the option `lifetimeSeconds` at least.
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
export type * from "../session/authorized_fetch_options.ts";
export type * from "../session/code_flow_options.ts";
export type * from "../session/flow.ts";
export type { IPendingAuthorization } from "../session/pending_authorization.ts";
export type { RegistrationToken } from "../session/registration_token.ts";
export type {
  ISession,
  ISessionOptions,
  SessionServerMetadata,
} from "../session/session.ts";
export type { ISessionStore } from "../session/store.ts";
export type { IToken } from "../token/token.ts";
