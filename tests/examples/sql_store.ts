import type { ISessionStore } from "@oauth-helper/client";
import type { Pool } from "pg";

// CREATE TABLE sessions (
//   id text PRIMARY KEY,
//   session text NOT NULL,
//   saved_at timestamptz NOT NULL DEFAULT now()
// );
// For users who do not return, once a day:
// DELETE FROM sessions WHERE saved_at < now() - interval '30 days';

/**
 * Keeps a session in PostgreSQL. `locks` has its own connections, because each lock takes
 * one while `sql` loads and saves. The server releases the lock of a process that ends.
 * Call `on("error", …)` for both pools: otherwise a lost connection ends the process.
 */
export function sqlStore(sql: Pool, locks: Pool, id: string): ISessionStore {
  return {
    async load() {
      const query = "SELECT session FROM sessions WHERE id = $1";
      const { rows: [row] } = await sql.query(query, [id]);
      return row && JSON.parse(row.session);
    },
    async save(session, former) {
      const text = session && JSON.stringify(session);
      if (former === undefined) {
        const query = text
          ? `INSERT INTO sessions (id, session) VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET session = $2, saved_at = now()`
          : "DELETE FROM sessions WHERE id = $1";
        await sql.query(query, text ? [id, text] : [id]);
        return;
      }
      if (former === null) {
        const query = text
          ? `INSERT INTO sessions (id, session) VALUES ($1, $2)
            ON CONFLICT (id) DO NOTHING`
          : "SELECT FROM sessions WHERE id = $1";
        const { rowCount } = await sql.query(query, text ? [id, text] : [id]);
        return rowCount === (text ? 1 : 0);
      }
      // Only if no other process has changed the row since.
      const query = text
        ? `UPDATE sessions SET session = $3, saved_at = now()
          WHERE id = $1 AND session = $2`
        : "DELETE FROM sessions WHERE id = $1 AND session = $2";
      const values = [id, JSON.stringify(former), ...text ? [text] : []];
      return (await sql.query(query, values)).rowCount === 1;
    },
    async lock<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const client = await locks.connect();
      // The connection may be lost while the task runs, which goes on.
      const ignore = () => {};
      client.on("error", ignore);
      const query =
        "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS held";
      try {
        await client.query("BEGIN");
        while (!(await client.query(query, [id])).rows[0].held) {
          signal?.throwIfAborted();
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        signal?.throwIfAborted();
        return await task();
      } finally {
        const isLost = await client.query("COMMIT").then(
          () => false,
          () => true,
        );
        client.off("error", ignore);
        client.release(isLost);
      }
    },
  };
}
