/** The session files of a directory, by URL. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseHttpUrl } from "../core/_url.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { FileStoreKey } from "../native/file_content.ts";
import { isMissing } from "../native/_file_system.ts";
import { reaches } from "../fetch/policy/_covered_urls.ts";
import { Failure } from "./_failure.ts";
import { type KeptSession, readingStore } from "./_session_file.ts";

/** A session file; without a session if it is unreadable, such as without its key. */
export interface SessionFile {
  readonly path: string;
  readonly session?: KeptSession;
  readonly error?: Error;
}

/** A session with its URL and account. */
export interface FoundSession {
  readonly path: string;
  readonly url: string;
  readonly account?: string | undefined;
  readonly session: KeptSession;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    const names = await readdir(directory);
    return names.filter((name) => name.endsWith(".json")).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Returns the session files of a directory, by name. */
export async function sessionFilesIn(
  directory: string,
  key: FileStoreKey | undefined,
): Promise<SessionFile[]> {
  const files: SessionFile[] = [];
  for (const name of await namesIn(directory)) {
    const path = join(directory, name);
    try {
      const session = await readingStore(path, { key }).load();
      // Otherwise, another process has just deleted it.
      if (session) files.push({ path, session });
    } catch (error) {
      if (!isOAuthClientError(error) && !(error instanceof Failure)) {
        throw error;
      }
      files.push({ path, error });
    }
  }
  return files;
}

export function sessionsOf(files: readonly SessionFile[]): FoundSession[] {
  return files.flatMap(({ path, session }) => {
    if (!session) return [];
    const { url, account, resource } = session;
    // A user may have edited the file.
    const name = parseHttpUrl(url)?.href ?? resource;
    return [{ path, url: name, account, session }];
  });
}

/** Returns an account's session whose resource covers a URL, the longest first. */
export function sessionCovering(
  url: URL,
  account: string | undefined,
  sessions: readonly FoundSession[],
): FoundSession | undefined {
  return sessions
    .filter((one) =>
      one.account === account && reaches(one.session.resource, url)
    )
    .sort((a, b) => b.session.resource.length - a.session.resource.length)[0];
}

/** Counts the equal characters at the start of two texts. */
function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Returns any account's session on the same origin that is nearest to a URL. */
export function sessionNearest(
  url: URL,
  sessions: readonly FoundSession[],
): FoundSession | undefined {
  const near = (one: FoundSession) => commonLength(one.url, url.href);
  return sessions
    .filter((one) => parseHttpUrl(one.url)?.origin === url.origin)
    .sort((a, b) => near(b) - near(a))[0];
}
