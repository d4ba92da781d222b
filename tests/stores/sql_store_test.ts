/** The example of a store in SQL, with PostgreSQL. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { sqlStore } from "../examples/sql_store.ts";
import { findPostgres, poolOf, startPostgres } from "../servers/postgres.ts";
import { SESSION } from "../support/resource.ts";
import { deferred } from "../support/stub_fetch.ts";
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
  const sql = poolOf(server.url);
  await sql.query(statement);
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
  const sql = poolOf(location);
  stack.defer(() => sql.end());
  // The holder has tried, and so has this process, without success.
  const refused = until(LIMIT_MS, async () => {
    const { rows } = await sql.query(`SELECT FROM pg_stat_activity
      WHERE state = 'idle in transaction' AND query LIKE '%pg_try_advisory%'`);
    return rows.length === 2;
  });
  assertEquals(await Promise.race([waiting, refused]), undefined);
  await holder[Symbol.asyncDispose]();
  assertEquals(await within(LIMIT_MS, waiting), "next");
});

test("sql_store.ts saves, loads and deletes, and keeps users apart", async (url) => {
  const sql = poolOf(url);
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

test("sql_store.ts survives lost connections, also of a task that holds the lock and of those that wait", async (url) => {
  const [sql, locks, admin] = [poolOf(url), poolOf(url), poolOf(url)];
  const store = sqlStore(sql, locks, "one");
  const [begun, release] = [deferred<void>(), deferred<void>()];
  const held = store.lock!(async () => {
    begun.resolve();
    await release.promise;
    await store.save(SESSION);
    return "done";
  });
  // Another would otherwise get the lock, and end, before this one asks for it.
  await within(LIMIT_MS, begun.promise);
  const waiting = [1, 2].map(() =>
    store.lock!(() => Promise.resolve("next")).catch(() => {})
  );
  const count = "SELECT FROM pg_stat_activity " +
    "WHERE query LIKE 'SELECT pg_try_advisory%'";
  await until(LIMIT_MS, async () => (await admin.query(count)).rowCount === 3);
  await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`);
  // The lock of the first connection that ends is free for a moment.
  await within(LIMIT_MS, Promise.all(waiting));
  // The result of the task counts: a refreshed token cannot be obtained again.
  release.resolve();
  assertEquals(await within(LIMIT_MS, held), "done");
  assertEquals(await store.load(), SESSION);
  // A pool offers a lost connection until it has noticed.
  await until(LIMIT_MS, () => locks.idleCount === 0);
  assertEquals(
    await within(LIMIT_MS, store.lock!(() => Promise.resolve("next"))),
    "next",
  );
  await Promise.all([sql, locks, admin].map((pool) => pool.end()));
});

test("sql_store.ts ends the wait for its lock by a signal, and releases it after a failure", async (url) => {
  const [sql, locks] = [poolOf(url), poolOf(url)];
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
