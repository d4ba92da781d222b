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
   * Returns the last saved session, or undefined. A read under the lock must be
   * current: a missing session counts as revoked, and tokens from a refresh are then
   * revoked too. Reject with an `OAuthClientError` with the code `invalid_session` if
   * the value is not a session, and with any other error if the value cannot be read
   * now. The fetch's `revoke()` deletes a value that is not a session, but keeps an
   * unreadable one or another version's session.
   */
  load(): Promise<StoredSession | null | undefined>;
  /**
   * Saves a session, replacing the previous one. Deletes the session if `session` is
   * undefined. Reject after some seconds if the database does not respond: meanwhile,
   * calls that need another session wait until their own signals abort.
   *
   * With `former`, compare and save in one step: if the stored value is not the session
   * that `load` returned, or exists although `former` is `null`, change nothing and
   * resolve to `false`. The library then loads and decides again. Without `former`,
   * always save. Any result except `false` means success.
   *
   * A store may ignore `former`. Then one process can undo another's changes between
   * `load` and `save`, or after it lost its lock while suspended. A wrapper that passes
   * `former` on must return the result: otherwise the library loses a refreshed token
   * that was not saved.
   */
  save(
    session: StoredSession | undefined,
    former?: StoredSession | null,
  ): Promise<boolean | void>;
  /**
   * Runs a task while holding an exclusive lock across processes. An implementation
   * must meet this contract:
   *
   * - Return the task's result, or reject with its error, unchanged.
   * - Hold the lock until the task settles. That can take minutes while a user signs
   *   in, so renew a lock that expires.
   * - Release the lock even if the task fails. A release that fails or hangs must not
   *   delay the result: a refreshed token cannot be obtained again.
   * - An abort of `signal` rejects the wait for the lock with its reason. It must not
   *   stop a running task.
   *
   * While a task waits, `load` is called at least once a second. `signal` aborts when
   * another process has stored the needed session, or after a second if the current
   * token is still valid. No order or fairness is expected. Later versions may add
   * optional members.
   *
   * Without `lock`, tasks run one at a time for each store object, and two processes
   * may refresh a token at the same time. A server that rotates refresh tokens can then
   * revoke all of the user's tokens (RFC 9700, section 4.14.2).
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
