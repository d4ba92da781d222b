/**
 * The options and the result of {@linkcode createWebSignIn}.
 *
 * @module
 */

import type { Client } from "../client/known_client.ts";
import type { IAuthorizationJWTClaims } from "../core/types.ts";
import type {
  AuthorizedFetch,
  AuthorizedFetchOptions,
} from "../fetch/authorized_fetch_options.ts";
import type { CodeFlowOptions } from "../flows/code_flow_options.ts";
import type { SessionStore } from "../session/store.ts";

/** The part of the header fields of a request that is used. */
export interface HeadersLike {
  /** Returns the value of a header field; `null` if it is absent. */
  get(name: string): string | null;
}

/** A key as the caller has it: 32 bytes, or their Base64 in either alphabet. */
export type CookieKey = string | Uint8Array;

/**
 * The part of a request that is used; a `Request` satisfies it. For servers of Node,
 * {@linkcode webRequestOf} creates it.
 */
export interface WebRequest {
  /** The method, in capitals. */
  readonly method: string;
  /** The URL, or the path with its query; the origin does not count. */
  readonly url: string;
  /** The header fields. */
  readonly headers: HeadersLike;
  /**
   * The body, or the parameters in it: only needed for {@linkcode WebSignIn.forward}, and
   * if `parameters` contains `response_mode: "form_post"`.
   */
  readonly body?:
    | ReadableStream<Uint8Array>
    | AsyncIterable<Uint8Array>
    | URLSearchParams
    | null
    | undefined;
  /** Whether anything has read the body: it cannot be forwarded then. */
  readonly bodyUsed?: boolean | undefined;
  /** Aborts when the browser has left. */
  readonly signal?: AbortSignal | undefined;
}

/** What a path of the site stands for, for {@linkcode WebSignIn.forward}. */
export interface ForwardOptions {
  /** The path, such as `/api`. Requests for it, and for paths below it, are forwarded. */
  path: string;
  /**
   * URL of the API, or one below it, without a query. `/api/x?y` goes to `url` + `/x?y`.
   *
   * @default {the resource}
   */
  url?: string | URL | undefined;
  /** Names of other header fields that are passed, in both directions. */
  headers?: readonly string[] | undefined;
}

/** What a path stands for, for {@linkcode forwardRequest}. */
export interface ForwardRequestOptions extends ForwardOptions {
  /** URL of the API, or one below it, without a query. */
  url: string | URL;
}

/** The step that failed. */
export type WebSignInStep = "login" | "callback" | "logout" | "respond";

/** What is known about a failure, besides the error. */
export interface WebSignInFailure {
  /** The step that failed. */
  readonly step: WebSignInStep;
  /** The request. Its URL may contain an authorization code: do not log it. */
  readonly request: WebRequest;
  /**
   * The default page, with the code of the error and a link to sign in again; for the
   * `fetch` of a script, JSON with `code` and `login`. Its `Set-Cookie` headers clear
   * the login cookie. Copy them if you return your own response.
   */
  readonly page: Response;
}

