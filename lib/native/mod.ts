/**
 * What a program on the machine of its user needs (RFC 8252), in Deno, Node and Bun:
 * {@linkcode createLoopbackReceiver} opens the browser and receives the authorization
 * response, and {@linkcode fileStore} keeps the session in a file.
 *
 * @example Sign in once, and stay signed in
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";
 *
 * export const api = createAuthorizedFetch("https://api.example/mcp", {
 *   store: fileStore("session.json"),
 *   authorize: codeFlow({
 *     ...createLoopbackReceiver({ title: "My program" }),
 *     clientMetadata: { client_name: "My program" },
 *   }),
 * });
 * ```
 *
 * @module
 */

export * from "./file_store.ts";
export * from "./loopback_receiver.ts";

// The types that the signatures above name, and those that these name.
export type { IPendingAuthorization } from "../session/sign_in.ts";
export type { IRedirectUriRequest, IVisit } from "../session/code_flow.ts";
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
