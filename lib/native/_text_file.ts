/** Files of a command: secrets to read, and reports to write. */

import { open, readFile, unlink, writeFile } from "node:fs/promises";
import { hasCode } from "./_file_system.ts";

/** Omits the line break that editors and `echo` add. */
export async function readTextFile(path: string): Promise<string> {
  return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
}

export async function writeTextFile(path: string, text: string): Promise<void> {
  await writeFile(path, text);
}

/**
 * Fails unless a file can be written. Keeps an existing file, and leaves no new one.
 */
export async function requireWritable(path: string): Promise<void> {
  try {
    await (await open(path, "ax")).close();
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    return await (await open(path, "a")).close();
  }
  // Not `rm`, for which Deno requires permission to read. On Windows, a virus scanner
  // may have it open.
  await unlink(path).catch(() => {});
}
