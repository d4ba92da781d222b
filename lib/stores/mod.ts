/**
 * Stores that keep sessions in Redis, Deno KV or the storage of a web page:
 * {@linkcode redisStore}, {@linkcode denoKvStore} and {@linkcode webStorageStore}. Each
 * has a lock, so that only one process at a time refreshes a token. No driver is
 * imported: the caller passes the client, database or storage.
 *
 * @example Choose a store by the runtime
 * ```ts
 * import { type ISessionStore, memoryStore } from "@oauth-helper/client";
 * import { webStorageStore } from "@oauth-helper/client/stores";
 *
 * const store: ISessionStore = "document" in globalThis
 *   ? webStorageStore(localStorage, "session")
 *   : memoryStore();
 * console.log(await store.load() ? "signed in" : "not signed in");
 * ```
 *
 * @module
 */

export * from "./deno_kv_store.ts";
export * from "./redis_store.ts";
export * from "./web_storage_store.ts";

export type { IStoreOptions } from "./_lifetime.ts";

// The types that the signatures above name, and the types that these name.
export type { ISession, SessionServerMetadata } from "../session/session.ts";
export type { ISessionStore } from "../session/store.ts";
export type { IKnownClient } from "../client/known_client.ts";
export type { IToken } from "../token/token.ts";
export type { IAuthorizationServerMetadata } from "../core/metadata.ts";
export type {
  IAuthorizationDetail,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationTokenResponse,
} from "../core/types.ts";
