/**
 * A store in a file.
 *
 * @module
 */

import type { Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  optionalFunction,
  requireArgument,
  requireNames,
  requireObject,
} from "../core/_arguments.ts";
import type { SessionStore } from "../session/store.ts";
import { underLease } from "../stores/_lease.ts";
import { isStill, readSession } from "../stores/_stored_session.ts";
import { changeFile, removeTemporary } from "./_file_change.ts";
import { isMissing } from "./_file_system.ts";
import {
  fileContent,
  type FileStoreKey,
  isEncrypted,
  unusableFile,
  withoutKey,
} from "./file_content.ts";
import { lockDirectoryLease, lockHolderOf } from "./_lock_directory.ts";

/**
 * If a file was changed longer ago than this, the next change also changes its time:
 * some file systems store times in units of two seconds, and Deno returns the time of a
 * status change in seconds.
 */
const SETTLED_MS = 3_000;

/**
 * Returns a version that differs after each change: a file that is renamed into place
 * has its own inode number, though a previous number may be used again, and a file that
 * is written to has a new time of status change, which no program can set. Returns
 * undefined if the file may change again without a new version.
 */
function versionOf(
  { dev, ino, size, mtimeMs, ctimeMs }: Stats,
): string | undefined {
  const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > SETTLED_MS;
  return isSettled ? [dev, ino, size, mtimeMs, ctimeMs].join() : undefined;
}

/**
 * Fails if other users may write a file: they could have replaced the session, and with
 * it the endpoint that the refresh token is sent to. Windows has no such modes.
 */
function requireOwn(path: string, { mode }: Stats): void {
  if (process.platform === "win32" || (mode & 0o022) === 0) return;
  throw unusableFile(
    path,
    `can be written by other users (mode ${(mode & 0o777).toString(8)}); set ` +
      "its mode to 600 if the content is yours",
  );
}

/** Options of {@linkcode fileStore}. */
export interface FileStoreOptions {
  /**
   * Encrypts the session with AES-256-GCM: a key of 32 bytes, or a function that
   * returns it or a promise of it. The function is called when the store first saves a
   * session or reads an encrypted one, and again after it has failed or the key was
   * wrong.
   *
   * Do not keep the key next to the file. Keep it in the system's keychain, with
   * {@linkcode keychainKey}.
   *
   * @default {The session is stored as plain text}
   */
  key?: FileStoreKey | undefined;
  /**
   * Called once when another process has held the lock for a second, for example while
   * its user signs in. The argument is the identifier of that process, if known. Errors
   * that the function throws or rejects with are ignored.
   */
  onWait?: ((pid?: number) => unknown) | undefined;
}

/**
 * Creates a store in a file on the user's machine, in Deno, Node and Bun.
 *
 * The file has the mode 0600, and directories that the store creates have 0700. The
 * content is written to a temporary directory, and moved from there, so the file is never
 * half-written. If the process is killed in between, the next process that saves, or
 * holds the lock, removes the temporary directory. With `key`, the content is encrypted,
 * with a new IV each time. `load` reads the file only if it has changed, or under the
 * lock.
 *
 * If the mode of the file allows other users to write it, the file is not read, except
 * on Windows. The directory is not checked: a user who may write to it can replace the
 * file.
 *
 * The lock is a file in a directory next to the session's file, with `.lock` at the end
 * of its name. It contains the identifier of the process that holds it, for `onWait`.
 * The directory is removed when the session is deleted under the lock. The lock is
 * released when the signal of a call ends the call, so abort the signal at an
 * interrupt. If the process is killed, another process breaks the lock. On Linux it
 * does so immediately if it can see that the process has ended (with the same user and
 * namespaces; in Deno only with `--allow-all`), otherwise after a lease. The holder
 * sets the time of the file every 2.5 seconds; the lock is stale if the time has not
 * changed while another process waited for 10 seconds. The clocks of the machines do
 * not matter. Waiting processes check again within a quarter of a second, and only one
 * of them can break the lock. A process that is suspended for more than 10 seconds
 * while others run loses the lock, and cannot replace what they have saved meanwhile.
 *
 * On Windows, a file that a virus scanner or another reader has open can be neither
 * replaced nor removed: both are tried again for a second.
 *
 * Deno needs `--allow-read` and `--allow-write` for the directory of the file, and for
 * parent directories that do not exist yet.
 *
 * `load` rejects with an `OAuthClientError` with the code `invalid_session` if the
 * content is not a session, or if other users may write the file. With `key`, it also
 * does if the content is plain text, or cannot be decrypted. Without `key`, `load` and
 * `save` do if the content is encrypted. The message names which, and the file is not
 * changed. `lock` rejects with the code `invalid_argument` if the directory of the lock
 * is a symbolic link. Errors of the file system and of the function `key` are thrown
 * unchanged.
 *
 * @param path Path of the file, or its `file:` URL; one for each user and resource. A
 * relative path is resolved when the store is created.
 * @throws {OAuthClientError} `invalid_argument`: the path or the key has the wrong
 * type. `load` and `save` reject with this code if the function `key` returns no key.
 * @see RFC 8252, section 8.
 *
 * @example Stay signed in between two runs of a program
 * ```ts
 * import { homedir } from "node:os";
 * import { join } from "node:path";
 * import { type Flow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { fileStore } from "@oauth-helper/client/native";
 *
 * export function createApi(flow: Flow) {
 *   const path = join(homedir(), ".config", "my-program", "session.json");
 *   return createAuthorizedFetch("https://api.example/mcp", {
 *     flow,
 *     store: fileStore(path),
 *   });
 * }
 * ```
 */
