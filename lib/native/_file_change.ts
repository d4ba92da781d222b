/**
 * A file that several processes replace or remove, without a lock.
 *
 * A process writes the new content into a temporary directory, removes all other
 * processes' directories, reads the file, and moves the content into its place. To
 * remove the file, it moves the file into the directory. So a process that was
 * suspended cannot undo later changes: its directory is gone, and it starts again. Of
 * two successful processes, the second has seen the first one's change. A lock would
 * expire during the suspension.
 */

import { open, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { files, hasCode, isMissing, makeDirectory } from "./_file_system.ts";

/** The end of a temporary directory's name, after the file's name. */
const TEMPORARY = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** The tries of a change while other processes change the file. */
const TRIES = 50;

/**
 * Checks whether an error means another user's file. On Windows, the same codes mean
 * that another program has it open.
 */
function isDenied(error: unknown): boolean {
  return process.platform !== "win32" &&
    (hasCode(error, "EACCES") || hasCode(error, "EPERM"));
}

/**
 * Removes all temporary directories except `own`: crashed processes left them, perhaps
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
        // For example, root's crashed process left it. The file can still be saved.
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
 * Replaces a file, or removes it if there is no content, atomically: a reader sees the
 * old or the new content.
 *
 * @param isWanted Returns whether to change the file, given its content: undefined for
 * a missing file, empty for an unreadable one.
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
      // Another process removed the directory, or moves the file into its own.
      const isRace = isMissing(error) || hasCode(error, "ENOTEMPTY");
      if (!isRace || tries === TRIES) throw error;
      const delayMs = Math.random() * Math.min(10 * tries, 100);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    } finally {
      // The first error is more useful: on a read-only disk, this fails too.
      await files.rm(temporary, { recursive: true, force: true })
        .catch(() => {});
    }
  }
}
