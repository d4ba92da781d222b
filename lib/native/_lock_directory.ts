/**
 * A lock by files in a directory of its own.
 *
 * The files are named 1, 2, 3 and so on. The holder of the lock is the process that
 * created the file with the highest number, as long as its time is recent. To
 * acquire a lock that is free or stale is to create the file with the next number,
 * which succeeds for one process only. So nothing is ever removed to break a lock,
 * and there is no moment at which a process could remove the lock of another one. To
 * release is to set the time of the file to 1970. The file with the highest number is
 * never removed, as numbers would then start again.
 */

import { mkdir, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { type ILease, LEASE_MS } from "../stores/_lease.ts";

function hasCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown } | undefined)?.code === code;
}

/** Checks whether an error means that there is no such file. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}

/** Returns the numbers in the directory, in ascending order. */
async function numbersIn(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number)
    .sort((a, b) => a - b);
}

/** Checks whether the file of a holder has a recent time. */
async function isHeld(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    // A time in the future is from before the clock was set back.
    return Math.abs(Date.now() - mtimeMs) < LEASE_MS;
  } catch (error) {
    // Another process acquired the lock meanwhile, and removed this file.
    if (isMissing(error)) return true;
    throw error;
  }
}

/** Returns a lease by files in this directory, which is created. */
export function lockDirectoryLease(directory: string): ILease {
  const pathOf = (number: number) => join(directory, String(number));
  let held = "";

  /** Creates the file with the next number; returns whether that is the lock. */
  const create = async (last: number, path: string): Promise<boolean> => {
    try {
      // For a person who wonders which process holds the lock. Deno would require
      // a permission for the name of the host.
      const owner = JSON.stringify({ pid: process.pid });
      await writeFile(path, owner, { flag: "wx", mode: 0o600 });
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    }
    const numbers = await numbersIn(directory);
    // If this process was slow, others may have created and removed the same number
    // before. Then there is a higher one, and the last one has been removed, as
    // files are removed in ascending order. Both are checked, as a directory that
    // changes meanwhile may be listed incompletely.
    const isFirst = last === 0 || numbers.includes(last);
    if (isFirst && numbers.at(-1) === last + 1) return true;
    await rm(path, { force: true });
    return false;
  };

  return {
    async acquire() {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const numbers = await numbersIn(directory);
      const last = numbers.at(-1) ?? 0;
      if (last > 0 && await isHeld(pathOf(last))) return false;
      const path = pathOf(last + 1);
      if (!await create(last, path)) return false;
      held = path;
      for (const number of numbers) await rm(pathOf(number), { force: true });
      return true;
    },
    extend: () => utimes(held, new Date(), new Date()),
    release: () => utimes(held, 0, 0),
  };
}
