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
 *   flow: codeFlow({
 *     ...createLoopbackReceiver({ title: "My program" }),
 *     clientMetadata: { client_name: "My program" },
 *   }),
 * });
 * ```
 *
 * ## Interrupts
 *
 * A process that exits while it holds a file's lock delays the next process by up to
 * ten seconds. So abort the call's signal instead, and do not call `process.exit` after
 * it: the lock is released a moment later, and a started refresh is finished and
 * stored. A second interrupt exits the program immediately.
 *
 * @example Exit with one line at Ctrl-C, and release the lock
 * ```ts
 * import process from "node:process";
 * import type { AuthorizedFetch } from "@oauth-helper/client";
 *
 * export async function run(api: AuthorizedFetch, url: string) {
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
 * With `key`, the file is encrypted. {@linkcode keychainKey} keeps the key in the
 * system's keychain, by the commands of macOS and Windows, or `secret-tool` on Linux.
 * It was tested with `secret-tool` and GNOME Keyring; the others are used as
 * documented, and were tested with stand-ins only.
 *
 * @example Encrypt the session with a key in the keychain
 * ```ts
 * import { fileStore, keychainKey } from "@oauth-helper/client/native";
 *
 * export const store = fileStore("session.json", {
 *   key: keychainKey("my-program"),
 * });
 * ```
 *
 * A package such as `@napi-rs/keyring` needs no command. The store calls the function
 * under its lock, so that two processes do not create two keys. Deno needs
 * `--allow-ffi` for it.
 *
 * @example A key in the keychain, by the package @napi-rs/keyring
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

export { fileStore, type FileStoreOptions } from "./file_store.ts";
export { keychainKey } from "./keychain_key.ts";
export { createLoopbackReceiver } from "./loopback_receiver.ts";
export type {
  LoopbackReceiver,
  LoopbackReceiverOptions,
  LoopbackResult,
  LoopbackVisit,
} from "./loopback_receiver_options.ts";

export type { FileStoreKey } from "./file_content.ts";
