/**
 * What {@linkcode createAuthorizedFetch} is given, and what it returns.
 *
 * @module
 */

import type { IDpop } from "../client/dpop.ts";
import type { Client } from "../client/known_client.ts";
import type { IDiscoverAuthorizationOptions } from "../discovery/discover.ts";
import type { Authorize } from "./flow.ts";
import type { ISession } from "./session.ts";
import type { ISessionStore } from "./store.ts";

/** Options of {@linkcode createAuthorizedFetch}. */
export interface IAuthorizedFetchOptions extends
  Omit<
    IDiscoverAuthorizationOptions,
    "challenge" | "fetch" | "offlineAccess" | "signal"
  > {
  /** Returns a new session: {@linkcode codeFlow} or another flow. */
  authorize: Authorize;
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

/** A `fetch` for one resource, from {@linkcode createAuthorizedFetch}. */
export interface IAuthorizedFetch {
  /** Makes a request, with the token if it is for the resource. */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Returns the session; refreshes it, or has the user sign in, where necessary. It
   * may be kept in memory only: `save()` rejects where it cannot be stored.
   */
  authorize(options?: IAuthorizedFetchSignal): Promise<ISession>;
  /** Returns the session as it is stored, or as it could not be stored. */
  session(): Promise<ISession | undefined>;
  /**
   * Returns a session that fits a response with status 401 or 403. Use it where
   * other code makes the requests. The `url` of the response must be at or below the
   * path of the resource: the challenge of another server is `invalid_argument`.
   */
  renew(
    response: Response,
    options?: IAuthorizedFetchSignal,
  ): Promise<ISession>;
  /**
   * Stores a session, for example in the callback of a web server. A sign-in that is
   * running for the same store object ends: the signal of `authorize` aborts, and the
   * calls that wait for it go on with this session.
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
