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
 * Prefix of keys and lock names for the number of changes. As a suffix, it could make
 * one user's session key another user's number.
 */
const VERSION_PREFIX = "oauth-helper:version:";

/** Prefix of the lock during each write. */
const WRITE_PREFIX = "oauth-helper:write:";

/** Returns the number of changes; 0 for any number that cannot be increased. */
function versionIn(text: string | null | undefined): number {
  const version = Number(text);
  return Number.isSafeInteger(version) && version > 0 ? version : 0;
}

/**
 * Creates a lock whose holder can read a storage's latest change.
 *
 * Browsers send changes to other tabs' processes without waiting, so the lock's release
 * often arrives first. The next holder would then use a refresh token again. So another
 * value counts the changes. After a change, a tab holds a lock whose name contains the
 * number, because all tabs see the same locks. The next holder waits until it can read
 * that number.
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
    // Without a time limit, a cleared storage could never be read again.
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
   * Writes to the storage while no other tab does, after its last change. Without a
   * lock, as in a page that is being left, it still writes: a refreshed token cannot be
   * obtained again.
   */
  const writing = async (write: () => boolean): Promise<boolean> => {
    let hasTried = false;
    const writeAndAnnounce = async () => {
      const version = await latestVersion();
      hasTried = true;
      const isWritten = write();
      // Otherwise another tab may read the previous session.
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
 * Creates a store in a web page's `Storage`: `localStorage` for all tabs of an origin,
 * `sessionStorage` for one tab. Any script of the origin can read the session.
 *
 * With Web Locks, only one tab at a time signs in or refreshes. The browser releases
 * the lock of a closed or crashed tab. Without them, and with `sessionStorage`, tabs do
 * not wait for each other: the store has no `lock`. A duplicated tab copies
 * `sessionStorage`, and then two tabs use the same refresh token.
 *
 * `load` rejects with the code `invalid_session` if the value is not a session; the
 * value is not changed. Errors of the storage, such as `QuotaExceededError`, are passed
 * on unchanged.
 *
 * @param storage `localStorage` or `sessionStorage`.
 * @param key The key of the value, a different one for each user and resource. A second
 * value, with `oauth-helper:version:` before the key, counts the changes; the key must
 * not start with that prefix.
 * @param options Web Locks to use, and the callback during a wait.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid, or the key
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
