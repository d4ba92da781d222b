/**
 * Where a session is kept.
 *
 * @module
 */

import type { StoredSession } from "./session.ts";

/**
 * Keeps the session of one user for one resource. A session is plain JSON and contains
 * secrets.
 *
 * @example A store in your database, with its conditional writes and its lock
 * ```ts
 * import type { SessionStore, StoredSession } from "@oauth-helper/client";
 *
 * interface Database {
 *   get(key: string): Promise<StoredSession | undefined>;
 *   // Sets or deletes a value; with `former`, only if the value is still that one.
 *   set(
 *     key: string,
 *     value: StoredSession | undefined,
 *     former?: StoredSession | null,
 *   ): Promise<boolean>;
 *   // Runs one task at a time for each key, of all processes.
 *   withLock<T>(
 *     key: string,
 *     task: () => Promise<T>,
 *     signal: AbortSignal | undefined,
 *   ): Promise<T>;
 * }
 *
 * export function storeOf(database: Database, user: string): SessionStore {
 *   return {
 *     load: () => database.get(user),
 *     save: (session, former) => database.set(user, session, former),
 *     lock: (task, signal) => database.withLock(user, task, signal),
 *   };
 * }
 * ```
 *
 * @category Stores
 */
export interface SessionStore {
  /**
   * Returns the session that was saved last, by any process, or undefined if there is no
   * session. A read under the lock must be current: a session that is gone by then counts
   * as revoked, and what a refresh has obtained is revoked too. Rejects with an
   * `OAuthClientError` with the code `invalid_session` if the value is not a session,
   * and with any other error if the value cannot be read now. `revoke()` of the fetch
   * deletes a value that is not a session, and keeps one that cannot be read, or that is
   * a session of another version.
   */
  load(): Promise<StoredSession | null | undefined>;
  /**
   * Saves a session, which replaces the previous one; deletes the session if undefined.
   * Reject after some seconds if the database does not respond, as with a timeout of its
   * client: while the promise is pending, calls that need another session wait, and end
   * only when their own signals abort. `revoke()` waits for some seconds.
   *
   * With `former`, compare and save in one step: if the store no longer has the session
   * that `load` returned, or has one although `former` is `null`, change nothing and
   * resolve to `false`. The library then loads and decides again. Without `former`, save
   * whatever is stored. Every result except `false` means that the session was saved.
   *
   * A store may ignore `former`. Then a process can undo what another one saves or deletes
   * between its `load` and its `save`, or while it is suspended for longer than its lock
   * lasts.
   *
   * A wrapper that passes `former` on has to return the result. Otherwise the library
   * loses a refreshed token that was not saved.
   */
  save(
    session: StoredSession | undefined,
    former?: StoredSession | null,
  ): Promise<boolean | void>;
  /**
   * Runs a task while holding an exclusive lock across processes. An implementation
   * must meet this contract:
   *
   * - It returns the result of the task, and rejects with the error of the task,
   *   unchanged.
   * - Hold the lock until the task settles. That can take minutes while a user signs
   *   in, so renew a lock that expires.
   * - The lock is released even if the task fails. A release that fails or hangs must
   *   not delay the result for long: a refreshed token cannot be obtained again.
   * - An abort of `signal` rejects the wait for the lock with its reason; it must not end
   *   a task that has started.
   *
   * While a task waits, `load` is called at least once a second, and `signal` aborts when
   * another process has stored the session that the task is for, or after a second if
   * the token at hand is still valid. No other order or fairness is expected. Members
   * that a later version may add are optional.
   *
   * Without this method, tasks run one at a time for each store object, and two
   * processes may refresh a token at the same time. A server that rotates refresh
   * tokens can then revoke all tokens of the user (RFC 9700, section 4.14.2).
   */
  lock?<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * Creates a store that keeps a session in memory until the process ends.
 *
 * @param session The session to start with.
 *
 * @example Start with a session that other code obtained
 * ```ts
 * import { memoryStore, type StoredSession } from "@oauth-helper/client";
 *
 * export function storeOf(cookie: string | undefined) {
 *   const session: StoredSession | undefined = cookie && JSON.parse(cookie);
 *   return memoryStore(session);
 * }
 * const store = storeOf(undefined);
 * console.log(await store.load() ? "signed in" : "not signed in");
 * ```
 *
 * @category Stores
 */
export function memoryStore(session?: StoredSession): SessionStore {
  let current = session;
  return {
    load: () => Promise.resolve(current),
    save(next, former) {
      const isOther = former !== undefined &&
        JSON.stringify(former) !== JSON.stringify(current ?? null);
      if (!isOther) current = next;
      return Promise.resolve(!isOther);
    },
  };
}
