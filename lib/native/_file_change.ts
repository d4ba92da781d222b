/**
 * A file that several processes replace or remove, without a lock.
 *
 * A process writes the new content into a temporary directory, removes the directories of
 * all other processes, looks at the file, and moves the content into its place. To remove
 * the file, it moves the file into the directory instead. So a process that was suspended
 * after it has looked cannot undo what others have done since: its directory is gone, and
 * it starts again. Of two processes that succeed, the second one has looked at what the
 * first one did. A lock would expire during the suspension.
 */

import { open, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { files, hasCode, isMissing, makeDirectory } from "./_file_system.ts";

/** The end of the name of a temporary directory, after the name of the file. */
const TEMPORARY = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** How often a change is tried while other processes change the file. */
const TRIES = 50;

/**
 * Checks whether an error means that something belongs to another user. On Windows, the
 * same codes mean that another program has a file open.
 */
function isDenied(error: unknown): boolean {
  return process.platform !== "win32" &&
    (hasCode(error, "EACCES") || hasCode(error, "EPERM"));
}

/**
 * Removes all temporary directories but `own`: crashed processes have left them, perhaps
 * with a refresh token.
 */
export async function removeTemporary(
  path: string,
  own?: string,
): Promise<void> {
  const directory = dirname(path);
  const name = basename(path);
  for (const sibling of await readdir(directory)) {
    const temporary = join(directory, sibling);
    if (temporary === own || !sibling.startsWith(name)) continue;
    if (!TEMPORARY.test(sibling.slice(name.length))) continue;
    await files.rm(temporary, { recursive: true, force: true })
      .catch((error) => {
        // Such as of a crashed process of root: the file can be saved all the same.
        if (!isDenied(error)) throw error;
      });
  }
}

async function writeContent(path: string, content: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(content);
    // Otherwise, a power failure can leave an empty file with the new name.
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Replaces a file, or removes it if there is no content, atomically: a reader sees the old
 * content or the new content.
 *
 * @param isWanted Returns whether the file is to be changed, by its content: undefined if
 * there is no file, and empty if it cannot be read.
 */
export async function changeFile(
  path: string,
  content: string | undefined,
  isWanted: (stored: string | undefined) => Promise<boolean>,
): Promise<boolean> {
  for (let tries = 1;; tries++) {
    const temporary = `${path}.${crypto.randomUUID()}.tmp`;
    const moved = join(temporary, "session");
    try {
      await makeDirectory(temporary);
      if (content !== undefined) await writeContent(moved, content);
      await removeTemporary(path, temporary);
      const stored = await readFile(path, "utf8")
        .catch((error) => isMissing(error) ? undefined : "");
      if (!await isWanted(stored)) return false;
      if (content !== undefined) await files.rename(moved, path);
      else if (stored !== undefined) await files.rename(path, moved);
      return true;
    } catch (error) {
      // Another process has removed the directory, or moves the file into its own.
      const isRace = isMissing(error) || hasCode(error, "ENOTEMPTY");
      if (!isRace || tries === TRIES) throw error;
      const delayMs = Math.random() * Math.min(10 * tries, 100);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    } finally {
      // The first error is more useful: a disk that has become read-only fails here too.
      await files.rm(temporary, { recursive: true, force: true })
        .catch(() => {});
    }
  }
}
