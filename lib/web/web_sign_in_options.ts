/**
 * The options and the result of {@linkcode createWebSignIn}.
 *
 * @module
 */

import type { Client } from "../client/known_client.ts";
import type { IAuthorizationJWTClaims } from "../core/types.ts";
import type {
  IAuthorizedFetch,
  IAuthorizedFetchOptions,
} from "../session/authorized_fetch_options.ts";
import type { ICodeFlowOptions } from "../session/code_flow_options.ts";
import type { ISessionStore } from "../session/store.ts";
import type { IHeaders } from "./_cookies.ts";
import type { CookieKey } from "./_seal.ts";

export type { CookieKey, IHeaders };

/**
 * The part of a request that is used; a `Request` satisfies it. For servers of Node,
 * {@linkcode webRequestOf} makes one.
 */
export interface IWebRequest {
  /** The method, in capitals. */
  readonly method: string;
  /** The URL, or the path with its query; the origin does not count. */
  readonly url: string;
  /** The header fields. */
  readonly headers: IHeaders;
}

/** The step that has failed. */
export type WebSignInStep = "login" | "callback" | "logout";

/** What is known of a failure, besides the error. */
export interface IWebSignInFailure {
  /** What has failed. */
  readonly step: WebSignInStep;
  /** The request. Its URL may contain an authorization code: do not log it. */
  readonly request: IWebRequest;
  /**
   * The default page, with the code of the error and a link to sign in again. Its
   * `Set-Cookie` end the visit: a response of your own needs them.
   */
  readonly page: Response;
}

/** Options of {@linkcode createWebSignIn}. */
export interface IWebSignInOptions extends
  Omit<
    IAuthorizedFetchOptions,
    "authorize" | "client" | "signInOn" | "store"
  >,
  Pick<
    ICodeFlowOptions,
    | "assumePkce"
    | "authorizationDetails"
    | "offlineAccess"
    | "par"
    | "parameters"
    | "refreshRedirectUri"
    | "refreshScope"
    | "requireIss"
    | "resource"
    | "scopes"
    | "tokenParameters"
  > {
  /**
   * Origin of the site, as browsers see it, such as `https://app.example`. The redirect
   * URI is `callbackPath` of it.
   */
  origin: string | URL;
  /**
   * The client that is registered with the redirect URI, and with the URL of `homePath`
   * as one of its `post_logout_redirect_uris`. It is in no cookie.
   */
  client: Client;
  /**
   * Returns where the session with an identifier is kept, such as
   * `redisStore(redis, id, { lifetimeSeconds })`. Without a `lock`, return the same
   * object for the same identifier.
   */
  storeOf: (id: string) => ISessionStore;
  /**
   * The keys of the cookies: 32 random bytes each, as bytes or in Base64, the same in
   * all processes. The first is used for new cookies; the others open older ones, so
   * that a key can be replaced without signing the users out.
   */
  cookieKeys: readonly CookieKey[];
  /**
   * Name of the cookie of a sign-in, another one for each sign-in of a site. At https,
   * `__Host-` is put in front of it.
   *
   * @default {"sign-in"}
   */
  cookieName?: string | undefined;
  /**
   * How many seconds after a sign-in the user has to sign in again. It is not extended.
   *
   * @default {2592000, which are 30 days}
   */
  lifetimeSeconds?: number | undefined;
  /**
   * Path of {@linkcode IWebSignIn.login}.
   *
   * @default {"/login"}
   */
  loginPath?: string | undefined;
  /**
   * Path of {@linkcode IWebSignIn.callback}.
   *
   * @default {"/callback"}
   */
  callbackPath?: string | undefined;
  /**
   * Path of {@linkcode IWebSignIn.logout}.
   *
   * @default {"/logout"}
   */
  logoutPath?: string | undefined;
  /**
   * Path of the page that users see who have signed out, or in without another page.
   *
   * @default {"/"}
   */
  homePath?: string | undefined;
  /**
   * Called with each error, for a log and for a page of your own. Without a result, the
   * default page is sent. A denial is an `oauth_error` with the `error`
   * `access_denied`; `expired` is a callback that belongs to no visit of the browser.
   *
   * @default {console.error, except for these two}
   */
  onError?:
    | ((
      error: unknown,
      failure: IWebSignInFailure,
    ) => Response | undefined | void | Promise<Response | undefined | void>)
    | undefined;
}

/** Options of {@linkcode IWebSignIn.login}. */
export interface IWebLoginOptions {
  /**
   * Where the user goes afterwards: a path of the site. Anything else counts as
   * `homePath`, so it may come from the user.
   *
   * @default {`returnTo` of the query at `loginPath`; elsewhere the page of the request}
   */
  returnTo?: string | undefined;
  /** Further parameters for this sign-in, such as `prompt` or `login_hint`. */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** Options of {@linkcode IWebSignIn.logout}. */
export interface IWebLogoutOptions {
  /**
   * Also ends the session of the user at the server, if the server has a page for that.
   * Otherwise the next sign-in may be silent.
   *
   * @default {true}
   */
  atServer?: boolean | undefined;
}

/** The sign-in of a web server, from {@linkcode createWebSignIn}. */
export interface IWebSignIn {
  /**
   * Redirects the user to the server. A request that is not of a user who opens a page,
   * such as a prefetch or a `fetch` of a script, is refused with 403.
   */
  login(request: IWebRequest, options?: IWebLoginOptions): Promise<Response>;
  /**
   * Redirects the user to the server if a response of the API requires that: a `401`, or
   * a `403` for further scopes. Undefined if another sign-in would not help, as the user
   * has just signed in, for example, and if no user opens a page: then use the response.
   */
  loginFor(
    request: IWebRequest,
    response: Response,
    options?: IWebLoginOptions,
  ): Promise<Response | undefined>;
  /**
   * Finishes the sign-in of a user who comes back, under a new identifier, and redirects
   * to the page that the user wanted.
   */
  callback(request: IWebRequest): Promise<Response>;
  /**
   * Signs the user out, for a `POST` of a page of this origin; any other is refused. The
   * session is deleted and its tokens are revoked.
   */
  logout(
    request: IWebRequest,
    options?: IWebLogoutOptions,
  ): Promise<Response>;
  /**
   * Returns the API for the user of a request; undefined if the user is signed out. If
   * the session has ended at the server, the API responds with `401`. Rejects as `storeOf`
   * throws.
   */
  apiOf(
    request: Pick<IWebRequest, "headers">,
  ): Promise<IAuthorizedFetch | undefined>;
  /**
   * Returns the claims of the user's ID token, which were checked at the sign-in;
   * undefined if the user is signed out, or the session has no ID token. Request one by
   * the scope `openid`, and e-mail address and name by `email` and `profile`, where the
   * server has these scopes. They greet a user; what the user may do at your site, your
   * site has to know.
   */
  userOf(
    request: Pick<IWebRequest, "headers">,
  ): Promise<IAuthorizationJWTClaims | undefined>;
  /** Responds to the requests of the three paths; undefined for any other. */
  handle(request: IWebRequest): Promise<Response | undefined>;
}