export function fileStore(
  path: string | URL,
  options?: FileStoreOptions,
): SessionStore {
  const isFileUrl = path instanceof URL && path.protocol === "file:";
  const given = isFileUrl ? fileURLToPath(path) : path;
  requireArgument(
    typeof given === "string" && given !== "",
    "path",
    "a non-empty string or a file: URL",
  );
  // The working directory may change between two calls.
  const file = resolve(given);
  const { key, onWait } = requireObject("options", options ?? {});
  optionalFunction("onWait", onWait);
  // A misspelled key would store tokens in the clear.
  requireNames(options ?? {}, ["key", "onWait"], "fileStore");
  const content = fileContent(file, key);
  let last: { version: string; text: string } | undefined;
  let isLocked = false;
  /** Whether the session was deleted last. */
  let isDeleted = false;

  /**
   * Returns the content of the file with its version; undefined if there is no file.
   */
  const readChanged = async () => {
    try {
      const stats = await stat(file);
      requireOwn(file, stats);
      const version = isLocked ? undefined : versionOf(stats);
      if (version && version === last?.version) return last;
      return { version, content: await readFile(file, "utf8") };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  /**
   * Returns the text in the file, decrypted. A check for a change takes a third of the
   * time of reading. Under the lock, the file is always read: network file systems
   * cache the attributes of a file for up to a minute, and a previous refresh token must
   * not be used.
   */
  const read = async (): Promise<string | undefined> => {
    const found = await readChanged();
    if (!found || "text" in found) return found?.text;
    const text = await content.decode(found.content);
    // If the file has been replaced since, its version differs at the next check.
    if (found.version) last = { version: found.version, text };
    return text;
  };

  return {
    async load() {
      const text = await read();
      // Parsed each time, as the session belongs to the caller, who may change it.
      return readSession(text, `file ${file}`);
    },
    async save(session, former) {
      const next = session &&
        await content.encode(JSON.stringify(session, undefined, 2) + "\n");
      const isSaved = await changeFile(file, next, async (stored) => {
        // Plain text must not replace what another program, or a previous version of this
        // one, has encrypted.
        if (next && !content.isEncrypted && stored && isEncrypted(stored)) {
          throw withoutKey(file);
        }
        return former === undefined ||
          isStill(former, stored && await content.decode(stored));
      });
      if (isSaved) isDeleted = !session;
      return isSaved;
    },
    lock(task, signal) {
      const cleanAndRun = async () => {
        await removeTemporary(file).catch(() => {});
        isLocked = true;
        try {
          return await task();
        } finally {
          isLocked = false;
        }
      };
      const directory = `${file}.lock`;
      return underLease(
        lockDirectoryLease(directory, () => isDeleted),
        cleanAndRun,
        signal,
        onWait && (async () => await onWait(await lockHolderOf(directory))),
      );
    },
  };
}
