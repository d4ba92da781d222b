/**
 * A store in a file.
 *
 * @module
 */

import {
  lstat,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { requireArgument, requireObject } from "../core/_arguments.ts";
import type { ISessionStore } from "../session/store.ts";
import { underLease } from "../stores/_lease.ts";
import { readSession } from "../stores/_stored_session.ts";
import { isMissing, makeDirectory } from "./_file_system.ts";
import {
  fileContent,
  type FileStoreKey,
  isEncrypted,
  withoutKey,
} from "./_file_content.ts";
import { lockDirectoryLease, lockHolderOf } from "./_lock_directory.ts";

/** After this time, a process that has not renamed its temporary file has crashed. */
const TEMPORARY_MS = 60_000;

/**
 * A file that was changed longer ago has another time after the next change: some
 * file systems keep two seconds, and Deno gives the time of a status change in
 * seconds.
 */
const SETTLED_MS = 3_000;

/** What the name of a temporary file has after the name of the file it replaces. */
const TEMPORARY = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** Removes temporary files of crashed processes, as they may have a refresh token. */
async function removeTemporaryFiles(path: string): Promise<void> {
  const directory = dirname(path);
  const name = basename(path);
  for (const sibling of await readdir(directory)) {
    if (!sibling.startsWith(name)) continue;
    if (!TEMPORARY.test(sibling.slice(name.length))) continue;
    const temporary = join(directory, sibling);
    const { mtimeMs } = await lstat(temporary);
    if (Date.now() - mtimeMs > TEMPORARY_MS) await rm(temporary);
  }
}

/** Writes a file as a whole: a reader sees the old content or the new one. */
async function replaceFile(path: string, content: string): Promise<void> {
  await makeDirectory(dirname(path));
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(content);
      // Otherwise a loss of power can leave the new name with no content.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // The first failure says more: a disk that has become read-only fails here too.
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Returns what is different after each change: a file that is renamed into place has
 * a number of its own, though a former one may be used again, and one that is written
 * to has a time of status change, which no program can set. Returns undefined if the
 * file may change again without a difference.
 */
async function versionOf(path: string): Promise<string | undefined> {
  const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
  const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > SETTLED_MS;
  return isSettled ? [dev, ino, size, mtimeMs, ctimeMs].join() : undefined;
}

/** Options of {@linkcode fileStore}. */
export interface IFileStoreOptions {
  /**
   * Encrypts the session with AES-256-GCM: 32 bytes, or a function that returns them,
   * also as a promise. The function is called when the store first saves a session, or
   * reads an encrypted one, and again after it has failed or the key was another one.
   *
   * Keep the key where the file is not: in the keychain of the platform, as in the
   * examples of the module `./native`.
   *
   * @default {The session is stored as plain text}
   */
  key?: FileStoreKey | undefined;
}

/**
 * Creates a store in a file of the user's machine, in Deno, Node and Bun.
 *
 * The file has the mode 0600, and a directory that has to be created has 0700. The
 * content is written to a file beside it, which is then renamed; so the file is
 * never half-written. If the process is killed in between, the next holder of the
 * lock removes that file, a minute later at the earliest. With `key` the content is
 * encrypted, with a new IV each time. `load` reads it again after a change only, and
 * under the lock.
 *
 * The lock is a file in a directory beside it, whose name has `.lock` at its end. It
 * names the process that holds it, for `lockHolder` and the event `waiting`. A program
 * releases it when it ends a call by a signal, which an interrupt should abort; if it
 * is killed, others break the lock: at once on Linux, if they see that the process has
 * ended (the same user and the same namespaces; Deno permits that with `--allow-all`
 * only), else after a lease. The time of the file is set every 2.5 seconds while the
 * lock is held, and it is stale when another process has waited for 10 seconds and the
 * time has not changed; the clocks of the machines do not matter. Those who wait look
 * again within a quarter of a second. One process only can break a lock. A process that
 * is suspended alone for longer than that loses the lock.
 *
 * In Deno it needs `--allow-read` and `--allow-write` for the directory of the file,
 * and for those above it that have to be created.
 *
 * `load` rejects with an `OAuthClientError` with the code `invalid_session` if the
 * content is not a session; with `key` also if it is plain text, encrypted with another
 * key, or damaged; without `key` if it is encrypted, and then `save` does as well. The
 * message says which, and the file is left as it is. `lock` rejects with the code
 * `invalid_argument` if the directory of the lock is a symbolic link. Errors of the
 * file system, and those of the function `key`, are rejected with unchanged.
 *
 * @param path Path of the file, or its `file:` URL; one for each user and resource. A
 * relative path is resolved when the store is created.
 * @throws {OAuthClientError} `invalid_argument`: the path or the key has the wrong
 * type; `load` and `save` reject with it if the function `key` returns no key.
 * @see RFC 8252, section 8.
 *
 * @example Stay signed in between two runs of a program
 * ```ts
 * import { homedir } from "node:os";
 * import { join } from "node:path";
 * import { type Authorize, createAuthorizedFetch } from "@oauth-helper/client";
 * import { fileStore } from "@oauth-helper/client/native";
 *
 * export function createApi(authorize: Authorize) {
 *   const path = join(homedir(), ".config", "my-program", "session.json");
 *   return createAuthorizedFetch("https://api.example/mcp", {
 *     authorize,
 *     store: fileStore(path),
 *   });
 * }
 * ```
 */
export function fileStore(
  path: string | URL,
  options?: IFileStoreOptions,
): ISessionStore {
  const isFileUrl = path instanceof URL && path.protocol === "file:";
  const given = isFileUrl ? fileURLToPath(path) : path;
  requireArgument(
    typeof given === "string" && given !== "",
    "path",
    "a non-empty string or a file: URL",
  );
  // The working directory may change between two calls.
  const file = resolve(given);
  const { key } = requireObject("options", options ?? {});
  const content = fileContent(file, key);
  let last: { version: string; text: string } | undefined;
  let isLocked = false;

  /** Returns what the file has, with its version; undefined if there is no file. */
  const readChanged = async () => {
    try {
      const version = isLocked ? undefined : await versionOf(file);
      if (version && version === last?.version) return last;
      return { version, content: await readFile(file, "utf8") };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  /**
   * Returns the text in the file, decrypted. To look for a change takes a third of the
   * time of reading. Under the lock it is always read: network file systems keep what
   * they know of a file for up to a minute, and a former refresh token must not be used.
   */
  const read = async (): Promise<string | undefined> => {
    const found = await readChanged();
    if (!found || "text" in found) return found?.text;
    const text = await content.decode(found.content);
    // If it has been replaced since, it has another version at the next look.
    if (found.version) last = { version: found.version, text };
    return text;
  };

  const write = async (text: string): Promise<void> => {
    // Plain text must not replace what another program, or a former version of this
    // one, has encrypted.
    const former = content.isEncrypted
      ? ""
      : await readFile(file, "utf8").catch(() => "");
    if (isEncrypted(former)) throw withoutKey(file);
    await replaceFile(file, await content.encode(text));
  };

  return {
    async load() {
      const text = await read();
      // Parsed each time, as the session belongs to the caller, who may change it.
      return readSession(text, `file ${file}`);
    },
    save: async (session) =>
      session
        ? await write(JSON.stringify(session, undefined, 2) + "\n")
        : await rm(file, { force: true }),
    lock(task, signal) {
      const cleanAndRun = async () => {
        // Another process may save without the lock, and rename its file meanwhile.
        await removeTemporaryFiles(file).catch(() => {});
        isLocked = true;
        try {
          return await task();
        } finally {
          isLocked = false;
        }
      };
      const lease = lockDirectoryLease(`${file}.lock`);
      return underLease(lease, cleanAndRun, signal);
    },
    lockHolder: () => lockHolderOf(`${file}.lock`),
  };
}
