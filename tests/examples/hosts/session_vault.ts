import type { ISession, ISessionStore } from "@oauth-helper/client";
import type { Pool } from "pg";
import { sqlStore } from "../sql_store.ts";

// CREATE TABLE vault (
//   user_id text NOT NULL,
//   server text NOT NULL,
//   sealed bytea NOT NULL,
//   saved_at timestamptz NOT NULL DEFAULT now(),
//   PRIMARY KEY (user_id, server)
// );

/**
 * Keeps the sessions of many users at many servers in PostgreSQL, encrypted: a row and a
 * lock for each. `key` is a key for AES-GCM from a place that the database does not have;
 * `locks` has its own connections, because each lock takes one.
 */
export function createVault(sql: Pool, locks: Pool, key: CryptoKey) {
  return (user: string, server: string): ISessionStore => {
    const id = JSON.stringify([user, server]);
    // A row that someone has moved to another user or server cannot be opened.
    const additionalData = new TextEncoder().encode(id);
    const seal = async (session: ISession) => {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const bytes = new TextEncoder().encode(JSON.stringify(session));
      const algorithm = { name: "AES-GCM", iv, additionalData };
      const sealed = await crypto.subtle.encrypt(algorithm, key, bytes);
      return Uint8Array.from([...iv, ...new Uint8Array(sealed)]);
    };
    const open = async (sealed: Uint8Array): Promise<ISession> => {
      const [iv, bytes] = [sealed.slice(0, 12), sealed.slice(12)];
      const algorithm = { name: "AES-GCM", iv, additionalData };
      const opened = await crypto.subtle.decrypt(algorithm, key, bytes);
      return JSON.parse(new TextDecoder().decode(opened));
    };
    return {
      ...sqlStore(sql, locks, id),
      async load() {
        const query =
          "SELECT sealed FROM vault WHERE user_id = $1 AND server = $2";
        const { rows: [row] } = await sql.query(query, [user, server]);
        return row && await open(row.sealed);
      },
      async save(session) {
        if (!session) {
          const query = "DELETE FROM vault WHERE user_id = $1 AND server = $2";
          return void await sql.query(query, [user, server]);
        }
        const query = `INSERT INTO vault (user_id, server, sealed)
          VALUES ($1, $2, $3)
          ON CONFLICT (user_id, server)
          DO UPDATE SET sealed = $3, saved_at = now()`;
        await sql.query(query, [user, server, await seal(session)]);
      },
    };
  };
}
