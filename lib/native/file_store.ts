/**
 * A store in a file.
 *
 * @module
 */

import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { requireArgument } from "../core/_arguments.ts";
import type { ISessionStore } from "../session/store.ts";
import { underLease } from "../stores/_lease.ts";
import { readSession } from "../stores/_stored_session.ts";
import { isMissing, lockDirectoryLease } from "./_lock_directory.ts";

/** Writes a file as a whole: a reader sees the old content or the new one. */
async function replaceFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
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
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Creates a store in a file of the user's machine, in Deno, Node and Bun.
 *
 * The file has the mode 0600, and a directory that has to be created has 0700. The
 * content is written to a file beside it, which is then renamed; so the file is
 * never half-written. The content is not encrypted.
 *
 * The lock is a file in a directory beside it, whose name has `.lock` at its end. Its
 * time is set every 2.5 seconds while it is held, and it is stale after 10 seconds.
 * So a process that crashes with the lock delays the others by 10 seconds at most,
 * and by up to a quarter of a second until they look again. One process only can
 * break a stale lock. A process that is suspended for longer than that loses the
 * lock. On a network file system, the clocks of the machines must agree.
 *
 * In Deno it needs `--allow-read` and `--allow-write` for the directory.
 *
 * `load` rejects with an `OAuthClientError` with the code `invalid_session` if the
 * content is not a session. It is left as it is. Errors of the file system are
 * rejected with unchanged.
 *
 * @param path Path of the file, or its `file:` URL; one for each user and resource.
 * @throws {OAuthClientError} `invalid_argument`: the path has the wrong type.
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
export function fileStore(path: string | URL): ISessionStore {
  const isFileUrl = path instanceof URL && path.protocol === "file:";
  const file = isFileUrl ? fileURLToPath(path) : path;
  requireArgument(
    typeof file === "string" && file !== "",
    "path",
    "a non-empty string or a file: URL",
  );
  return {
    async load() {
      let content: string | undefined;
      try {
        content = await readFile(file, "utf8");
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      return readSession(content, `file ${file}`);
    },
    save: async (session) =>
      session
        ? await replaceFile(file, JSON.stringify(session, undefined, 2) + "\n")
        : await rm(file, { force: true }),
    lock: (task) => underLease(lockDirectoryLease(`${file}.lock`), task),
  };
}
