import {
  optionalFunction,
  requireArgument,
  requireObject,
} from "../core/_arguments.ts";
import type { SessionStore } from "../session/store.ts";
import { createCrashCheck, type Lease, underLease } from "./_lease.ts";
import { lifetimeMsOf, type StoreOptions } from "./lifetime.ts";
import { isStill, readSession } from "./_stored_session.ts";

/** A key of Deno KV. */
export type DenoKvKey = readonly (string | number | bigint | boolean)[];

/** An entry of Deno KV; if it does not exist, its version is `null`. */
export interface DenoKvEntry {
  /** Its value. */
  readonly value: unknown;
  /** Its version, which differs after each change. */
  readonly versionstamp: string | null;
}

/** The part of an atomic operation of Deno KV that {@linkcode denoKvStore} uses. */
export interface DenoKvAtomic {
  /** Fails the operation if the entry has another version at the commit. */
  check(
    entry: { key: DenoKvKey; versionstamp: string | null },
  ): DenoKvAtomic;
  /** Sets a value. */
  set(
    key: DenoKvKey,
    value: unknown,
    options?: { expireIn: number },
  ): DenoKvAtomic;
  /** Deletes a value. */
  delete(key: DenoKvKey): DenoKvAtomic;
  /** Runs the operation. */
  commit(): Promise<{ ok: boolean }>;
}

/** The part of a `Deno.Kv` that {@linkcode denoKvStore} uses. */
export interface DenoKv {
  /** Returns an entry. */
  get(key: DenoKvKey): Promise<DenoKvEntry>;
  /**
   * Sets a value, which is deleted some time after the given number of milliseconds.
   */
  set(
    key: DenoKvKey,
    value: unknown,
    options?: { expireIn: number },
  ): Promise<unknown>;
  /** Deletes a value. */
  delete(key: DenoKvKey): Promise<void>;
  /** Starts an atomic operation. */
  atomic(): DenoKvAtomic;
}

/** How often to try an operation while other processes write to the file. */
const TRIES = 100;

/** A database file allows one writer at a time, and rejects others at once. */
async function whenUnlocked<T>(operation: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await operation();
    } catch (error) {
      if (tries === TRIES || !/database is locked/.test(String(error))) {
        throw error;
      }
      const delayMs = 10 + Math.random() * 40;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

/**
 * The first part of a lock's key. As the last part, it could make one session's key
 * another session's lock.
 */
const LOCK_PART = "oauth-helper:lock";

/** Deletes a crashed process's lock at some time; the exact time does not matter. */
const CLEAN_UP_MS = 60_000;

/** A lease is an entry whose version changes with each extension. */
function kvLease(kv: DenoKv, key: DenoKvKey): Lease {
  const owner = crypto.randomUUID();
  const hasCrashed = createCrashCheck();
  const get = () => whenUnlocked(() => kv.get(key));
  const write = async (versionstamp: string | null) => {
    const { ok } = await whenUnlocked(() =>
      kv.atomic().check({ key, versionstamp })
        .set(key, owner, { expireIn: CLEAN_UP_MS }).commit()
    );
    return ok;
  };
  return {
    async acquire() {
      const { versionstamp } = await get();
      const isHeld = versionstamp !== null && !hasCrashed(versionstamp);
      return !isHeld && await write(versionstamp);
    },
    async extend() {
      const { value, versionstamp } = await get();
      if (value === owner) await write(versionstamp);
    },
    async release() {
      const { value, versionstamp } = await get();
      if (value !== owner) return;
      await whenUnlocked(() =>
        kv.atomic().check({ key, versionstamp }).delete(key).commit()
      );
    },
  };
}

/**
 * Creates a store in Deno KV, for several processes, machines or isolates.
 *
 * The lock is a second entry, with `"oauth-helper:lock"` before the key. Its holder
 * changes it every 2.5 seconds; it expires after 10 seconds without a change. So a
 * crashed process delays the others by at most 10.25 seconds. A process that is
 * suspended for longer loses the lock, and cannot overwrite newer sessions.
 *
 * `load` rejects with the code `invalid_session` if the value is not a session; the
 * value is not changed. Database errors are passed on unchanged. A value may contain 64
 * KiB, more than a session needs. Deno KV deletes a session within about a minute after
 * its lifetime; until then, `load` returns it.
 *
 * @param kv From `Deno.openKv`.
 * @param key The key of the value, a different one for each user and resource. Its
 * first part must not be `"oauth-helper:lock"`.
 * @param options The lifetime of a session, and the callback during a wait.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid, or the key is
 * the key of a lock.
 *
 * @example Keep the session of each user
 * ```ts
 * import { createAuthorizedFetch } from "@oauth-helper/client";
 * import type { Flow } from "@oauth-helper/client";
 * import { denoKvStore, type DenoKv } from "@oauth-helper/client/stores";
 *
 * // const kv = await Deno.openKv();
 * export function apiOf(user: string, kv: DenoKv, flow: Flow) {
 *   return createAuthorizedFetch("https://api.example/mcp", {
 *     flow,
 *     // Users who do not return within 30 days sign in again.
 *     store: denoKvStore(kv, ["sessions", user], {
 *       lifetimeSeconds: 30 * 24 * 3600,
 *     }),
 *   });
 * }
 * ```
 */
export function denoKvStore(
  kv: DenoKv,
  key: DenoKvKey,
  options?: StoreOptions,
): SessionStore {
  requireObject("kv", kv);
  requireArgument(
    Array.isArray(key) && key.length > 0,
    "key",
    "a non-empty array",
  );
  requireArgument(
    key[0] !== LOCK_PART,
    "key",
    `a key that does not start with "${LOCK_PART}"`,
  );
  const lifetimeMs = lifetimeMsOf(options, "denoKvStore");
  const onWait = optionalFunction("onWait", options?.onWait);
  const expiry = lifetimeMs === undefined
    ? undefined
    : { expireIn: lifetimeMs };
  const place = `Deno KV at key [${key.map((part) => `"${part}"`).join(", ")}]`;
  return {
    async load() {
      const { value } = await whenUnlocked(() => kv.get(key));
      return readSession(value, place);
    },
    async save(session, former) {
      if (former === undefined) {
        await whenUnlocked<unknown>(() =>
          session ? kv.set(key, session, expiry) : kv.delete(key)
        );
        return true;
      }
      const { value, versionstamp } = await whenUnlocked(() => kv.get(key));
      if (!isStill(former, value)) return false;
      const { ok } = await whenUnlocked(() => {
        const atomic = kv.atomic().check({ key, versionstamp });
        const change = session
          ? atomic.set(key, session, expiry)
          : atomic.delete(key);
        return change.commit();
      });
      return ok;
    },
    lock: (task, signal) =>
      underLease(kvLease(kv, [LOCK_PART, ...key]), task, signal, onWait),
  };
}