/** Options of {@linkcode createWebSignIn}. */
export interface WebSignInOptions extends
  Omit<
    AuthorizedFetchOptions,
    "client" | "flow" | "signInOn" | "store"
  >,
  Pick<
    CodeFlowOptions,
    | "assumePkce"
    | "authorizationDetails"
    | "offlineAccess"
    | "par"
    | "parameters"
    | "sendRedirectUriOnRefresh"
    | "sendScopeOnRefresh"
    | "requireIss"
    | "resourceIndicator"
    | "scopes"
    | "tokenParameters"
  > {
  /**
   * Origin of the site, as browsers see it, such as `https://app.example`. The redirect
   * URI is this origin with `callbackPath`.
   */
  origin: string | URL;
  /**
   * The client, registered with the redirect URI, and with the URL of `homePath` as one
   * of its `post_logout_redirect_uris`. No cookie contains it.
   */
  client: Client;
  /**
   * Returns the store for a session identifier, such as
   * `redisStore(redis, id, { lifetimeSeconds })`. If the store has no `lock`, return the
   * same object for the same identifier.
   */
  storeOf: (id: string) => SessionStore;
  /**
   * The keys that encrypt the cookies: 32 random bytes each, as bytes or in Base64, the
   * same in all processes. The first encrypts new cookies; the others only decrypt
   * older ones, so that you can replace a key without signing users out.
   */
  cookieKeys: readonly CookieKey[];
  /**
   * Name of the cookie of a sign-in. If a site has several sign-ins, each needs another
   * name. With https, the name is prefixed with `__Host-`.
   *
   * @default {"sign-in"}
   */
  cookieName?: string | undefined;
  /**
   * How long a sign-in lasts, in seconds. Activity does not extend it. The server can
   * shorten this time by the claim `session_expiry` of the ID token (IPSIE SL1).
   *
   * @default {2592000, which are 30 days}
   */
  lifetimeSeconds?: number | undefined;
  /**
   * Path of {@linkcode WebSignIn.login}.
   *
   * @default {"/login"}
   */
  loginPath?: string | undefined;
  /**
   * Path of {@linkcode WebSignIn.callback}.
   *
   * @default {"/callback"}
   */
  callbackPath?: string | undefined;
  /**
   * Path of {@linkcode WebSignIn.logout}.
   *
   * @default {"/logout"}
   */
  logoutPath?: string | undefined;
  /**
   * Path of the page after a sign-out, and after a sign-in without `returnTo`.
   *
   * @default {"/"}
   */
  homePath?: string | undefined;
  /**
   * Called with each error, to log it or to return a page of your own. Without a
   * result, the default page is sent. If the user declines, the error is an
   * `oauth_error` with the `error` `access_denied`. `expired` means that the callback
   * belongs to no visit of this browser.
   *
   * @default {console.error, except for `expired`}
   */
  onError?:
    | ((
      error: unknown,
      failure: WebSignInFailure,
    ) => Response | undefined | void | Promise<Response | undefined | void>)
    | undefined;
}

