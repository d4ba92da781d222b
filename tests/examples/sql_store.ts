import type { ISessionStore } from "@oauth-helper/client";
import type { Sql } from "postgres";

// CREATE TABLE sessions (
//   id text PRIMARY KEY,
//   session text NOT NULL,
//   saved_at timestamptz NOT NULL DEFAULT now()
// );
// For users who do not return, once a day:
// DELETE FROM sessions WHERE saved_at < now() - interval '30 days';

/**
 * Keeps a session in PostgreSQL. `locks` has connections of its own, as each lock takes
 * one while `sql` loads and saves. The server releases the lock of a process that ends.
 */
export function sqlStore(sql: Sql, locks: Sql, id: string): ISessionStore {
  return {
    async load() {
      const [row] = await sql`SELECT session FROM sessions WHERE id = ${id}`;
      return row && JSON.parse(row.session);
    },
    async save(session) {
      if (!session) {
        return void await sql`DELETE FROM sessions WHERE id = ${id}`;
      }
      const text = JSON.stringify(session);
      await sql`INSERT INTO sessions (id, session) VALUES (${id}, ${text})
        ON CONFLICT (id) DO UPDATE SET session = ${text}, saved_at = now()`;
    },
    async lock<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const result = await locks.begin(async (transaction) => {
        const acquire = () =>
          transaction`
          SELECT pg_try_advisory_xact_lock(hashtextextended(${id}, 0)) AS held`;
        while (!(await acquire())[0]?.held) {
          signal?.throwIfAborted();
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        signal?.throwIfAborted();
        return { value: await task() };
      });
      return result.value as T;
    },
  };
}
