/** The file of a session: its name, and what it has beside the session. */

import { hashBase64Url } from "../core/_base64.ts";
import type { FileStoreKey } from "../native/_file_content.ts";
import { fileStore } from "../native/file_store.ts";
import type { ISession } from "../session/session.ts";
import type { ISessionStore } from "../session/store.ts";

/** What a session is kept for. */
export interface ISessionName {
  /** The URL that the user has given. */
  readonly url: string;
  /** The account, if the user has named one. */
  readonly account?: string | undefined;
}

/** A session as it is kept: `status` could not tell the URL from the name of the file. */
export interface IKeptSession extends ISession {
  url?: string;
  account?: string;
}

/** A store that says of a session what it was kept for. */
export interface IKeptSessionStore extends ISessionStore {
  load(): Promise<IKeptSession | undefined>;
}

const READABLE_CHARACTERS = 60;

/**
 * Returns the name of a file. The readable part helps a person; the hash alone makes it
 * unique, also where the file system ignores case, and is not longer than a name may be.
 */
export async function fileNameOf({ url, account = "" }: ISessionName) {
  const readable = `${url.replace(/^https?:\/\//, "")} ${account}`
    .toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^[.-]+/, "")
    .slice(0, READABLE_CHARACTERS).replace(/[.-]+$/, "");
  const hash = await hashBase64Url(JSON.stringify([url, account]));
  const unique = hash.toLowerCase().replace(/[-_]/g, "").slice(0, 32);
  return `${readable}-${unique}.json`;
}

/** Returns the store in a file, for a session that has been kept for something. */
export function readingStore(
  path: string,
  key?: FileStoreKey,
): IKeptSessionStore {
  const store = fileStore(path, { key });
  return { ...store, load: async () => await store.load() ?? undefined };
}

/** Returns the store of a session in a file; it keeps the name as well. */
export function sessionStore(
  path: string,
  { url, account }: ISessionName,
  key?: FileStoreKey,
): IKeptSessionStore {
  const store = readingStore(path, key);
  return {
    ...store,
    save(session) {
      const kept: IKeptSession | undefined = session && {
        ...session,
        url,
        ...(account !== undefined && { account }),
      };
      return store.save(kept);
    },
  };
}
