/** The command `status`: lists the sessions. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { printable, printableJson } from "../core/_quote.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { FileStoreKey } from "../native/_file_content.ts";
import { isMissing } from "../native/_file_system.ts";
import type { IArguments } from "./_arguments.ts";
import { ExitCode, Failure } from "./_failure.ts";
import type { IHost } from "./_host.ts";
import { directoryOf, keyOf } from "./_place.ts";
import { readingStore } from "./_session_file.ts";
import { type ISummary, summaryLines, summaryOf } from "./_summary.ts";

/** A file that could not be read, such as an encrypted one without its key. */
interface IUnreadable {
  readonly file: string;
  readonly error: string;
}

async function filesIn(directory: string): Promise<string[]> {
  try {
    const names = await readdir(directory);
    return names.filter((name) => name.endsWith(".json")).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function readSummary(
  file: string,
  key: FileStoreKey | undefined,
): Promise<ISummary | IUnreadable | undefined> {
  try {
    const session = await readingStore(file, key).load();
    // Another process has just deleted it.
    if (!session) return undefined;
    const { url = session.resource, account } = session;
    return summaryOf({ url, account, session });
  } catch (error) {
    if (!isOAuthClientError(error) && !(error instanceof Failure)) throw error;
    return { file, error: error.message };
  }
}

/** Lists the sessions: all, or those of `--account`. */
export async function run(given: IArguments, host: IHost): Promise<ExitCode> {
  const directory = await directoryOf(host);
  const key = keyOf(given);
  const found: (ISummary | IUnreadable)[] = [];
  for (const name of await filesIn(directory)) {
    const summary = await readSummary(join(directory, name), key);
    const isOther = given.account !== undefined && summary &&
      "url" in summary && summary.account !== given.account;
    if (summary && !isOther) found.push(summary);
  }
  if (given.json) host.print(printableJson(found));
  else if (found.length === 0) host.print("No sessions.");
  for (const one of given.json ? [] : found) {
    const lines = "url" in one
      ? summaryLines(one)
      : [one.file, `  ${printable(one.error)}`];
    for (const line of lines) host.print(line);
  }
  return ExitCode.Done;
}
