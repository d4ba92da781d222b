/**
 * Stores for sessions in Redis, Deno KV, a Durable Object or a web page's storage:
 * {@linkcode redisStore}, {@linkcode denoKvStore}, {@linkcode durableObjectStore} and
 * {@linkcode webStorageStore}. A lock lets only one process at a time refresh a token.
 * No driver is imported: you pass the client, database or storage.
 *
 * {@linkcode memoryStore} keeps a session until the process ends.
 * {@linkcode fileStore}, for a file on the user's machine, is in the module `./native`.
 *
 * @example Keep the session of each user of a web server in Redis
 * ```ts
 * import { createAuthorizedFetch } from "@oauth-helper/client";
 * import { type RedisClient, redisStore } from "@oauth-helper/client/stores";
 *
 * export function apiOf(client: RedisClient, user: string) {
 *   const store = redisStore(client, `oauth:session:${user}`);
 *   return createAuthorizedFetch("https://api.example/mcp", { store });
 * }
 * ```
 *
 * @module
 */

export * from "./deno_kv_store.ts";
export * from "./durable_object_store.ts";
export * from "./redis_store.ts";
export * from "./web_storage_store.ts";

export { memoryStore } from "../session/store.ts";
export type { StoreOptions, WaitOptions } from "./lifetime.ts";
