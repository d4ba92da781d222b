/** The example of a store in SQL, with PostgreSQL. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { sqlStore } from "../examples/sql_store.ts";
import { findPostgres, poolOf, startPostgres } from "../servers/postgres.ts";
import {
  assertCompares,
  assertOneReplaces,
} from "../support/comparing_store.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import {
  holdLong,
  type Place,
  refreshOnce,
  surviveCrash,
} from "./_processes.ts";
import { countAll, keepChanges } from "./_suspended.ts";

const programs = findPostgres();
if (!programs) {
  console.log("PostgreSQL is not installed: sql_store.ts is not run");
}

const source = new URL("../examples/sql_store.ts", import.meta.url);

/** One server for all tests, each with its own database: it takes seconds to make. */
let running: ReturnType<typeof startPostgres> | undefined;
let databases = 0;
Deno.test.afterAll(async () => await (await running)?.[Symbol.asyncDispose]());

/** Runs the statement of the example, in a new database. */
async function withTable(task: (url: string) => Promise<void>): Promise<void> {
  running ??= startPostgres(programs!);
  const server = await running;
  const name = `test_${++databases}`;
  const url = server.url.replace(/[^/]*$/, name);
  const [statement = ""] = /CREATE TABLE.*?\);/s.exec(
    (await Deno.readTextFile(source)).replaceAll("// ", ""),
  ) ?? [];
  const queries = { [server.url]: `CREATE DATABASE ${name}`, [url]: statement };
  for (const [where, query] of Object.entries(queries)) {
    const sql = poolOf(where);
    await sql.query(query);
    await sql.end();
  }
  await task(url);
}

const test = (name: string, task: (url: string) => Promise<void>) =>
  Deno.test({ name, ignore: !programs, fn: () => withTable(task) });

test("sql_store.ts makes one refresh in eight processes, ten times", (location) =>
  refreshOnce({ name: "sql", location }));

Deno.test({
  name:
    "sql_store.ts keeps its lock, and frees that of a killed process after a lease",
  ignore: !programs,
  fn: async () => {
    const run = (task: (place: Place) => Promise<void>) =>
      withTable((location) => task({ name: "sql", location }));
    await Promise.all([run(holdLong), run(surviveCrash)]);
  },
});

test("sql_store.ts saves only if it has what was loaded", async (url) => {
  const sql = poolOf(url);
  await assertCompares(sqlStore(sql, "one"));
  await assertOneReplaces(() => sqlStore(sql, "one"));
  await sql.end();
});

test("sql_store.ts lets a process that was suspended before it saves undo nothing", async (location) => {
  const sql = poolOf(location);
  const loseLock = () => sql.query("UPDATE sessions SET locked_until = NULL");
  await keepChanges({ name: "sql", location }, loseLock);
  await sql.end();
});

test("sql_store.ts loses no change of processes that are suspended at random", (location) =>
  countAll({ name: "sql", location }));

test("sql_store.ts saves, loads and deletes, and keeps users apart", async (url) => {
  const sql = poolOf(url);
  const [one, two] = ["one", "two"].map((id) => sqlStore(sql, id));
  assert(one && two);
  assertEquals(await one.load(), null);
  await one.save(SESSION);
  await one.save({ ...SESSION, scopes: ["read"] });
  assertEquals((await one.load())?.scopes, ["read"]);
  assertEquals(await two.load(), null);
  await one.save(undefined);
  assertEquals(await one.load(), null);
  await sql.end();
});

test("sql_store.ts survives lost connections, also while a task holds the lock", async (url) => {
  const [sql, admin] = [poolOf(url), poolOf(url)];
  const store = sqlStore(sql, "one");
  const held = store.lock!(async () => {
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND datname = current_database()`);
    // A pool offers a lost connection until it has noticed.
    await until(LIMIT_MS, () => sql.idleCount === 0);
    await store.save(SESSION);
    return "done";
  });
  assertEquals(await within(LIMIT_MS, held), "done");
  assertEquals(await store.load(), SESSION);
  const next = store.lock!(() => Promise.resolve("next"));
  assertEquals(await within(LIMIT_MS, next), "next");
  await Promise.all([sql.end(), admin.end()]);
});

test("sql_store.ts ends the wait for its lock by a signal, and releases it after a failure", async (url) => {
  const sql = poolOf(url);
  const store = sqlStore(sql, "one");
  const reason = new Error("The caller has left");
  const controller = new AbortController();
  await store.lock?.(async () => {
    const waiting = store.lock?.(() => Promise.resolve(), controller.signal);
    controller.abort(reason);
    assertEquals(await within(LIMIT_MS, waiting!.catch((e) => e)), reason);
    // Another user does not wait.
    const other = sqlStore(sql, "two");
    await within(LIMIT_MS, other.lock!(() => Promise.resolve()));
  });
  const failure = new Error("The task has failed");
  const failing = () => Promise.reject(failure);
  assertEquals(
    await assertRejects(async () => await store.lock?.(failing)),
    failure,
  );
  await within(LIMIT_MS, store.lock!(() => Promise.resolve()));
  await sql.end();
});
