/**
 * A store in the storage of a web page.
 *
 * @module
 */

import { requireNonEmptyString, requireObject } from "../core/_arguments.ts";
import type { ISessionStore } from "../session/store.ts";
import { readSession } from "./_stored_session.ts";

/** What {@linkcode webStorageStore} uses of a `Storage`, such as `localStorage`. */
export interface IWebStorage {
  /** Returns a value. */
  getItem(key: string): string | null;
  /** Sets a value. */
  setItem(key: string, value: string): void;
  /** Deletes a value. */
  removeItem(key: string): void;
}

/** What {@linkcode webStorageStore} uses of a `LockManager`, as in `navigator.locks`. */
export interface IWebLocks {
  /** Runs a task while no other page of the origin runs one under this name. */
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
}

/**
 * Creates a store in a `Storage` of a web page: `localStorage` for all tabs of an
 * origin, `sessionStorage` for one tab. Any script of the origin can read it.
 *
 * With Web Locks, one tab at a time authorizes or refreshes. The browser releases
 * the lock at once when the tab that holds it is closed or crashes. Without them,
 * tabs do not wait for each other: the store has no `lock`, and tasks run one at a
 * time for each store object.
 *
 * `load` rejects with an `OAuthClientError` with the code `invalid_session` if the
 * value is not a session. It is left as it is. Errors of the storage, such as
 * `QuotaExceededError`, are rejected with unchanged.
 *
 * @param storage `localStorage` or `sessionStorage`.
 * @param key The key of the value; one for each user and resource. It is a part of
 * the name of the lock, too.
 * @param locks `false` for none.
 * @default {navigator.locks} for `locks`, where it exists
 * @throws {OAuthClientError} `invalid_argument`: an argument has the wrong type.
 * @see Web Locks API, section 2.
 *
 * @example Share a session between the tabs of a page
 * ```ts
 * import { webStorageStore } from "@oauth-helper/client/stores";
 *
 * export async function isSignedIn(): Promise<boolean> {
 *   const store = webStorageStore(localStorage, "session");
 *   return await store.load() !== undefined;
 * }
 * ```
 */
export function webStorageStore(
  storage: IWebStorage,
  key: string,
  locks?: IWebLocks | false,
): ISessionStore {
  requireObject("storage", storage);
  requireNonEmptyString("key", key);
  const { navigator } = globalThis as { navigator?: { locks?: IWebLocks } };
  const manager = locks ?? navigator?.locks;
  return {
    // deno-lint-ignore require-await -- what the storage throws is a rejection
    async load() {
      return readSession(storage.getItem(key), `web storage at key "${key}"`);
    },
    // deno-lint-ignore require-await
    async save(session) {
      if (session) storage.setItem(key, JSON.stringify(session));
      else storage.removeItem(key);
    },
    ...(manager && {
      lock: <T>(task: () => Promise<T>) =>
        manager.request(`@oauth-helper/client ${key}`, task),
    }),
  };
}
