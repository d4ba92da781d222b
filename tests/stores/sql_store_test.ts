/** The example of a store in SQL, with PostgreSQL. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { sqlStore } from "../examples/sql_store.ts";
import { findPostgres, startPostgres } from "../servers/postgres.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import { refreshOnce, startHolder } from "./_processes.ts";

const programs = findPostgres();
if (!programs) {
  console.log("PostgreSQL is not installed: sql_store.ts is not run");
}

const source = new URL("../examples/sql_store.ts", import.meta.url);

/** Runs the statement of the example, in a new database. */
async function withTable(task: (url: string) => Promise<void>): Promise<void> {
  await using server = await startPostgres(programs!);
  const [statement = ""] = /CREATE TABLE.*?\);/s.exec(
    (await Deno.readTextFile(source)).replaceAll("// ", ""),
  ) ?? [];
  const sql = postgres(server.url);
  await sql.unsafe(statement);
  await sql.end();
  await task(server.url);
}

const test = (name: string, task: (url: string) => Promise<void>) =>
  Deno.test({ name, ignore: !programs, fn: () => withTable(task) });

test("sql_store.ts makes one refresh in eight processes, ten times", (location) =>
  refreshOnce({ name: "sql", location }));

test("sql_store.ts frees the lock of a killed process at once", async (location) => {
  await using stack = new AsyncDisposableStack();
  const place = { name: "sql", location } as const;
  const { holder, store } = await startHolder(stack, place);
  const waiting = store.lock(() => Promise.resolve("next"));
  const sql = postgres(location);
  stack.defer(() => sql.end());
  // The holder has tried, and so has this process, without success.
  const refused = until(LIMIT_MS, async () => {
    const tried = await sql`SELECT FROM pg_stat_activity
      WHERE state = 'idle in transaction' AND query LIKE '%pg_try_advisory%'`;
    return tried.length === 2;
  });
  assertEquals(await Promise.race([waiting, refused]), undefined);
  await holder[Symbol.asyncDispose]();
  assertEquals(await within(LIMIT_MS, waiting), "next");
});

test("sql_store.ts saves, loads and deletes, and keeps users apart", async (url) => {
  const sql = postgres(url);
  const [one, two] = ["one", "two"].map((id) => sqlStore(sql, sql, id));
  assert(one && two);
  assertEquals(await one.load(), undefined);
  await one.save(SESSION);
  await one.save({ ...SESSION, scopes: ["read"] });
  assertEquals((await one.load())?.scopes, ["read"]);
  assertEquals(await two.load(), undefined);
  await one.save(undefined);
  assertEquals(await one.load(), undefined);
  await sql.end();
});

test("sql_store.ts ends the wait for its lock by a signal, and releases it after a failure", async (url) => {
  const [sql, locks] = [postgres(url), postgres(url)];
  const store = sqlStore(sql, locks, "one");
  const reason = new Error("The caller has left");
  const controller = new AbortController();
  await store.lock?.(async () => {
    const waiting = store.lock?.(() => Promise.resolve(), controller.signal);
    controller.abort(reason);
    assertEquals(await within(LIMIT_MS, waiting!.catch((e) => e)), reason);
    // Another user does not wait.
    const other = sqlStore(sql, locks, "two");
    await within(LIMIT_MS, other.lock!(() => Promise.resolve()));
  });
  const failure = new Error("The task has failed");
  const failing = () => Promise.reject(failure);
  assertEquals(
    await assertRejects(async () => await store.lock?.(failing)),
    failure,
  );
  await within(LIMIT_MS, store.lock!(() => Promise.resolve()));
  await Promise.all([sql.end(), locks.end()]);
});
