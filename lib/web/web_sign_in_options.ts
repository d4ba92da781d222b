import type { Client } from "../client/known_client.ts";
import type { IAuthorizationJWTClaims } from "../core/types.ts";
import type {
  AuthorizedFetch,
  AuthorizedFetchOptions,
} from "../fetch/authorized_fetch_options.ts";
import type { CodeFlowOptions } from "../flows/code_flow_options.ts";
import type { SessionStore } from "../session/store.ts";

/** The used part of a request's header fields. */
export interface HeadersLike {
  /** Returns the value of a header field; `null` if it is absent. */
  get(name: string): string | null;
}

/** A key: 32 bytes, or their Base64 in either alphabet. */
export type CookieKey = string | Uint8Array;

/**
 * The used part of a request; a `Request` satisfies it. For servers of Node,
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
   * The body, or its parameters: only needed for {@linkcode WebSignIn.forward}, and if
   * `parameters` contains `response_mode: "form_post"`.
   */
  readonly body?:
    | ReadableStream<Uint8Array>
    | AsyncIterable<Uint8Array>
    | URLSearchParams
    | null
    | undefined;
  /** Whether anything has read the body, which then cannot be forwarded. */
  readonly bodyUsed?: boolean | undefined;
  /** Aborts when the browser has left. */
  readonly signal?: AbortSignal | undefined;
}

/** The destination of a path of the site, for {@linkcode WebSignIn.forward}. */
export interface ForwardOptions {
  /** The path, such as `/api`. Requests for it, and for paths below it, are forwarded. */
  path: string;
  /**
   * URL of the API, or one below it, without a query. `/api/x?y` goes to `url` + `/x?y`.
   *
   * @default {the resource}
   */
  url?: string | URL | undefined;
  /** More header fields to pass on, in both directions. */
  headers?: readonly string[] | undefined;
}

/** The destination of a path, for {@linkcode forwardRequest}. */
export interface ForwardRequestOptions extends ForwardOptions {
  /** URL of the API, or one below it, without a query. */
  url: string | URL;
}

/** The step that failed. */
export type WebSignInStep = "login" | "callback" | "logout" | "respond";

