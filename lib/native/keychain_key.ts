import { spawn } from "node:child_process";
import process from "node:process";
import { requireArgument } from "../core/_arguments.ts";
import {
  type Command,
  type Ending,
  keyFromHex,
  readKeychain,
} from "./_keychains.ts";

function run({ program, args, input, env }: Command): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      windowsHide: true,
    });
    const ending = { output: "", errors: "" };
    child.stdout.setEncoding("utf8").on(
      "data",
      (text) => ending.output += text,
    );
    child.stderr.setEncoding("utf8").on(
      "data",
      (text) => ending.errors += text,
    );
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...ending, status: code ?? -1 }));
    // A command that has exited no longer reads.
    child.stdin.on("error", () => {}).end(input ?? "");
  });
}

/**
 * Characters that commands accept without escaping: no quote, backslash or control
 * character.
 */
const NAME = /^[^"\\\p{Cc}]+$/u;

/**
 * Returns a function for the option `key` of {@linkcode fileStore}. It reads a key of
 * 32 random bytes from the system's keychain, and creates it at the first call. Many
 * keychains have no room for a whole session.
 *
 * | System | Keychain | Command |
 * | --- | --- | --- |
 * | Linux | Secret Service (GNOME Keyring, KWallet) | `secret-tool` of the package `libsecret-tools` |
 * | macOS | login keychain | `security` |
 * | Windows | Credential Manager of the user | Windows PowerShell 5.1 |
 *
 * The keychain may prompt the user to unlock it; there is no time limit. The user's
 * other programs may be able to read the key. Without a keychain, such as in a
 * container or over SSH, the function rejects, and nothing is stored as plain text.
 * Deno needs `--allow-run` for the command, and `--allow-env`.
 *
 * @param service The name of your program, without quotation marks, backslashes and
 * control characters.
 * @param account The name of the key, if the program uses several.
 * @returns A function that rejects with the code `unsupported` if there is no keychain,
 * or the keychain rejects. The message names the fix.
 * @throws {OAuthClientError} `invalid_argument`: a name is empty or contains such a
 * character.
 *
 * @example Encrypt the session of a command-line tool
 * ```ts
 * import { fileStore, keychainKey } from "@oauth-helper/client/native";
 *
 * export const store = fileStore("session.json", {
 *   key: keychainKey("my-program"),
 * });
 * ```
 */
export function keychainKey(
  service: string,
  account = "session",
): () => Promise<Uint8Array> {
  for (const [name, value] of Object.entries({ service, account })) {
    requireArgument(
      typeof value === "string" && NAME.test(value),
      name,
      "a non-empty string without quotation marks and backslashes",
    );
  }
  const { platform, env } = process;
  const item = { service, account };
  return async () =>
    keyFromHex(await readKeychain(item, { run, platform, env }), item);
}
