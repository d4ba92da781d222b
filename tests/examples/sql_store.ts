import type { SessionStore, StoredSession } from "@oauth-helper/client";
import type { Pool } from "pg";
import { lockBy } from "./lease.ts";

// CREATE TABLE sessions (
//   id text PRIMARY KEY,
//   session text,
//   saved_at timestamptz NOT NULL DEFAULT now(),
//   lock_owner text,
//   locked_until timestamptz
// );
// For users who do not return, once a day:
// DELETE FROM sessions WHERE saved_at < now() - interval '30 days';

/**
 * Keeps a text in a row of PostgreSQL, with a lock in the same row, so that no connection
 * is held while a user signs in. Call `on("error", …)` for the pool: otherwise a lost
 * connection ends the process.
 */
export function sqlRow(sql: Pool, id: string) {
  const change = async (query: string, ...values: unknown[]) =>
    (await sql.query(query, [id, ...values])).rowCount === 1;
  return {
    async read(): Promise<string | null> {
      const query = "SELECT session FROM sessions WHERE id = $1";
      return (await sql.query(query, [id])).rows[0]?.session ?? null;
    },
    /** With `former`, writes only if that is still in the row; returns whether it did. */
    write: (text: string | null, former?: string | null): Promise<boolean> =>
      former
        ? change(
          `UPDATE sessions SET session = $2, saved_at = now()
          WHERE id = $1 AND session = $3`,
          text,
          former,
        )
        : change(
          `INSERT INTO sessions (id, session) VALUES ($1, $2)
          ON CONFLICT (id) DO UPDATE SET session = $2, saved_at = now()
          WHERE $3 OR sessions.session IS NULL`,
          text,
          former === undefined,
        ),
    lock: lockBy(() => {
      const owner = crypto.randomUUID();
      const until = "now() + interval '10 seconds'";
      const set = (time: string) =>
        change(
          `UPDATE sessions SET locked_until = ${time}
          WHERE id = $1 AND lock_owner = $2`,
          owner,
        );
      return {
        acquire: () =>
          change(
            `INSERT INTO sessions (id, lock_owner, locked_until)
            VALUES ($1, $2, ${until})
            ON CONFLICT (id) DO UPDATE
            SET lock_owner = $2, locked_until = ${until}
            WHERE sessions.locked_until IS NULL
            OR sessions.locked_until < now()`,
            owner,
          ),
        extend: () => set(until),
        release: () => set("NULL"),
      };
    }),
  };
}

/** Keeps a session in PostgreSQL. */
export function sqlStore(sql: Pool, id: string): SessionStore {
  const { read, write, lock } = sqlRow(sql, id);
  const textOf = (session: StoredSession | null | undefined) =>
    session ? JSON.stringify(session) : null;
  return {
    async load() {
      const text = await read();
      return text === null ? null : JSON.parse(text);
    },
    save: (session, former) =>
      write(textOf(session), former === undefined ? former : textOf(former)),
    lock,
  };
}
