/** Files of a command: a secret that it is given, and a report that it writes. */

import { open, readFile, writeFile } from "node:fs/promises";

/** Reads a file as text, without the line break that editors and `echo` add at its end. */
export async function readTextFile(path: string): Promise<string> {
  return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
}

/** Writes a file of text, in place of one that is there. */
export async function writeTextFile(path: string, text: string): Promise<void> {
  await writeFile(path, text);
}

/** Fails unless a file can be written; what is in it stays, and a new one is empty. */
export async function requireWritable(path: string): Promise<void> {
  await (await open(path, "a")).close();
}
