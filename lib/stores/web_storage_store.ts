/**
 * A store in the storage of a web page.
 *
 * @module
 */

import {
  optionalFunction,
  requireArgument,
  requireNames,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import type { SessionStore } from "../session/store.ts";
import { reportWait } from "./_lease.ts";
import type { WaitOptions } from "./lifetime.ts";
import { isStill, readSession } from "./_stored_session.ts";

/**
 * The part of a `Storage`, such as `localStorage`, that {@linkcode webStorageStore}
 * uses.
 */
export interface WebStorage {
  /** Returns a value. */
  getItem(key: string): string | null;
  /** Sets a value. */
  setItem(key: string, value: string): void;
  /** Deletes a value. */
  removeItem(key: string): void;
}

/**
 * The part of a `LockManager`, such as `navigator.locks`, that
 * {@linkcode webStorageStore} uses.
 */
export interface WebLocks {
  /** Runs a task while no other page of the origin runs a task under this name. */
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
  /** Lists the locks of the origin. */
  query(): Promise<{ held?: { name?: string }[] }>;
}

/** Options of {@linkcode webStorageStore}. */
export interface WebStorageStoreOptions extends WaitOptions {
  /**
   * Web Locks to use; `false` for no lock.
   *
   * @default {`navigator.locks` where it exists; `false` for `sessionStorage`}
   */
  locks?: WebLocks | false | undefined;
}

const POLL_MS = 5;
const LONGEST_WAIT_MS = 2_000;

/**
 * Prefix of the keys for the number of changes, and of the names of locks with that
 * number. With a suffix, the key of a session that ends with a user name could be the
 * key of another user's number.
 */
const VERSION_PREFIX = "oauth-helper:version:";

/** Prefix of the name of the lock that is held during each write. */
const WRITE_PREFIX = "oauth-helper:write:";

/**
 * Returns the number of changes in a string; 0 if it is not a number that can be
 * increased.
 */
function versionIn(text: string | null | undefined): number {
  const version = Number(text);
  return Number.isSafeInteger(version) && version > 0 ? version : 0;
}

/**
 * Creates a lock whose holder can read the latest change of a storage.
 *
 * Browsers send changes to the processes of other tabs without waiting for them, and
 * the release of a lock often arrives earlier. The next holder would then use a refresh
 * token again. So another value of the storage counts the changes. After a change, a
 * tab holds a lock whose name contains the number, because all tabs see the same locks at
 * any time. The next holder waits until it can read that number.
 */
function createLock(
  storage: WebStorage,
  key: string,
  { locks, onWait }: {
    locks: WebLocks;
    onWait: (() => unknown) | undefined;
  },
) {
  const name = `@oauth-helper/client ${key}`;
  const versionKey = VERSION_PREFIX + key;
  const lockNameOf = (version: number) => `${VERSION_PREFIX}${version}:${key}`;
  const versionOf = (lockName = "") => {
    const [number] = lockName.slice(VERSION_PREFIX.length).split(":");
    const version = versionIn(number);
    return lockName === lockNameOf(version) ? version : 0;
  };
  let endHold = () => {};

  const storedVersion = () => versionIn(storage.getItem(versionKey));

  /** Waits until the latest change can be read; returns its number. */
  const latestVersion = async () => {
    const { held = [] } = await locks.query();
    const latest = held
      .map((lock) => versionOf(lock.name))
      .reduce((a, b) => Math.max(a, b), 0);
    // Without a time limit, a storage that was cleared would never be read again.
    const end = performance.now() + LONGEST_WAIT_MS;
    while (storedVersion() < latest && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return Math.max(latest, storedVersion());
  };

  const announce = async (version: number) => {
    storage.setItem(versionKey, String(version));
    const endLast = endHold;
    await new Promise<void>((isHeld, reject) => {
      locks.request(lockNameOf(version), () => {
        isHeld();
        return new Promise<void>((resolve) => endHold = resolve);
      }).catch(reject);
    });
    endLast();
  };

  const lock = <T>(
    task: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    const endWait = reportWait(onWait);
    signal?.addEventListener("abort", endWait);
    return locks.request(name, async () => {
      endWait();
      signal?.removeEventListener("abort", endWait);
      signal?.throwIfAborted();
      await latestVersion();
      return await task();
    });
  };

  /**
   * Writes to the storage, while no other tab does, and after its last change. Without a
   * lock, as in a page that is being left, it writes all the same: a refreshed token cannot
   * be obtained again.
   */
  const writing = async (write: () => boolean): Promise<boolean> => {
    let hasTried = false;
    const writeAndAnnounce = async () => {
      const version = await latestVersion();
      hasTried = true;
      const isWritten = write();
      // Another tab may otherwise read the previous session.
      if (isWritten) await announce(version + 1).catch(() => {});
      return isWritten;
    };
    try {
      return await locks.request(WRITE_PREFIX + key, writeAndAnnounce);
    } catch (error) {
      if (hasTried) throw error;
      return write();
    }
  };

  return { lock, writing };
}

/**
 * Creates a store in a `Storage` of a web page: `localStorage` for all tabs of an
 * origin, `sessionStorage` for one tab. Any script of the origin can read the session.
 *
 * With Web Locks, only one tab at a time signs in or refreshes. The browser releases
 * the lock when the tab that holds it is closed or crashes. Without them, and with
 * `sessionStorage`, tabs do not wait for each other: the store has no `lock`, and tasks
 * run one at a time for each store object. If the user duplicates a tab, the browser
 * copies its `sessionStorage`; then two tabs have the same refresh token.
 *
 * `load` rejects with an `OAuthClientError` with the code `invalid_session` if the
 * value is not a session; the value is not changed. Errors of the storage, such as
 * `QuotaExceededError`, are passed on unchanged.
 *
 * @param storage `localStorage` or `sessionStorage`.
 * @param key The key of the value, another one for each user and resource. A second
 * value, with `oauth-helper:version:` before the key, contains the number of
 * changes; the key itself must not start with that prefix.
 * @param options Web Locks to use, and what is called during a wait.
 * @throws {OAuthClientError} `invalid_argument`: an argument is not valid, or the key
 * starts with that prefix.
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
  storage: WebStorage,
  key: string,
  options?: WebStorageStoreOptions,
): SessionStore {
  requireObject("storage", storage);
  const { locks, ...further } = requireObject("options", options ?? {});
  requireNames(options ?? {}, ["locks", "onWait"], "webStorageStore");
  const onWait = optionalFunction("onWait", further.onWait);
  requireNonEmptyString("key", key);
  requireArgument(
    !key.startsWith(VERSION_PREFIX),
    "key",
    `a key that does not start with "${VERSION_PREFIX}"`,
  );
  const { navigator, sessionStorage } = globalThis as {
    navigator?: { locks?: WebLocks };
    sessionStorage?: unknown;
  };
  // Each tab has its own storage, and never receives the changes of another tab.
  const isShared = storage !== sessionStorage;
  const manager = locks ?? (isShared && navigator?.locks);
  const locked = manager &&
    createLock(storage, key, { locks: manager, onWait });
  return {
    // deno-lint-ignore require-await -- what the storage throws is a rejection
    async load() {
      return readSession(storage.getItem(key), `web storage at key "${key}"`);
    },
    async save(session, former) {
      const write = () => {
        const isOther = former !== undefined &&
          !isStill(former, storage.getItem(key));
        if (isOther) return false;
        if (session) storage.setItem(key, JSON.stringify(session));
        else storage.removeItem(key);
        return true;
      };
      return await (locked ? locked.writing(write) : write());
    },
    ...(locked && { lock: locked.lock }),
  };
}