/** Options of {@linkcode WebSignIn.login}. */
export interface WebLoginOptions {
  /**
   * Where the user goes afterwards: a path of the site. Anything else counts as
   * `homePath`, so you may pass user input.
   *
   * @default {`returnTo` of the query at `loginPath`; elsewhere the page of the request}
   */
  returnTo?: string | undefined;
  /** Other parameters for this sign-in, such as `prompt` or `login_hint`. */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/**
 * Uses the API for {@linkcode WebSignIn.respond}, and returns the response. Of several
 * `apis`, it receives the first; {@linkcode WebSignIn.apiOf} returns the others.
 */
export type UseApi = (api: AuthorizedFetch) => Response | Promise<Response>;

/** Options of {@linkcode WebSignIn.logout}. */
export interface WebLogoutOptions {
  /**
   * Also ends the user's session at the server, if the server has a page for that.
   * Otherwise, the server may sign the user in again without asking.
   *
   * @default {true}
   */
  atServer?: boolean | undefined;
}

/** The sign-in of a web server, from {@linkcode createWebSignIn}. */
export interface WebSignIn {
  /**
   * Redirects the user to the server. If the user does not open a page, as with a
   * prefetch or a `fetch` of a script, the response is 403.
   */
  login(request: WebRequest, options?: WebLoginOptions): Promise<Response>;
  /**
   * Redirects the user to the server if a response of the API requires that: a `401`,
   * or a `403` for more scopes. Returns undefined if another sign-in would not help,
   * for example because the user has just signed in, and if the user does not open a
   * page: then use the response.
   */
  loginFor(
    request: WebRequest,
    response: Response,
    options?: WebLoginOptions,
  ): Promise<Response | undefined>;
  /**
   * Finishes the sign-in when the user comes back, and redirects to the page that the
   * user wanted. The session gets a new identifier. The `POST` of `form_post` is
   * redirected to the same path first, as a `GET` with the parameters in its query.
   */
  callback(request: WebRequest): Promise<Response>;
  /**
   * Signs the user out: deletes the session, and revokes its tokens. Accepts only a
   * `POST` from a page of this origin.
   */
  logout(
    request: WebRequest,
    options?: WebLogoutOptions,
  ): Promise<Response>;
  /**
   * Returns the API for the user of a request; undefined if the user is signed out. If
   * the session was revoked at the server, the API responds with `401`. Rejects with what
   * `storeOf` throws.
   *
   * @param url Of several `apis`, the URL of one; when absent, the resource.
   * @throws {OAuthClientError} `invalid_argument`: the URL belongs to none of them.
   */
  apiOf(
    request: Pick<WebRequest, "headers">,
    url?: string | URL,
  ): Promise<AuthorizedFetch | undefined>;
  /**
   * Returns the identifier of the user's session, which is what `storeOf` receives;
   * undefined if the user is signed out. Keep it for a background job, and pass it to
   * {@linkcode WebSignIn.apiOfSession}. A new sign-in, also for more scopes, gives the
   * session a new identifier.
   */
  sessionIdOf(
    request: Pick<WebRequest, "headers">,
  ): Promise<string | undefined>;
  /**
   * Returns the API for a user without a request, such as for a background job.
   * Undefined if the store has no session with this identifier: the user has signed out
   * or signed in again, or the session has expired. A job cannot prompt the user: stop it
   * if the API responds with `401`. `revoke()` of the API signs the user out.
   *
   * @param id From {@linkcode WebSignIn.sessionIdOf}, never from a visitor.
   * @param url Of several `apis`, the URL of one; when absent, the resource.
   * @throws {OAuthClientError} `invalid_argument`: the URL belongs to none of them, or
   * the identifier is empty.
   */
  apiOfSession(
    id: string,
    url?: string | URL,
  ): Promise<AuthorizedFetch | undefined>;
  /**
   * Returns the claims of the user's ID token, which were checked at the sign-in;
   * undefined if the user is signed out, or the session contains no ID token. Request
   * an ID token with the scope `openid`, and the e-mail address and name with `email`
   * and `profile`, where the server supports these scopes. Use the claims to greet the
   * user. Your site decides what the user may do.
   */
  userOf(
    request: Pick<WebRequest, "headers">,
  ): Promise<IAuthorizationJWTClaims | undefined>;
  /**
   * Responds to a request for which the site needs the API. `use` receives the API and
   * returns the response.
   *
   * - If the user is signed out, or the returned response of the API requires a
   * sign-in as
   *   for {@linkcode WebSignIn.loginFor}, the user is redirected to the server. A script
   *   cannot follow that: it gets a `401` with the JSON
   *   `{"code":"sign_in_required","login":"https://app.example/login"}`. Of several
   *   `apis`, the query of `login` names the one that lacks a sign-in.
   * - A response of the API is passed on with its status, body and `Content-Type` only,
   *   and without a type that is `multipart/*`. A response of your own is sent as it is.
   * - If the API, the server or the store fails, `onError` is called, and the user gets a
   *   page; a script gets JSON with `code` and `login`. The status is `503` with
   *   `Retry-After` if trying again may help, otherwise `502`.
   * - The method rejects only with an error that `use` itself throws, for the error
   *   handler of your framework.
   * - Another site can link to the page. Its scripts, images and forms get `403`.
   */
  respond(
    request: WebRequest,
    use: UseApi,
    options?: WebLoginOptions,
  ): Promise<Response>;
  /**
   * Forwards a request of a page of the site to the API, with the user's token, and
   * returns the response. Returns undefined if the path of the request is not at or below
   * `path`. Bodies are streamed in both directions. {@linkcode forwardRequest} lists the
   * rules. Here also:
   *
   * - Another origin gets `403`, even for a link. So does a request for a script or a
   *   style sheet: one of the API would run as one of the site.
   * - If the user is signed out, or anything fails, the response is the one of
   *   {@linkcode WebSignIn.respond}.
   * - After a `401`, a body of up to 256 KiB is sent again with a new token. For another
   *   body, the response is `503` with `Retry-After: 0`, and the code `send_again`.
   *
   * @throws {OAuthClientError} `invalid_argument`: an option is not valid, `url` belongs
   * to no API of the sign-in, or the body of the request was read before.
   */
  forward(
    request: WebRequest,
    options: ForwardOptions,
  ): Promise<Response | undefined>;
  /** Responds to requests for the three paths; returns undefined for any other. */
  handle(request: WebRequest): Promise<Response | undefined>;
}
