/**
 * What {@linkcode createAuthorizedFetch} is given, and what it returns.
 *
 * @module
 */

import type { IDpop } from "../client/dpop.ts";
import type { Client } from "../client/known_client.ts";
import type { IDiscoverAuthorizationOptions } from "../discovery/discover.ts";
import type { OnEvent } from "../http/events.ts";
import type { Authorize } from "./flow.ts";
import type { ISession } from "./session.ts";
import type { IPendingAuthorization } from "./sign_in.ts";
import type { ISessionStore } from "./store.ts";

/** Options of {@linkcode createAuthorizedFetch}. */
export interface IAuthorizedFetchOptions extends
  Omit<
    IDiscoverAuthorizationOptions,
    "challenge" | "fetch" | "offlineAccess" | "signal"
  > {
  /**
   * Returns a new session: {@linkcode codeFlow} or another flow. Without it, sessions
   * that others have saved are used and refreshed: where that is not enough, the
   * response of the resource is returned.
   */
  authorize?: Authorize | undefined;
  /**
   * URLs of the same API on other origins or paths. The token is sent to them and below
   * them as well, and redirects among all of these keep it. A challenge there does not
   * select the authorization server: only its `error`, `scope`, `acr_values` and
   * `max_age` count.
   */
  alsoFor?: readonly (string | URL)[] | undefined;
  /**
   * Obtains a session before each call, for an API that responds with 404 or 200 where
   * it means `401`.
   *
   * @default {false}
   */
  tokenRequired?: boolean | undefined;
  /**
   * `id_token` for a resource that requires the ID token: `openid` is requested, and
   * the token is renewed by its `exp`. Not with `dpop`.
   *
   * @default {"access_token"}
   */
  bearer?: "access_token" | "id_token" | undefined;
  /**
   * Seconds before its expiry at which a token is renewed, but at most a quarter of its
   * lifetime.
   *
   * @default {30}
   */
  skewSeconds?: number | undefined;
  /**
   * The `User-Agent` of all requests for metadata and to the authorization server: some
   * firewalls refuse requests without one. It is not added to your own requests, and
   * browsers may ignore it.
   */
  userAgent?: string | undefined;
  /**
   * Called with what happens, for logs and traces; see
   * {@linkcode AuthorizedFetchEvent}. What it throws, or rejects with, is ignored.
   */
  onEvent?: OnEvent | undefined;
  /**
   * Where the session is kept.
   *
   * @default {memoryStore()}
   */
  store?: ISessionStore | undefined;
  /**
   * The client of refreshes, and of `authorize` before its own; that of `authorize`
   * when absent. Credentials name their issuer, as the resource selects the server.
   */
  client?: Client | undefined;
  /** Binds the tokens to a key. A session that is bound to another one is not used. */
  dpop?: IDpop | undefined;
  /**
   * Makes the requests to the resource and to the authorization server; the global
   * `fetch` when absent, which is looked up at each call.
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

/** Options of the methods of {@linkcode IAuthorizedFetch}. */
export interface IAuthorizedFetchSignal {
  /** Stops waiting, with the signal's own reason. */
  signal?: AbortSignal | undefined;
}

/** Options of {@linkcode IAuthorizedFetch.authorize}. */
export interface IAuthorizedFetchSignIn extends IAuthorizedFetchSignal {
  /**
   * Has the user sign in although there is a session, with the same registration. For
   * another account, `parameters` of the flow may have a `prompt`.
   */
  fresh?: boolean | undefined;
}

/** A `fetch` for one resource, from {@linkcode createAuthorizedFetch}. */
export interface IAuthorizedFetch {
  /** Makes a request, with the token if it is for the resource. */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Returns the session; refreshes it, or has the user sign in, where necessary. It
   * may be kept in memory only: `save()` rejects where it cannot be stored. Without
   * the option `authorize`, it rejects with `unsupported` if no refresh leads to one.
   */
  authorize(options?: IAuthorizedFetchSignIn): Promise<ISession>;
  /** Returns the session as it is stored, or as it could not be stored. */
  session(): Promise<ISession | undefined>;
  /**
   * Returns a session that fits a response with status 401 or 403. Use it where
   * other code makes the requests. The `url` of the response must be one that the token
   * is sent to: the challenge of another server is `invalid_argument`.
   */
  renew(
    response: Response,
    options?: IAuthorizedFetchSignal,
  ): Promise<ISession>;
  /**
   * Finishes a sign-in that began elsewhere, such as in another request to a web server
   * or before the page was left, with the options of this fetch, and saves the session.
   *
   * @param callback As for {@linkcode finishAuthorization}.
   * @param pending What {@linkcode ICodeFlowOptions.visit} was given, and has kept.
   */
  finish(
    callback: string | URL | URLSearchParams | Request,
    pending: IPendingAuthorization,
    options?: IAuthorizedFetchSignal,
  ): Promise<ISession>;
  /**
   * Stores a session that was obtained without this fetch. A sign-in that is running
   * for the same store object ends: the signal of `authorize` aborts, and the calls
   * that wait for it go on with this session. If another process holds the lock for a
   * second, for example while its user signs in, the session is stored without it.
   */
  save(session: ISession, options?: IAuthorizedFetchSignal): Promise<void>;
  /**
   * Deletes the session, then revokes its tokens. A sign-in that is running for the
   * same store object ends, and the calls that wait for it reject with an
   * `AbortError`. Calls that are under way do not lead to another sign-in: if they
   * receive a `401` or `403`, they return it. Once the session is deleted, a signal
   * that aborts does not bring it back.
   *
   * @returns Whether the server has revoked the tokens. Many servers have no revocation
   * endpoint: {@linkcode revokeSession} says why.
   */
  revoke(options?: IAuthorizedFetchSignal): Promise<boolean>;
}
