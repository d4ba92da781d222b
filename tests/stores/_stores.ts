/** The stores under test, by name and location; in Deno, and files in Node too. */

import process from "node:process";
import type { SessionStore } from "../../mod.ts";
import { files } from "../../lib/native/_file_system.ts";
import { fileStore } from "../../lib/native/mod.ts";
import {
  type DenoKv,
  denoKvStore,
  type RedisClient,
  redisStore,
} from "../../lib/stores/mod.ts";
import { sqlStore } from "../examples/sql_store.ts";

export interface OpenStore {
  readonly store: SessionStore;
  close(): unknown;
}

export type StoreName = "file" | "kv" | "redis" | "redis with a cache" | "sql";

/** Options of a client of Redis with a cache of its own. */
export const WITH_CACHE = {
  RESP: 3,
  clientSideCache: { ttl: 0, maxEntries: 100 },
} as const;

/** The key of the session in Deno KV and in Redis. */
export const KEY = "user-1";

function noting(
  store: SessionStore,
  beforeSave: () => void = () => {},
): SessionStore {
  const save: SessionStore["save"] = (...args) => {
    beforeSave();
    return store.save(...args);
  };
  return { ...store, save };
}

/**
 * Opens a store: a path for a file and for Deno KV, a URL for Redis and PostgreSQL.
 *
 * @param beforeChange Is called right before a file, or a value in Redis, changes, and
 * before a save in another store.
 */
export async function openStore(
  name: StoreName,
  location: string,
  beforeChange?: () => void,
): Promise<OpenStore> {
  if (name === "file") {
    if (beforeChange) {
      const { rename } = files;
      files.rename = (from, to) => {
        beforeChange();
        return rename(from, to);
      };
    }
    return { store: fileStore(location), close: () => {} };
  }
  if (name === "kv") {
    // The types of Deno KV are unstable, and there is none in Node.
    const { openKv } = (globalThis as unknown as {
      Deno: { openKv(path: string): Promise<DenoKv & { close(): void }> };
    }).Deno;
    const kv = await openKv(location);
    const store = denoKvStore(kv, ["sessions", KEY]);
    return { store: noting(store, beforeChange), close: () => kv.close() };
  }
  if (name === "sql") {
    const { default: pg } = await import("pg");
    // As `poolOf`, whose file has syntax that Node 20 lacks: this one runs there too.
    const sql = new pg.Pool({ connectionString: location })
      .on("error", () => {});
    const store = sqlStore(sql, KEY);
    return { store: noting(store, beforeChange), close: () => sql.end() };
  }
  const { createClient } = await import("redis");
  const options = name === "redis" ? {} : WITH_CACHE;
  const client = createClient({ url: location, ...options });
  client.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  await client.connect();
  const changing: RedisClient = {
    get: (key) => client.get(key),
    del: (key) => client.del(key),
    set(...args) {
      beforeChange?.();
      return client.set(...args);
    },
    eval(...args) {
      beforeChange?.();
      return client.eval(...args);
    },
  };
  return { store: redisStore(changing, KEY), close: () => client.close() };
}
