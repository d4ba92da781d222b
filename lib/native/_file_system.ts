import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";

export function hasCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown } | undefined)?.code === code;
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}

/**
 * Creates a directory with mode 0700, and missing parents. For the option `recursive`,
 * Deno would require a permission for the parent.
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
 * Functions that Windows rejects for a moment while a virus scanner, an indexer or
 * another reader has the file open.
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

/** The environment of the operations, which tests replace. */
export interface FilePlatform extends FileOperations {
  readonly platform: string;
  delay(milliseconds: number): Promise<unknown>;
}

const BUSY = ["EPERM", "EACCES", "EBUSY"];

/** How long to try an operation again, and the first delay, which doubles. */
const LIMIT_MS = 1_000;
const FIRST_DELAY_MS = 10;

/**
 * Returns operations that Windows tries again for a second if another program has the
 * file open. On other systems, the same errors mean a permanent lack of permission.
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

export const files: FileOperations = patientOperations({
  platform: process.platform,
  delay: (milliseconds) =>
    new Promise((resolve) => setTimeout(resolve, milliseconds)),
  rename,
  rm,
});
