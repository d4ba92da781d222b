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
 * If a file was changed longer ago, the next change also changes its time. Some file
 * systems store times in units of two seconds, and Deno rounds the time of a status
 * change to seconds.
 */
const SETTLED_MS = 3_000;

/**
 * Returns a version that differs after each change: renaming changes the inode number,
 * which may be used again, and writing changes the time of status change, which no
 * program can set. Returns undefined if the file may change again without a new
 * version.
 */
function versionOf(
  { dev, ino, size, mtimeMs, ctimeMs }: Stats,
): string | undefined {
  const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > SETTLED_MS;
  return isSettled ? [dev, ino, size, mtimeMs, ctimeMs].join() : undefined;
}

/**
 * Fails if other users may write a file: they could have replaced the session, and the
 * endpoint that receives the refresh token. Windows has no such modes.
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
   * returns it or a promise. The function is called when the store first saves or reads
   * an encrypted session, and again after a failure.
   *
   * Do not keep the key next to the file. Keep it in the system's keychain, with
   * {@linkcode keychainKey}.
   *
   * @default {The session is stored as plain text}
   */
  key?: FileStoreKey | undefined;
  /**
   * Called once when another process has held the lock for a second, for example while
   * its user signs in. The argument is that process's identifier, if known. Its own
   * errors are ignored.
   */
  onWait?: ((pid?: number) => unknown) | undefined;
}

/**
 * Creates a store in a file on the user's machine, in Deno, Node and Bun.
 *
 * The file's mode is 0600. A lock next to it lets one process at a time sign in or
 * refresh; abort a call's signal at an interrupt to release it. See `docs/stores.md` in
 * the package for the rules of the file and its lock, and the permissions in Deno.
 *
 * @param path Path of the file, or its `file:` URL; one for each user and resource.
 * @throws {OAuthClientError} `invalid_argument`: the path or the key has the wrong
 * type.
 * @see RFC 8252, section 8.
 * @example Stay signed in between two runs of a program
 * ```ts
 * import { fileStore } from "@oauth-helper/client/native";
 *
 * export const store = fileStore(".session.json");
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
  let isDeleted = false;

  /** Returns undefined for a missing file. */
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
   * Returns the decrypted text. Checking for a change takes a third of the time. Under
   * the lock, the file is always read: network file systems cache attributes for up to
   * a minute, and a previous refresh token must not be used.
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
      // Parsed each time, because the caller may change the session.
      return readSession(text, `file ${file}`);
    },
    async save(session, former) {
      const next = session &&
        await content.encode(JSON.stringify(session, undefined, 2) + "\n");
      const isSaved = await changeFile(file, next, async (stored) => {
        // Plain text must not replace an encrypted session from another program.
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
