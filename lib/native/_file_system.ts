/** Errors of the file system, and directories. */

import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

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
