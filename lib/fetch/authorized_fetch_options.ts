/**
 * The options and the result of {@linkcode createAuthorizedFetch}.
 *
 * @module
 */

import type { Dpop } from "../client/dpop.ts";
import type { Client } from "../client/known_client.ts";
import type { DiscoverAuthorizationOptions } from "../discovery/discover.ts";
import type { OnEvent } from "../http/events.ts";
import type { Flow } from "../flows/flow.ts";
import type { SharedSignIn } from "../flows/shared_apis.ts";
import type { Session } from "../session/session.ts";
import type { PendingAuthorization } from "../flows/sign_in.ts";
import type { SessionStore } from "../session/store.ts";

/** Options of {@linkcode createAuthorizedFetch}. */
export interface AuthorizedFetchOptions extends
  Omit<
    DiscoverAuthorizationOptions,
    | "challenge"
    | "fetch"
    | "offlineAccess"
    | "signal"
  > {
  /**
   * The flow that obtains a new session, such as {@linkcode codeFlow}. Without a flow,
   * the fetch uses and refreshes saved sessions. If that is not enough, it returns the
   * resource's response.
   */
  flow?: Flow | undefined;
  /**
   * Controls which functions can prompt the user to sign in. With `signIn`, only
   * `.signIn()` prompts, for whatever the last call needed. Calls still refresh
   * tokens and run flows without a user; if that is not enough, they fail with
   * `sign_in_required`.
   *
   * With either value, the user is prompted once. If a sign-in that the user saw ends
   * with a timeout, a denial or an abort, later calls of fetches with this store
   * object fail with `sign_in_required`, until `.signIn()` is called or another
   * session is saved. This is kept in memory, not in the store. If your `visit` fails
   * with an
   * `AbortError`, the user is not prompted again; after other errors of your own, later
   * calls ask again.
   *
   * @default {"call"}
   */
  signInOn?: "call" | "signIn" | undefined;
  /**
   * URLs of the same API on other origins or paths. The token is also sent to these
   * URLs and below them, and redirects between all URLs of the API keep it. A challenge
   * of these URLs does not select the authorization server: only its `error`, `scope`,
   * `acr_values` and `max_age` count.
   */
  alsoFor?: readonly (string | URL)[] | undefined;
  /**
   * Requires a session for every call. Set this for an API that answers 404, 403 or 200
   * instead of `401`. If the API publishes no metadata and sends no challenge, also set
   * `authorizationServer`, `serverMetadata`, or a `client` with its `issuer`: endpoints
   * are not assumed.
   *
   * @default {false}
   */
  tokenRequired?: boolean | undefined;
  /**
   * Which token is sent. With `id_token`, for a resource that requires the ID token,
   * the scope `openid` is requested, and the ID token is renewed by its `exp`. Cannot
   * be combined with `dpop`.
   *
   * @default {"access_token"}
   */
  bearer?: "access_token" | "id_token" | undefined;
  /**
   * How many seconds before expiry to refresh a token. Capped at a quarter of the
   * token's lifetime.
   *
   * @default {30}
   */
  skewSeconds?: number | undefined;
  /**
   * The `User-Agent` of requests for metadata and to the authorization server: some
   * firewalls reject requests without it. It is not added to your own requests, and
   * browsers may ignore it.
   */
  userAgent?: string | undefined;
  /**
   * Called with each {@linkcode AuthorizedFetchEvent}, for logs and traces. Errors that
   * it throws or rejects with are ignored.
   */
  onEvent?: OnEvent | undefined;
  /**
   * The APIs that share one sign-in, from {@linkcode sharedSignIn}. Create a fetch for
   * each of them, with the same object, `store` and `dpop`.
   */
  apis?: SharedSignIn | undefined;
  /**
   * Where the session is kept.
   *
   * @default {memoryStore()}
   */
  store?: SessionStore | undefined;
  /**
   * The client for refreshes and for `flow`; it replaces the client of the flow. A
   * client with credentials needs its `issuer`, because the resource selects the
   * server. If the resource publishes no server, the `issuer` of this client, or of
   * the client of the flow, is the authorization server.
   */
  client?: Client | undefined;
  /** Binds the tokens to a key. A session that is bound to another key is not used. */
  dpop?: Dpop | undefined;
  /**
   * Makes the requests to the resource and to the authorization server; when absent,
   * the global `fetch`, which is looked up at each call. The `headers` of its `init`
   * are a plain object, except in requests that are passed on unchanged.
   */
  fetch?:
    | ((input: string | URL | Request, init?: RequestInit) => Promise<Response>)
    | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/**
 * Options of the methods of {@linkcode AuthorizedFetch}.
 *
 * @category Sessions
 */
export interface SignalOptions {
  /** Stops waiting, with the signal's own reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Options of {@linkcode AuthorizedFetch.signIn}.
 *
 * @category Sessions
 */
export interface SignInOptions extends SignalOptions {
  /**
   * Lets the user sign in even if there is a session, with the same registration. For
   * another account, set a `prompt` in `parameters` of the flow.
   */
  fresh?: boolean | undefined;
}

/**
 * A `fetch` for one resource, from {@linkcode createAuthorizedFetch}.
 *
 * - The token is sent to URLs at or below the path of the resource, or of one of
 *   `alsoFor`, and nowhere else. Other requests, and requests with your own
 *   `Authorization`, are passed to `fetch` unchanged.
 * - The token is refreshed before it expires, and after a `401`. If a refresh is not
 *   possible or does not help, `flow` is called.
 * - Concurrent calls share a renewal and its error, also across processes if the store
 *   has a `lock`. A call whose signal aborts stops waiting.
 * - A stream as body can be sent only once, so the session is renewed before the call.
 *
 * The guide has all rules: `docs/sessions.md` and `docs/prompts.md` in the package.
 *
 * The function `flow` must not call this fetch, because the call would wait for
 * itself: use the `fetch` of its argument. In Cloudflare Workers, create an authorized
 * fetch for each request, or one in each Durable Object. The MCP SDK cancels a request
 * after 60 seconds, and a user may take longer to sign in: call `.signIn()` before
 * `connect()`.
 *
 * @category Sessions
 */
export interface AuthorizedFetch {
  /** Makes a request, with the token if it is for the resource. */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Returns the session; if necessary, refreshes it or lets the user sign in. The user
   * is not prompted if another sign-in would not help: a new token was rejected only by
   * URLs that have never accepted one, and the API accepts tokens at other URLs. Set
   * `fresh` to sign in anyway, for example with another account. If the session cannot
   * be stored, it is kept in memory only, and `save()` rejects. Without the option
   * `flow`, this method rejects with `unsupported` if there is no session after a
   * refresh.
   */
  signIn(options?: SignInOptions): Promise<Session>;
  /**
   * Returns the session that calls use: the stored one, or one in memory that could not
   * be stored. Returns undefined if it belongs to another resource, server or key, or has
   * no token. With `apis`, its `access_token` is empty until the first call of the API.
   */
  session(): Promise<Session | undefined>;
  /**
   * Returns a session that meets what a response with status 401 or 403 requires, for
   * requests of other code. The `url` of the response must be a URL that the token is
   * sent to; otherwise, the method rejects with `invalid_argument`. After three new
   * tokens of which the resource has accepted none, it rejects with
   * `sign_in_required`, until
   * `.signIn()` is called.
   */
  renew(
    response: Response,
    options?: SignalOptions,
  ): Promise<Session>;
  /**
   * Finishes a sign-in that other code started, such as in another request to a web
   * server or before the user left the page, and saves the session. The options of
   * this fetch apply. If the user or the server rejected, later calls fail with
   * `sign_in_required` until `.signIn()` is called, as after a denial during
   * `visit`.
   *
   * @param callback As for {@linkcode finishAuthorization}.
   * @param pending The pending authorization that {@linkcode CodeFlowOptions.visit}
   * received, or that {@linkcode startAuthorization} returned.
   */
  finish(
    callback: string | URL | URLSearchParams | Request,
    pending: PendingAuthorization,
    options?: SignalOptions,
  ): Promise<Session>;
  /**
   * Stores a session that other code obtained. Cancels a sign-in in progress for the same
   * store object: the signal passed to `flow` aborts, and calls waiting for that
   * sign-in use this session. If another process holds the lock for a second, for
   * example while its user signs in, the session is stored without the lock. What a
   * running refresh for the same store object obtains is revoked, unless the session
   * has one of its refresh tokens.
   */
  save(session: Session, options?: SignalOptions): Promise<void>;
  /**
   * Deletes the session, then revokes its tokens. If another process holds the lock for
   * a second, the session is deleted without the lock: a refresh of that process then
   * stores nothing, and revokes what it has obtained. A running sign-in for the same
   * store object ends, and the calls that wait for it reject with an `AbortError`.
   * Calls in progress do not start another sign-in. If they receive a `401` or `403`,
   * they return it. Once the deletion has started, an abort ends the wait only: the
   * session is deleted, and its tokens are revoked. A stored value that is not a
   * session is deleted as well; if it is a session of another version, this rejects with
   * `invalid_session`.
   *
   * The client stays registered. To delete it, load the session before, and pass its
   * `client`, with the `issuer` of the session, to {@linkcode deleteRegistration}.
   *
   * @returns Whether the server has revoked the refresh token, or the access token if
   * there is no refresh token. Some servers revoke no access tokens: the token then
   * stays valid until it expires. `false` also after any other error, such as that the
   * server has no revocation endpoint; {@linkcode revokeSession} throws the reason.
   */
  revoke(options?: SignalOptions): Promise<boolean>;
}