/** The circumstances of a failure. */
export interface WebSignInFailure {
  /** The step that failed. */
  readonly step: WebSignInStep;
  /** The request. Its URL may contain an authorization code: do not log it. */
  readonly request: WebRequest;
  /**
   * The default page, with the code of the error and a link to sign in again; for a
   * script's `fetch`, JSON with `code` and `login`. Its `Set-Cookie` headers clear the
   * login cookie. Copy them if you return your own response.
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
   * The client, registered with the redirect URI, and with the URL of `homePath` as a
   * `post_logout_redirect_uri`. No cookie contains it.
   */
  client: Client;
  /**
   * Returns the store for a session identifier, such as `redisStore(redis, id, {
   * lifetimeSeconds })`. If the store has no `lock`, return the same object for the
   * same identifier.
   */
  storeOf: (id: string) => SessionStore;
  /**
   * The keys that encrypt the cookies: 32 random bytes each, as bytes or in Base64, the
   * same in all processes. The first encrypts new cookies; the others only decrypt
   * older ones, so you can replace a key without signing users out.
   */
  cookieKeys: readonly CookieKey[];
  /**
   * Name of the session cookie. Each of several sign-ins of a site needs another name.
   * Over HTTPS, the name gets the prefix `__Host-`.
   *
   * @default {"sign-in"}
   */
  cookieName?: string | undefined;
  /**
   * How long a sign-in lasts, in seconds. Activity does not extend it. The ID token's
   * `session_expiry` can shorten it (IPSIE SL1).
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
   * Called with each error, to log it or to return your own page. Without a result, the
   * default page is sent. If the user declines, the error is an `oauth_error` with the
   * `error` `access_denied`. `expired` means that the callback does not match a sign-in
   * that this browser started.
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
   * @default {`returnTo` of the query at `loginPath`; on other paths the page of the
   * request}
   */
  returnTo?: string | undefined;
  /** Other parameters for this sign-in, such as `prompt` or `login_hint`. */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/**
 * Uses the API for {@linkcode WebSignIn.respond}, and returns the response. Receives
 * the first of several `apis`; {@linkcode WebSignIn.apiOf} returns the others.
 */
export type UseApi = (api: AuthorizedFetch) => Response | Promise<Response>;

/** Options of {@linkcode WebSignIn.logout}. */
export interface WebLogoutOptions {
  /**
   * Also signs the user out at the server, if it supports that. Otherwise, the server
   * may sign the user in again without a prompt.
   *
   * @default {true}
   */
  atServer?: boolean | undefined;
}

/** The sign-in of a web server, from {@linkcode createWebSignIn}. */
export interface WebSignIn {
  /**
   * Redirects the user to the server. If the user does not open a page, as with a
   * prefetch or a script's `fetch`, the response is 403.
   */
  login(request: WebRequest, options?: WebLoginOptions): Promise<Response>;
  /**
   * Redirects the user to the server if an API's response requires that: a `401`, or a
   * `403` for more scopes. Otherwise returns undefined: use the response. It does so if
   * another sign-in would not help, for example right after a sign-in, and if the user
   * does not open a page.
   */
  loginFor(
    request: WebRequest,
    response: Response,
    options?: WebLoginOptions,
  ): Promise<Response | undefined>;
  /**
   * Finishes the sign-in when the user comes back, and redirects to the wanted page.
   * The session gets a new identifier. A `POST` of `form_post` is first redirected to
   * the same path, with the parameters in the query.
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
   * the server revoked the session, the API responds with `401`. Errors of `storeOf`
   * reject.
   *
   * @param url The URL of one of several `apis`; the resource when absent.
   * @throws {OAuthClientError} `invalid_argument`: the URL belongs to no API.
   */
  apiOf(
    request: Pick<WebRequest, "headers">,
    url?: string | URL,
  ): Promise<AuthorizedFetch | undefined>;
  /**
   * Returns the identifier of the user's session, which `storeOf` receives; undefined
   * if the user is signed out. Keep it for a background job, and pass it to
   * {@linkcode WebSignIn.apiOfSession}. Each new sign-in, even for more scopes, changes
   * the identifier.
   */
  sessionIdOf(
    request: Pick<WebRequest, "headers">,
  ): Promise<string | undefined>;
  /**
   * Returns a user's API without a request, such as for a background job. Returns
   * undefined if the store has no such session: the user signed out or in again, or it
   * expired. A job cannot prompt the user: stop it if the API responds with `401`.
   * `revoke()` of the API signs the user out.
   *
   * @param id From {@linkcode WebSignIn.sessionIdOf}, never from a visitor.
   * @param url The URL of one of several `apis`; the resource when absent.
   * @throws {OAuthClientError} `invalid_argument`: the URL belongs to no API, or the
   * identifier is empty.
   */
  apiOfSession(
    id: string,
    url?: string | URL,
  ): Promise<AuthorizedFetch | undefined>;
  /**
   * Returns the claims of the user's checked ID token; undefined if the user is signed
   * out, or the session contains no ID token. Request the scope `openid`, and `email`
   * and `profile` if the server supports them. Use the claims to greet the user. Your
   * site decides which actions the user may perform.
   */
  userOf(
    request: Pick<WebRequest, "headers">,
  ): Promise<IAuthorizationJWTClaims | undefined>;
  /**
   * Responds to a request with the API's help. `use` receives the API and returns the
   * response.
   *
   * - Without a session, or if the API's response requires a sign-in as for
   *   {@linkcode WebSignIn.loginFor}, the user is redirected to the server. A script
   *   gets a `401` with the JSON
   *   `{"code":"sign_in_required","login":"https://app.example/login"}`. With several `apis`, the query of `login`
   *   names the API.
   * - An API's response is passed on with its status, body and `Content-Type`, unless
   *   the type is `multipart/*`. Your own response is sent unchanged.
   * - If the API, the server or the store fails, `onError` is called. The user gets a
   *   page, a script JSON with `code` and `login`. The status is `503` with
   *   `Retry-After` if a retry may help, otherwise `502`.
   * - The method rejects only with an error that `use` itself throws.
   * - Another site can link to the page. Its scripts, images and forms get `403`.
   */
  respond(
    request: WebRequest,
    use: UseApi,
    options?: WebLoginOptions,
  ): Promise<Response>;
  /**
   * Forwards a page's request to the API with the user's token, and returns the
   * response. Returns undefined for another path. `docs/forward.md` in the package
   * lists the rules.
   *
   * - Another origin gets `403`, even for a link. So does a request for a script or a
   *   style sheet, which would run as the site's own.
   * - If the user is signed out, or anything fails, the response is as in
   *   {@linkcode WebSignIn.respond}.
   * - After a `401`, a body of up to 256 KiB is sent again with a new token. For
   *   another body, the response is `503` with `Retry-After: 0`, and the code
   *   `send_again`.
   *
   * @throws {OAuthClientError} `invalid_argument`: an option is invalid, `url` belongs
   * to no API of the sign-in, or the request's body was read before.
   */
  forward(
    request: WebRequest,
    options: ForwardOptions,
  ): Promise<Response | undefined>;
  /** Responds to requests for the three paths; returns undefined for any other. */
  handle(request: WebRequest): Promise<Response | undefined>;
}
