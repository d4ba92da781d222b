/** Files of a command: a secret that it is given, and a report that it writes. */

import { open, readFile, unlink, writeFile } from "node:fs/promises";
import { hasCode } from "./_file_system.ts";

/** Reads a file as text, without the line break that editors and `echo` add at its end. */
export async function readTextFile(path: string): Promise<string> {
  return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
}

/** Writes a file of text, which replaces an existing one. */
export async function writeTextFile(path: string, text: string): Promise<void> {
  await writeFile(path, text);
}

/** Fails unless a file can be written. One that is there stays, and none is left. */
export async function requireWritable(path: string): Promise<void> {
  try {
    await (await open(path, "ax")).close();
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    return await (await open(path, "a")).close();
  }
  // Not `rm`, for which Deno requires a permission to read. On Windows, a virus scanner
  // may have it open.
  await unlink(path).catch(() => {});
}
