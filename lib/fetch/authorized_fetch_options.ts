import type { Dpop } from "../client/dpop.ts";
import type { Client } from "../client/known_client.ts";
import type { DiscoverAuthorizationOptions } from "../discovery/discover.ts";
import type { OnEvent } from "../http/events.ts";
import type { Flow } from "../flows/flow.ts";
import type { SharedSignIn } from "../flows/shared_apis.ts";
import type { Session } from "../session/session.ts";
import type { PendingAuthorization } from "../flows/sign_in.ts";
import type { SessionStore } from "../session/store.ts";

/**
 * Options of {@linkcode createAuthorizedFetch}. `timeoutMs` and `maxBytes` apply to
 * requests for metadata and to the authorization server, not to calls of the resource.
 * The function throws:
 *
 * - `invalid_argument`: an unknown option, an option of a flow, or a `client` with
 *   credentials and no `issuer`.
 * - `url_refused`: the resource, or an endpoint of `serverMetadata`, is neither https
 *   nor http on loopback.
 * - `unsupported`: `serverMetadata` lacks its `token_endpoint`.
 */
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
   * `.signIn()` prompts, for whatever the last call needed. Calls still refresh tokens
   * and run flows without a user; if that is not enough, they fail with
   * `sign_in_required`.
   *
   * If a sign-in that the user saw fails, later calls with this store object fail with
   * `sign_in_required`. This lasts until `.signIn()`, or until a session is saved. See
   * `docs/prompts.md` in the package.
   *
   * @default {"call"}
   */
  signInOn?: "call" | "signIn" | undefined;
  /**
   * URLs of the same API on other origins or paths. The token is also sent to these
   * URLs and below them, and redirects between the API's URLs keep it. Their challenges
   * never select the authorization server: only `error`, `scope`, `acr_values` and
   * `max_age` count.
   */
  alsoFor?: readonly (string | URL)[] | undefined;
  /**
   * Requires a session for every call. Set this for an API that answers 404, 403 or 200
   * instead of `401`. If it also publishes no metadata and sends no challenge, set
   * `authorizationServer`, `serverMetadata`, or a `client` with its `issuer`: endpoints
   * are not assumed.
   *
   * @default {false}
   */
  tokenRequired?: boolean | undefined;
  /**
   * Selects the token to send. With `id_token`, the scope `openid` is requested, and
   * the ID token is renewed by its `exp`. Excludes `dpop`.
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
   * firewalls require it. Your own requests do not receive it, and browsers may ignore
   * it.
   */
  userAgent?: string | undefined;
  /**
   * Called with each {@linkcode AuthorizedFetchEvent}, for logs and traces. Its own
   * errors are ignored.
   */
  onEvent?: OnEvent | undefined;
  /**
   * The APIs that share one sign-in, from {@linkcode sharedSignIn}. Create a fetch for
   * each API, with the same object, `store` and `dpop`.
   */
  apis?: SharedSignIn | undefined;
  /**
   * The store of the session.
   *
   * @default {memoryStore()}
   */
  store?: SessionStore | undefined;
  /**
   * The client for refreshes and for `flow`, instead of the flow's client. A client
   * with credentials needs its `issuer`, because the resource selects the server. If
   * the resource publishes no server, this `issuer`, or the issuer of the flow's
   * client, is the authorization server.
   */
  client?: Client | undefined;
  /** Binds the tokens to a key. A session that is bound to another key is not used. */
  dpop?: Dpop | undefined;
  /**
   * Makes all requests; when absent, the global `fetch`, which is looked up at each
   * call. The `headers` of its `init` are a plain object, except in requests that are
   * passed on unchanged.
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
   * Prompts the user even if there is a session, with the same registration. For
   * another account, set a `prompt` in `parameters` of the flow.
   */
  fresh?: boolean | undefined;
}

