/** Errors of the file system, directories, and files that another program has open. */

import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";

/** Checks the code of an error. */
export function hasCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown } | undefined)?.code === code;
}

/** Checks whether an error means that there is no such file. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}

/**
 * Creates a directory with the mode 0700, and those above it that are missing. The
 * option `recursive` does so too, but Deno then requires a permission for the one above.
 */
export async function makeDirectory(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: 0o700 });
  try {
    await make().catch(async (error) => {
      if (!isMissing(error) || dirname(path) === path) throw error;
      await makeDirectory(dirname(path));
      await make();
    });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

/**
 * The functions that Windows rejects for as long as a virus scanner, an indexer or a
 * second reader has the file open without permission to delete it: for a moment.
 */
export interface FileOperations {
  /** Renames a file, which replaces an existing one. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, or a directory. */
  rm(
    path: string,
    options?: { force?: boolean; recursive?: boolean },
  ): Promise<void>;
}

/** What the operations depend on, which tests replace. */
export interface FilePlatform extends FileOperations {
  readonly platform: string;
  delay(milliseconds: number): Promise<unknown>;
}

const BUSY = ["EPERM", "EACCES", "EBUSY"];

/** How long an operation is tried again, and the first of the delays, which double. */
const LIMIT_MS = 1_000;
const FIRST_DELAY_MS = 10;

/**
 * Returns operations that, on Windows, are tried again for a second if another program
 * has the file open. Elsewhere, the same errors mean a lack of permission, which stays.
 */
export function patientOperations(
  { platform, delay, ...files }: FilePlatform,
): FileOperations {
  if (platform !== "win32") return files;
  const patiently = async (operation: () => Promise<void>): Promise<void> => {
    let left = LIMIT_MS;
    for (let next = FIRST_DELAY_MS;; next *= 2) {
      try {
        return await operation();
      } catch (error) {
        if (left <= 0 || !BUSY.some((code) => hasCode(error, code))) {
          throw error;
        }
        const milliseconds = Math.min(next, left);
        left -= milliseconds;
        await delay(milliseconds);
      }
    }
  };
  return {
    rename: (from, to) => patiently(() => files.rename(from, to)),
    rm: (path, options) => patiently(() => files.rm(path, options)),
  };
}

/** The operations of this machine. */
export const files: FileOperations = patientOperations({
  platform: process.platform,
  delay: (milliseconds) =>
    new Promise((resolve) => setTimeout(resolve, milliseconds)),
  rename,
  rm,
});
