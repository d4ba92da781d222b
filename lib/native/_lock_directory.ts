/**
 * A lock by numbered files in a directory.
 *
 * The creator of the file with the highest number holds the lock, while it keeps
 * changing the file's time and is not known to have died. A process acquires a free or
 * stale lock by creating the next file, which succeeds for only one process. So
 * breaking a lock removes no file, and no process can remove another's lock. To release
 * the lock, the holder sets the file's time to 1983, or removes the directory, after a
 * sign-out. Numbers then restart: so a process checks the previous file again, by its
 * content, after it has created its own.
 */

import {
  link,
  lstat,
  readdir,
  readFile,
  rmdir,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { OAuthClientError } from "../core/errors.ts";
import { createCrashCheck, type Lease } from "../stores/_lease.ts";
import { files, hasCode, isMissing, makeDirectory } from "./_file_system.ts";
import {
  areApart,
  hasHolderDied,
  type LockHolder,
  readHolder,
  thisProcess,
} from "./_lock_holder.ts";

/**
 * Marks a file as released. A clock that was never set starts in 1970, 1980 or 2000,
 * and some file systems start in 1980.
 */
const RELEASED_YEAR = 1983;

/** In ascending order. */
function numbersOf(names: readonly string[]): number[] {
  // Adding 1 might not change longer, inexact numbers.
  return names.filter((name) => /^[1-9]\d{0,14}$/.test(name)).map(Number)
    .sort((a, b) => a - b);
}

/** Returns undefined for a missing file. */
async function timeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Sets a file's time to the middle of the marking year. */
async function markReleased(path: string): Promise<void> {
  const time = new Date(Date.UTC(RELEASED_YEAR, 6));
  await utimes(path, time, time);
}

function isReleased(time: number): boolean {
  return new Date(time).getUTCFullYear() === RELEASED_YEAR;
}

/**
 * Returns the lock's holder if its file names it, and this process may see the same
 * pids.
 */
export async function lockHolderOf(
  directory: string,
): Promise<number | undefined> {
  try {
    const path = join(
      directory,
      String(numbersOf(await readdir(directory)).at(-1)),
    );
    const time = await timeOf(path);
    if (time === undefined || isReleased(time)) return undefined;
    const holder = await readHolder(path);
    if (!holder || areApart(holder, await thisProcess())) return undefined;
    return holder.pid;
  } catch {
    return undefined; // The directory is missing or unreadable.
  }
}

/** A symbolic link could point to another program's files. */
async function requireDirectory(directory: string): Promise<void> {
  if ((await lstat(directory)).isSymbolicLink()) {
    const message =
      `Lock directory ${directory} is a symbolic link, which is ` +
      "not used; remove it";
    throw new OAuthClientError("invalid_argument", message);
  }
}

/** Names of files before they get their number. */
const TEMPORARY = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/**
 * Returns whether the file was created. With hard links, it contains its content from
 * the start: an empty file would not show which process died.
 */
async function createFile(path: string, content: string): Promise<boolean> {
  const temporary = join(dirname(path), `${crypto.randomUUID()}.tmp`);
  const options = { flag: "wx", mode: 0o600 };
  try {
    await writeFile(temporary, content, options);
    // Another process, with the lock, may have removed the temporary file.
    await link(temporary, path).catch(async (error) => {
      if (hasCode(error, "EEXIST")) throw error;
      await writeFile(path, content, options);
    });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await files.rm(temporary, { force: true }).catch(() => {});
  }
}

/**
 * Returns a lease by files in this directory, which is created.
 *
 * @param isUnneeded Whether to remove the directory when the lock is released.
 */
export function lockDirectoryLease(
  directory: string,
  isUnneeded: () => boolean = () => false,
): Lease {
  const pathOf = (number: number) => join(directory, String(number));
  const hasCrashed = createCrashCheck();
  const id = crypto.randomUUID();
  /** This lease's file, until another process holds the lock. */
  let held: string | undefined;
  let content = "";
  let self: Promise<LockHolder> | undefined;

  /** Checks whether the process that created a file holds the lock. */
  const isHeld = async (number: number): Promise<boolean> => {
    const path = pathOf(number);
    const time = await timeOf(path);
    // Another process has acquired the lock, and removed this file.
    if (time === undefined) return true;
    if (isReleased(time) || hasCrashed(`${number} ${time}`)) return false;
    return !await hasHolderDied(path, await (self ??= thisProcess()));
  };

  /** Creates the next file; returns whether that is the lock. */
  const create = async (last: number, path: string): Promise<boolean> => {
    content = JSON.stringify({ ...await (self ??= thisProcess()), id });
    if (!await createFile(path, content)) return false;
    held = path;
    const numbers = numbersOf(await readdir(directory));
    // If this process was slow, others may have created and removed the same number
    // before. Then a higher number exists, and the previous file is gone, because files
    // are removed in ascending order, or belongs to a new directory. Both are checked,
    // because a changing directory's listing may be incomplete.
    const isFirst = last === 0 || !await isHeld(last);
    if (isFirst && numbers.at(-1) === last + 1) return true;
    await files.rm(path, { force: true });
    held = undefined;
    return false;
  };

  const acquireIn = async (): Promise<boolean> => {
    const names = await readdir(directory);
    const numbers = numbersOf(names);
    const last = numbers.at(-1) ?? 0;
    if (last > 0 && await isHeld(last)) return false;
    if (!await create(last, pathOf(last + 1))) return false;
    try {
      const unused = names.filter((name) => TEMPORARY.test(name));
      for (const name of [...numbers.map(String), ...unused]) {
        await files.rm(join(directory, name), { force: true });
      }
    } catch {
      // The lock is held anyway. The next holder tries again.
    }
    return true;
  };

  const isOwn = async (path: string): Promise<boolean> =>
    await readFile(path, "utf8").catch(() => "") === content;

  return {
    async acquire() {
      await makeDirectory(directory);
      try {
        await requireDirectory(directory);
        return await acquireIn();
      } catch (error) {
        // Another process has removed the directory.
        if (isMissing(error)) return false;
        throw error;
      }
    },
    async extend() {
      if (held && await isOwn(held)) await utimes(held, new Date(), new Date());
    },
    async release() {
      if (!held || !await isOwn(held)) return;
      if (!isUnneeded()) return await markReleased(held);
      await files.rm(held, { force: true });
      // It stays if another process is about to acquire the lock.
      await rmdir(directory).catch(() => {});
    },
  };
}
