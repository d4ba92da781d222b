/**
 * A lock by files in a directory of its own.
 *
 * The files are named 1, 2, 3 and so on. The process that created the file with the
 * highest number holds the lock, while it keeps changing the time of the file and is
 * not known to have died. A process acquires a lock that is free or stale when it
 * creates the file with the next number, which succeeds for only one process. So no
 * file is removed to break a lock, and no process can remove the lock of another one.
 * To release the lock, the holder sets the time of the file to 1983, or removes the
 * directory with it, after a sign-out. Numbers then start again: so a process looks at
 * the previous file again after it has created its own, and knows that by its content.
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
 * The year that marks a file as released. A clock that was never set starts in 1970,
 * 1980 or 2000, and some file systems start in 1980.
 */
const RELEASED_YEAR = 1983;

/** Returns the numbers of files, in ascending order. */
function numbersOf(names: readonly string[]): number[] {
  // Longer numbers are not exact, so adding 1 might not change them.
  return names.filter((name) => /^[1-9]\d{0,14}$/.test(name)).map(Number)
    .sort((a, b) => a - b);
}

/** Returns the time of a file; undefined if there is no file. */
async function timeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Sets the time of a file to the middle of the year that marks it as released. */
async function markReleased(path: string): Promise<void> {
  const time = new Date(Date.UTC(RELEASED_YEAR, 6));
  await utimes(path, time, time);
}

/** Checks whether the time of a file marks it as released. */
function isReleased(time: number): boolean {
  return new Date(time).getUTCFullYear() === RELEASED_YEAR;
}

/**
 * Returns the process that holds the lock, if there is one, its file contains it, and
 * this process may see the same pids.
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
    return undefined; // There is no directory, or no permission to read it.
  }
}

/** Fails for a symbolic link, which could lead to files of another program. */
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
 * Creates a file unless it exists; returns whether it was created. With hard links, the
 * file has its content from the start: the empty file of a process that was killed
 * before it wrote would not show which process has died.
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
 * @param isUnneeded Whether the directory is removed when the lock is released.
 */
export function lockDirectoryLease(
  directory: string,
  isUnneeded: () => boolean = () => false,
): Lease {
  const pathOf = (number: number) => join(directory, String(number));
  const hasCrashed = createCrashCheck();
  const id = crypto.randomUUID();
  /** The file that this lease has created, until another process holds the lock. */
  let held: string | undefined;
  let content = "";
  let self: Promise<LockHolder> | undefined;

  /** Checks whether the process that created a file holds the lock. */
  const isHeld = async (number: number): Promise<boolean> => {
    const path = pathOf(number);
    const time = await timeOf(path);
    // Another process has acquired the lock, and has removed this file.
    if (time === undefined) return true;
    if (isReleased(time) || hasCrashed(`${number} ${time}`)) return false;
    return !await hasHolderDied(path, await (self ??= thisProcess()));
  };

  /** Creates the file with the next number; returns whether that is the lock. */
  const create = async (last: number, path: string): Promise<boolean> => {
    content = JSON.stringify({ ...await (self ??= thisProcess()), id });
    if (!await createFile(path, content)) return false;
    held = path;
    const numbers = numbersOf(await readdir(directory));
    // If this process was slow, others may have created and removed the same number
    // before. Then there is a higher number, and the previous file has been removed, as
    // files are removed in ascending order, or belongs to a new directory. Both are
    // checked, as the listing of a directory that changes may be incomplete.
    const isFirst = last === 0 || !await isHeld(last);
    if (isFirst && numbers.at(-1) === last + 1) return true;
    await files.rm(path, { force: true });
    held = undefined;
    return false;
  };

  /** Acquires the lock in the directory, which exists; returns whether it did. */
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
      // The lock is held all the same. The next holder tries again.
    }
    return true;
  };

  /** Checks whether the file is the one that this lease has created. */
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
