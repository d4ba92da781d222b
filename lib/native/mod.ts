/**
 * Sign-in with the browser and a session in a file, for programs on the user's machine
 * (RFC 8252), in Deno, Node and Bun. {@linkcode createLoopbackReceiver} opens the
 * browser and receives the authorization response. {@linkcode fileStore} keeps the
 * session.
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
 * ## Interrupts
 *
 * A process that ends while it holds the lock of a file delays the next process, by up
 * to ten seconds if the next process cannot see that the first has ended. So abort the
 * signal of the call instead, and do not call `process.exit` after it: the lock is
 * released a moment later, and a refresh that has begun is finished and stored. A
 * second interrupt ends the program immediately.
 *
 * @example End with one line at Ctrl-C, and release the lock
 * ```ts
 * import process from "node:process";
 * import type { IAuthorizedFetch } from "@oauth-helper/client";
 *
 * export async function run(api: IAuthorizedFetch, url: string) {
 *   const interrupted = new AbortController();
 *   const stop = () => interrupted.abort("Interrupted");
 *   process.once("SIGINT", stop).once("SIGTERM", stop);
 *   try {
 *     const response = await api(url, { signal: interrupted.signal });
 *     console.log(response.status, await response.text());
 *   } catch (error) {
 *     console.error(String(error));
 *     process.exitCode = 1;
 *   }
 * }
 * ```
 *
 * ## A key in the keychain
 *
 * With `key`, the file is encrypted. The keychain of the platform stores only the key,
 * as many keychains have no room for a whole session. Deno needs `--allow-run` and
 * `--allow-env` for the command, or `--allow-ffi` for the package. Each function below
 * creates the key at the first call; the store calls it under its lock, so that two
 * processes do not create two keys.
 *
 * @example Linux: the Secret Service, by secret-tool of the package libsecret-tools
 * ```ts
 * import { Buffer } from "node:buffer";
 * import { execFileSync, spawnSync } from "node:child_process";
 * import { randomBytes } from "node:crypto";
 * import { existsSync } from "node:fs";
 * import { fileStore } from "@oauth-helper/client/native";
 *
 * const PATH = "session.json";
 * const ITEM = ["service", "my-program", "account", "session"];
 *
 * function keyInKeyring(): Uint8Array {
 *   const found = spawnSync("secret-tool", ["lookup", ...ITEM], {
 *     encoding: "utf8",
 *   });
 *   if (found.error) throw found.error;
 *   if (found.status === 0) return Buffer.from(found.stdout, "hex");
 *   // The status is the same for an item that is missing and a keyring that is locked.
 *   if (found.stderr || existsSync(PATH)) {
 *     throw new Error(`No key for ${PATH} in the keyring. ${found.stderr}`);
 *   }
 *   const key = randomBytes(32);
 *   const args = ["store", "--label=My program", ...ITEM];
 *   execFileSync("secret-tool", args, { input: key.toString("hex") });
 *   return key;
 * }
 *
 * export const store = fileStore(PATH, { key: keyInKeyring });
 * ```
 *
 * @example macOS: the login keychain, by the program security
 * ```ts
 * import { Buffer } from "node:buffer";
 * import { execFileSync, spawnSync } from "node:child_process";
 * import { randomBytes } from "node:crypto";
 * import { fileStore } from "@oauth-helper/client/native";
 *
 * const ITEM = "-s my-program -a session";
 *
 * function keyInKeychain(): Uint8Array {
 *   const args = ["find-generic-password", ...ITEM.split(" "), "-w"];
 *   const find = () => spawnSync("security", args, { encoding: "utf8" });
 *   let found = find();
 *   if (found.error) throw found.error;
 *   // errSecItemNotFound; the key is passed by the input, as others can read arguments.
 *   if (found.status === 44) {
 *     const key = randomBytes(32).toString("hex");
 *     const input = `add-generic-password ${ITEM} -w ${key}\n`;
 *     execFileSync("security", ["-i"], { input });
 *     found = find();
 *   }
 *   if (found.status !== 0) throw new Error(found.stderr);
 *   return Buffer.from(found.stdout.trim(), "hex");
 * }
 *
 * export const store = fileStore("session.json", { key: keyInKeychain });
 * ```
 *
 * @example Windows, macOS and Linux: the package @napi-rs/keyring
 * ```ts ignore
 * import { AsyncEntry } from "@napi-rs/keyring";
 * import { fileStore } from "@oauth-helper/client/native";
 *
 * // Without the option, Linux may use the keyring of the kernel, which a restart clears.
 * const entry = new AsyncEntry("my-program", "session", {
 *   linux: { store: "secret-service" },
 * });
 *
 * async function keyInKeychain() {
 *   const key = await entry.getSecret();
 *   if (key) return new Uint8Array(key);
 *   const created = crypto.getRandomValues(new Uint8Array(32));
 *   await entry.setSecret(created);
 *   return created;
 * }
 *
 * export const store = fileStore("session.json", { key: keyInKeychain });
 * ```
 *
 * @module
 */

export { fileStore, type IFileStoreOptions } from "./file_store.ts";
export { createLoopbackReceiver } from "./loopback_receiver.ts";
export type {
  ILoopbackReceiver,
  ILoopbackReceiverOptions,
  ILoopbackResult,
  ILoopbackVisit,
} from "./loopback_receiver_options.ts";

export type { FileStoreKey } from "./file_content.ts";

// The types that the signatures above name, and the types that these name.
export type { IPendingAuthorization } from "../flows/sign_in.ts";
export type {
  IRedirectUriRequest,
  IVisit,
} from "../flows/code_flow_options.ts";
export type {
  ISession,
  ISessionApi,
  SessionServerMetadata,
} from "../session/session.ts";
export type { ISessionStore } from "../session/store.ts";
export type { IKnownClient } from "../client/known_client.ts";
export type { IToken } from "../token/token.ts";
export type { IAuthorizationServerMetadata } from "../core/metadata.ts";
export type {
  IAuthorizationDetail,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationTokenResponse,
} from "../core/types.ts";
