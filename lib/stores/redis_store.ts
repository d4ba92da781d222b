import {
  optionalFunction,
  requireArgument,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import type { SessionStore } from "../session/store.ts";
import { type Lease, LEASE_MS, underLease } from "./_lease.ts";
import { lifetimeMsOf, type StoreOptions } from "./lifetime.ts";
import { isStill, readSession } from "./_stored_session.ts";

/** The part of a client of the npm package `redis` that {@linkcode redisStore} uses. */
export interface RedisClient {
  /** Returns a value. */
  get(key: string): Promise<unknown>;
  /**
   * Sets a value, with `PX` for that number of milliseconds, and with `NX` only if no
   * value exists. Returns `null` if the value was not set.
   */
  set(
    key: string,
    value: string,
    options?: { NX?: true; PX: number },
  ): Promise<unknown>;
  /** Deletes a value. */
  del(key: string): Promise<unknown>;
  /** Runs a Lua script. */
  eval(
    script: string,
    options: { keys: string[]; arguments: string[] },
  ): Promise<unknown>;
}

// Scripts are atomic: no other holder can intervene.
const EXTEND = `if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`;
const REPLACE = `if (redis.call("get", KEYS[1]) or "") ~= ARGV[1] then
  return 0
end
if ARGV[2] then
  redis.call("set", KEYS[1], unpack(ARGV, 2))
else
  redis.call("del", KEYS[1])
end
return 1`;
const RELEASE = `if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
end
return 0`;

/**
 * Prefix of a lock's key. As a suffix, it could make one user's session key another
 * user's lock.
 */
const LOCK_PREFIX = "oauth-helper:lock:";

/** A lease is a value with an expiry (`SET NX PX`). */
function redisLease(client: RedisClient, key: string): Lease {
  const owner = crypto.randomUUID();
  const run = (script: string, ...args: string[]) =>
    client.eval(script, { keys: [key], arguments: [owner, ...args] });
  return {
    acquire: async () =>
      await client.set(key, owner, { NX: true, PX: LEASE_MS }) !== null,
    extend: () => run(EXTEND, String(LEASE_MS)),
    release: () => run(RELEASE),
  };
}

/**
 * Creates a store in Redis or Valkey, for several processes or machines.
 *
 * The lock is a second value, with `oauth-helper:lock:` before the key. It expires
 * after 10 seconds, and its holder extends it every 2.5 seconds. So a crashed process
 * delays the others by at most 10.25 seconds. A process that is suspended for longer
 * loses the lock, and cannot overwrite newer sessions. The lock is on one server: after
 * a failover to a replica, two processes may hold it.
 *
 * With the client's cache (`RESP: 3` and `clientSideCache`), a call with a valid token
 * makes no request to Redis. The lock stays safe, because Redis sends invalidations
 * before the lock is acquired. Do not use a cache with a pool of clients: its
 * connections receive invalidations at different times.
 *
 * `load` rejects with the code `invalid_session` if the value is not a session; the
 * value is not changed. Errors of the client are passed on unchanged.
 *
 * @param client A connected client of the npm package `redis`, from version 4 on.
 * @param key The key of the value, a different one for each user and resource. It must
 * not start with `oauth-helper:lock:`.
 * @param options The lifetime of a session, and the callback during a wait.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid, or the key is
 * the key of a lock.
 * @see Redis documentation, "Distributed Locks with Redis".
 *
 * @example Share a session between the processes of a service
 * ```ts
 * import type { SessionStore } from "@oauth-helper/client";
 * import { type RedisClient, redisStore } from "@oauth-helper/client/stores";
 *
 * // const client = await createClient({ url: "redis://localhost" }).connect();
 * export function storeOf(client: RedisClient, user: string): SessionStore {
 *   // Users who do not return within 30 days sign in again.
 *   const lifetimeSeconds = 30 * 24 * 3600;
 *   return redisStore(client, `oauth:session:${user}`, { lifetimeSeconds });
 * }
 * ```
 */
export function redisStore(
  client: RedisClient,
  key: string,
  options?: StoreOptions,
): SessionStore {
  requireObject("client", client);
  requireNonEmptyString("key", key);
  requireArgument(
    !key.startsWith(LOCK_PREFIX),
    "key",
    `a key that does not start with "${LOCK_PREFIX}"`,
  );
  const lifetimeMs = lifetimeMsOf(options, "redisStore");
  const onWait = optionalFunction("onWait", options?.onWait);
  const expiry = lifetimeMs === undefined ? undefined : { PX: lifetimeMs };
  return {
    load: async () =>
      readSession(await client.get(key), `Redis at key "${key}"`),
    async save(session, former) {
      const text = session && JSON.stringify(session);
      if (former === undefined) {
        await (text ? client.set(key, text, expiry) : client.del(key));
        return true;
      }
      const stored = await client.get(key);
      if (!isStill(former, stored)) return false;
      const px = expiry ? ["PX", String(expiry.PX)] : [];
      const result = await client.eval(REPLACE, {
        keys: [key],
        arguments: [String(stored ?? ""), ...text ? [text, ...px] : []],
      });
      return Number(result) === 1;
    },
    lock: (task, signal) =>
      underLease(redisLease(client, LOCK_PREFIX + key), task, signal, onWait),
  };
}
