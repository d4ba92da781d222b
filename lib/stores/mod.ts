/**
 * Stores for sessions on engines that already run: the storage of a web page, Deno
 * KV and Redis. Each of them has a lock, so that one process at a time refreshes a
 * token. Nothing is imported: the caller passes the storage, database or client.
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

// The types that the signatures above name, and those that these name.
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