/**
 * A `fetch` for one resource, from {@linkcode createAuthorizedFetch}.
 *
 * - Only URLs at or below the path of the resource, or of one of `alsoFor`, receive the
 *   token. Other requests, and requests with your own `Authorization`, are unchanged.
 * - The token is refreshed before it expires, and after a `401`. If that is impossible
 *   or does not help, `flow` is called, which must not call this fetch.
 * - Concurrent calls share a renewal and its error, also across processes if the store
 *   provides a `lock`. A call whose signal aborts stops waiting.
 * - A stream as body can be sent only once, so the session is renewed before the call.
 *
 * In Cloudflare Workers, create a fetch for each request. With the MCP SDK, call
 * `.signIn()` before `connect()`, which waits only 60 seconds. See `docs/sessions.md`
 * and `docs/prompts.md` in the package.
 *
 * @category Sessions
 */
export interface AuthorizedFetch {
  /**
   * Makes a request, with the token if it is for the resource.
   *
   * @throws {OAuthClientError} As {@linkcode discoverAuthorization},
   * {@linkcode refreshSession} and `flow`. `unsupported`: the resource requires DPoP,
   * and `dpop` is not set. `issuer_mismatch`, `identifier_mismatch`: `flow` returned a
   * session for another server or resource. `redirect_refused`. Errors of `fetch` are
   * unchanged.
   */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Returns the session; if necessary, refreshes it or prompts the user.
   *
   * The user is not prompted if another sign-in would not help: only URLs that have
   * never accepted a token reject it. Set `fresh` to prompt anyway, for example for
   * another account. A session that cannot be stored stays in memory, and `save()`
   * rejects. Without `flow`, this method rejects with `unsupported` if a refresh
   * returns no session.
   */
  signIn(options?: SignInOptions): Promise<Session>;
  /**
   * Returns the session that calls use, from the store or, if it could not be stored,
   * from memory. Returns undefined for another resource, server or key, or without a
   * token. With `apis`, its `access_token` is empty until the API's first call.
   */
  session(): Promise<Session | undefined>;
  /**
   * Returns a session that meets the requirements of a response with status 401 or 403,
   * for requests of other code. The token must be allowed at the response's `url`;
   * otherwise, the method rejects with `invalid_argument`. After three new tokens that
   * the resource rejects, it rejects with `sign_in_required` until `.signIn()` is
   * called.
   */
  renew(
    response: Response,
    options?: SignalOptions,
  ): Promise<Session>;
  /**
   * Finishes a sign-in that other code started, such as in another request to a web
   * server, and saves the session. This fetch's options apply. If the server rejected
   * it or the user declined, later calls fail with `sign_in_required` until `.signIn()`
   * is called.
   *
   * @param callback As for {@linkcode finishAuthorization}.
   * @param pending From {@linkcode CodeFlowOptions.visit} or
   * {@linkcode startAuthorization}.
   */
  finish(
    callback: string | URL | URLSearchParams | Request,
    pending: PendingAuthorization,
    options?: SignalOptions,
  ): Promise<Session>;
  /**
   * Stores a session obtained elsewhere. Cancels a sign-in in progress for the same
   * store object: the signal passed to `flow` aborts, and calls waiting for that
   * sign-in use this session.
   *
   * If another process holds the lock for a second, the session is stored without it. A
   * running refresh's tokens are revoked, unless the session contains one of its
   * refresh tokens.
   */
  save(session: Session, options?: SignalOptions): Promise<void>;
  /**
   * Deletes the session, then revokes its tokens. Sign-ins in progress for the same
   * store object stop, and waiting calls reject with an `AbortError`. Calls in progress
   * do not start another sign-in: they return a `401` or `403`.
   *
   * If another process holds the lock for a second, it is not awaited: that process's
   * refresh stores nothing, and revokes its tokens. After the deletion has started, an
   * abort only stops waiting. An invalid stored value is deleted too; for another
   * version's session, this rejects with `invalid_session`. To delete the client too,
   * load the session first, and pass its `client` with its `issuer` to
   * {@linkcode deleteRegistration}.
   *
   * @returns Whether the server revoked the refresh token, or the access token if there
   * is no refresh token. If false, a token may stay valid until it expires;
   * {@linkcode revokeSession} throws the reason.
   */
  revoke(options?: SignalOptions): Promise<boolean>;
}
