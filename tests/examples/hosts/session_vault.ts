import type { SessionStore, StoredSession } from "@oauth-helper/client";
import type { Pool } from "pg";
import { sqlRow } from "../sql_store.ts";

/**
 * Keeps the sessions of many users at many servers in PostgreSQL, encrypted: a row of
 * the table of sql_store.ts and a lock for each. `key` is a key for AES-GCM from a place
 * that the database does not have.
 */
export function createVault(sql: Pool, key: CryptoKey) {
  return (user: string, server: string): SessionStore => {
    const id = JSON.stringify([user, server]);
    // A row that someone has moved to another user or server cannot be opened.
    const additionalData = new TextEncoder().encode(id);
    const seal = async (session: StoredSession): Promise<string> => {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const bytes = new TextEncoder().encode(JSON.stringify(session));
      const algorithm = { name: "AES-GCM", iv, additionalData };
      const sealed = await crypto.subtle.encrypt(algorithm, key, bytes);
      return btoa(String.fromCharCode(...iv, ...new Uint8Array(sealed)));
    };
    const open = async (text: string): Promise<StoredSession> => {
      const sealed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
      const [iv, bytes] = [sealed.slice(0, 12), sealed.slice(12)];
      const algorithm = { name: "AES-GCM", iv, additionalData };
      const opened = await crypto.subtle.decrypt(algorithm, key, bytes);
      return JSON.parse(new TextDecoder().decode(opened));
    };
    const { read, write, lock } = sqlRow(sql, id);
    return {
      async load() {
        const sealed = await read();
        return sealed === null ? null : await open(sealed);
      },
      async save(session, former) {
        const text = session ? await seal(session) : null;
        if (former === undefined) return await write(text);
        // A session that is encrypted again is another text: so this one is compared.
        const sealed = await read();
        const stored = sealed && await open(sealed);
        return JSON.stringify(stored) === JSON.stringify(former) &&
          await write(text, sealed);
      },
      lock,
    };
  };
}
