/** The file of a session: its name, and the members added to the session. */

import { hashBase64Url } from "../core/_base64.ts";
import { unusableFile } from "../native/file_content.ts";
import { fileStore, type FileStoreOptions } from "../native/file_store.ts";
import type { StoredSession } from "../session/session.ts";
import type { SessionStore } from "../session/store.ts";

/** The identity of a session: a resource and an account. */
export interface SessionName {
  readonly url: string;
  readonly account?: string | undefined;
}

/** A session as stored: `status` cannot derive the URL from the name of the file. */
export interface KeptSession extends StoredSession {
  url?: string;
  account?: string;
}

/** A store whose sessions contain their names. */
export interface KeptSessionStore extends SessionStore {
  load(): Promise<KeptSession | undefined>;
}

/** With the end of temporary files' names, below the limit of file systems. */
const LONGEST_NAME = 180;

/**
 * Encodes text for a file name: `/` as `+`, and characters that a file system may not
 * allow or distinguish, such as upper case, as bytes.
 */
function encode(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    if (/[a-z0-9.-]/.test(char)) return char;
    return char === "/" ? "+" : `_${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}

/**
 * Returns a name such as `api.example+mcp@work.json`. Only a long name contains a hash,
 * because its module takes Node longer to load than the rest of `token`.
 */
export async function fileNameOf({ url, account }: SessionName) {
  const name = encode(url.replace(/^https:\/\//, "")) +
    (account === undefined ? "" : `@${encode(account)}`);
  if (name.length <= LONGEST_NAME) return `${name}.json`;
  const hash = encode(await hashBase64Url(name));
  return `${name.slice(0, LONGEST_NAME - hash.length)}~${hash}.json`;
}

/** Returns the store in a file, for a named session. */
export function readingStore(
  path: string,
  { key, onWait }: FileStoreOptions,
): KeptSessionStore {
  const store = fileStore(path, { key, onWait });
  return { ...store, load: async () => await store.load() ?? undefined };
}

/**
 * Returns a session's store in a file, which keeps the name too. A file that was saved
 * under another name is not used: another program may have exchanged two encrypted
 * files, which look alike.
 */
export function sessionStore(
  path: string,
  { url, account }: SessionName,
  { key, onWait }: FileStoreOptions,
): KeptSessionStore {
  const store = readingStore(path, { key, onWait });
  return {
    ...store,
    async load() {
      const kept = await store.load();
      const isOwn = kept?.url === undefined ||
        (kept.url === url && kept.account === account);
      if (isOwn) return kept;
      throw unusableFile(
        path,
        "contains the session of another URL or account; rename it to keep it",
      );
    },
    save(session, former) {
      const kept: KeptSession | undefined = session && {
        ...session,
        url,
        ...(account !== undefined && { account }),
      };
      return store.save(kept, former);
    },
  };
}
