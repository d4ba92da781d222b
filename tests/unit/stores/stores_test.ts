/** Each store saves, loads, deletes and locks in the same way. */

import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { memoryStore, type Session } from "../../../mod.ts";
import * as stores from "../../../lib/stores/mod.ts";
import { ENGINES, fakeKv, fakeRedis, fakeStorage } from "./_fakes.ts";
import { SESSION } from "../../support/resource.ts";
import { pinRejected, pinThrown } from "../../support/fixtures.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const { denoKvStore, redisStore, webStorageStore } = stores;

/** The same session, but for one member. */
const without = (member: keyof Session, value?: unknown) => ({
  ...SESSION,
  [member]: value,
});

Deno.test("memoryStore() is the same function in ./stores", () => {
  assertStrictEquals(stores.memoryStore, memoryStore);
});

for (const [name, createEngine] of Object.entries(ENGINES)) {
  Deno.test(`${name}() saves a session, and deletes it`, async () => {
    const { open } = createEngine();
    assertEquals(await open().load(), undefined);
    await open().save(SESSION);
    assertEquals(await open().load(), SESSION);
    await open().save(undefined);
    assertEquals(await open().load(), undefined);
  });

  Deno.test(`${name}() loads a session without tokens, which is kept for its client`, async () => {
    const { open } = createEngine();
    const { token: _, ...left } = SESSION;
    await open().save(left);
    assertEquals((await open().load())?.client?.client_id, "c1");
  });

  Deno.test(`${name}() rejects a value that is not a session, without its content`, async () => {
    const { open, put } = createEngine();
    const rows = [
      "",
      "{",
      '{"token":"s3cret',
      7,
      [],
      {},
      without("issuer"),
      without("resource", 7),
      without("version"),
      without("version", "1"),
      without("server", null),
      without("server", { token_endpoint: 7 }),
      without("client", {}),
      without("token", { access_token: "t0ken" }),
      JSON.stringify({ ...SESSION, client: undefined, token: undefined }),
      without("token", { ...SESSION.token, refresh_token: 7 }),
      without("token", { ...SESSION.token, id_token: {} }),
      without("scopes"),
      without("scopes", "read"),
      without("scopes", [7]),
      without("internal", 7),
      without("internal", { resourceIndicator: 7 }),
      without("apis", {
        ["https://other.example"]: {
          scopes: [],
          internal: { resourceIndicator: {} },
        },
      }),
      without("internal", { idJag: { scope: "read" } }),
    ];
    await eachRowInTurn(rows, async (value) => {
      await put(value);
      const call = () => open().load();
      const error = await pinRejected(call, "invalid_session");
      assertEquals(error.cause, undefined);
    });
  });

  Deno.test(`${name}() runs one task at a time, and returns its result or failure`, async () => {
    const { open } = createEngine();
    let running = 0;
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map((number) =>
        open().lock?.(async () => {
          assertEquals(++running, 1);
          await Promise.resolve();
          running--;
          if (number === 3) throw new Error("three");
          return number;
        })
      ),
    );
    assertEquals(
      results.map((result) =>
        result.status === "fulfilled" ? result.value : result.reason.message
      ),
      [1, 2, "three", 4],
    );
  });
}

Deno.test("redisStore() keeps the lock of a user apart from the session of any other", async () => {
  const values = new Map<string, string>();
  const client = fakeRedis(values);
  const store = redisStore(client, "session:ada");
  await store.lock?.(async () => {
    const [lockKey = ""] = values.keys();
    assertEquals(lockKey, "oauth-helper:lock:session:ada");
    for (const user of ["ada:lock", lockKey]) {
      const other = redisStore(client, `session:${user}`);
      assertEquals(await other.load(), undefined);
      await other.save(undefined);
    }
    assertEquals([...values.keys()], [lockKey]);
  });
});

Deno.test("each store of ./stores has an engine in memory, so that the tests of all stores cover it", () => {
  const names = Object.keys(stores)
    .filter((name) => name.endsWith("Store") && name !== "memoryStore");
  assertEquals(Object.keys(ENGINES).sort(), names.sort());
});

Deno.test("denoKvStore() keeps its lock apart from longer keys", async () => {
  const kv = fakeKv();
  await denoKvStore(kv, ["sessions"]).lock?.(async () => {
    const other = denoKvStore(kv, ["sessions", "lock"]);
    assertEquals(await other.load(), undefined);
    await other.save(SESSION);
  });
  assertEquals(await denoKvStore(kv, ["sessions", "lock"]).load(), SESSION);
});

Deno.test("denoKvStore() tries again while the database is locked", async () => {
  const kv = fakeKv();
  let failures = 3;
  const store = denoKvStore({
    ...kv,
    get: (key) =>
      failures-- > 0
        ? Promise.reject(new TypeError("database is locked"))
        : kv.get(key),
  }, ["k"]);
  await store.save(SESSION);
  assertEquals(await store.load(), SESSION);
  assertEquals(failures, -1);
  const broken = denoKvStore({
    ...kv,
    get: () => Promise.reject(new TypeError("disk I/O error")),
  }, ["k"]);
  await assertRejects(() => broken.load(), TypeError, "disk I/O error");
});

Deno.test("Stores check their arguments", () => {
  const wrong = undefined as never;
  const rows = [
    () => webStorageStore(wrong, "k"),
    () => webStorageStore(fakeStorage()(), ""),
    () => redisStore(wrong, "k"),
    () => redisStore(fakeRedis(), ""),
    () => redisStore(fakeRedis(), "oauth-helper:lock:k"),
    () => webStorageStore(fakeStorage()(), "oauth-helper:version:k"),
    () => denoKvStore(wrong, ["k"]),
    () => denoKvStore(fakeKv(), ["oauth-helper:lock", "k"]),
    () => denoKvStore(fakeKv(), []),
    ...[0, -1, NaN, Infinity, "60" as never].flatMap((lifetimeSeconds) => {
      const options = { lifetimeSeconds };
      return [
        () => redisStore(fakeRedis(), "k", options),
        () => denoKvStore(fakeKv(), ["k"], options),
      ];
    }),
  ];
  for (const create of rows) {
    pinThrown(create, "invalid_argument");
  }
});
