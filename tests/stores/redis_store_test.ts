/**
 * Eight processes with a session in Redis refresh once, whatever their clients cache.
 */

import { assert, assertEquals } from "@std/assert";
import { createClient } from "redis";
import { createAuthorizedFetch } from "../../mod.ts";
import { redisStore } from "../../lib/stores/mod.ts";
import { withRedis } from "../servers/redis.ts";
import { startRotatingServer } from "../servers/rotating_server.ts";
import {
  assertCompares,
  assertOneReplaces,
  assertReadsOtherForms,
} from "../support/comparing_store.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { holdLong, refreshOnce, surviveCrash } from "./_processes.ts";
import { KEY, WITH_CACHE } from "./_stores.ts";
import { canSuspend, countAll, keepChanges } from "./_suspended.ts";

const connect = (url: string) => createClient({ url }).connect();

async function withClient(
  task: (client: Awaited<ReturnType<typeof connect>>) => Promise<void>,
): Promise<void> {
  await withRedis(async (url) => {
    const client = await connect(url);
    try {
      await task(client);
    } finally {
      await client.close();
    }
  });
}

Deno.test("redisStore() makes one refresh in eight processes, ten times", () =>
  withRedis((location) => refreshOnce({ name: "redis", location })));

Deno.test("redisStore() makes one refresh in eight processes whose clients have a cache", () =>
  withRedis((location) =>
    refreshOnce({ name: "redis with a cache", location })
  ));

Deno.test("redisStore() loads from the cache of its client, and under the lock what another process has saved last", () =>
  withRedis(async (url) => {
    await using server = await startRotatingServer();
    const { session } = server;
    const open = () => createClient({ url, ...WITH_CACHE }).connect();
    const [client, other] = [await open(), await open()];
    const [store, another] = [client, other].map((one) =>
      redisStore(one, "key")
    );
    assert(store?.lock && another?.lock);
    for (let count = 0; count < 50; count++) {
      const scopes = [String(count)];
      // The other one waits for the lock with a former session in its cache.
      await store.load();
      const held = Promise.withResolvers<void>();
      const saved = another.lock(async () => {
        held.resolve();
        await another.save({ ...session, scopes });
      });
      await held.promise;
      assertEquals((await store.lock(() => store.load()))?.scopes, scopes);
      await saved;
    }
    await store.load();
    await client.configResetStat();
    for (let load = 0; load < 100; load++) await store.load();
    assertEquals(/cmdstat_get:/.test(await client.info("commandstats")), false);
    await Promise.all([client.close(), other.close()]);
  }));

Deno.test("redisStore() lets one of 1,000 store objects refresh, and the others read the result without the lock", () =>
  withClient(async (client) => {
    await using server = await startRotatingServer();
    await redisStore(client, "one").save(server.session);
    await client.configResetStat();
    const { resource } = server;
    const authorize = () => Promise.reject(new Error("The user is asked"));
    const tokens = await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const store = redisStore(client, "one");
        const api = createAuthorizedFetch(resource, { store, flow: authorize });
        return (await api.signIn()).token.access_token;
      }),
    );
    assertEquals([new Set(tokens).size, server.refreshes], [1, 1]);
    const statistics = await client.info("commandstats");
    const releases = Number(/cmdstat_del:calls=(\d+)/.exec(statistics)?.[1]);
    // A few may hold the lock before they read what is new.
    assert(releases < 200, `${releases} store objects held the lock`);
  }));

Deno.test("redisStore() keeps its lock, and frees that of a killed process within the documented time", () =>
  withRedis(async (url) => {
    await Promise.all([
      holdLong({ name: "redis", location: `${url}/1` }),
      surviveCrash({ name: "redis", location: `${url}/2` }),
    ]);
  }));

Deno.test("redisStore() saves, loads and deletes, and leaves no lock behind", () =>
  withClient(async (client) => {
    const store = redisStore(client, "one");
    assertEquals(await store.load(), undefined);
    await store.lock?.(() => store.save(SESSION));
    assertEquals(await redisStore(client, "one").load(), SESSION);
    assertEquals(await redisStore(client, "two").load(), undefined);
    assertEquals(await client.keys("*"), ["one"]);
    await store.save(undefined);
    assertEquals(await client.keys("*"), []);
  }));

Deno.test("redisStore() keeps a session for its lifetime from the last save, and lets nothing stay", () =>
  withClient(async (client) => {
    const store = redisStore(client, "key", { lifetimeSeconds: 100 });
    const remainingMs = () => client.pTTL("key");
    await store.lock?.(async () => {
      await store.save(SESSION);
      assert(await client.pTTL("oauth-helper:lock:key") > 0);
    });
    assert(await remainingMs() > 90_000, `${await remainingMs()}`);
    await client.pExpire("key", 10_000);
    await store.load();
    assert(await remainingMs() <= 10_000);
    await store.save(SESSION);
    assert(await remainingMs() > 90_000, `${await remainingMs()}`);
    // Without a lifetime, one that was set before counts no longer.
    await redisStore(client, "key").save(SESSION);
    assertEquals(await remainingMs(), -1);

    await client.configSet("notify-keyspace-events", "Ex");
    const observer = await client.duplicate().connect();
    const expired = new Promise<string>((resolve) =>
      observer.subscribe("__keyevent@0__:expired", resolve)
    );
    const short = redisStore(client, "key", { lifetimeSeconds: 0.05 });
    await short.lock?.(() => short.save(SESSION));
    assertEquals(await within(LIMIT_MS, expired), "key");
    assertEquals(await short.load(), undefined);
    assertEquals(await client.keys("*"), []);
    await observer.close();
  }));

Deno.test("redisStore() does not release the lock of another process", () =>
  withClient(async (client) => {
    await redisStore(client, "key").lock?.(async () => {
      await client.set("oauth-helper:lock:key", "another process");
    });
    assertEquals(await client.get("oauth-helper:lock:key"), "another process");
  }));

Deno.test({
  name:
    "redisStore() lets a process that was suspended before it saves undo nothing",
  ignore: !canSuspend,
  fn: () =>
    withRedis(async (url) => {
      const client = await connect(url);
      const loseLock = () => client.del(`oauth-helper:lock:${KEY}`);
      await keepChanges({ name: "redis", location: url }, loseLock);
      await client.close();
    }),
});

Deno.test({
  name:
    "redisStore() loses no change of processes that are suspended at random",
  ignore: !canSuspend,
  fn: () => withRedis((location) => countAll({ name: "redis", location })),
});

Deno.test("redisStore() saves only if it has what was loaded, with its lifetime", () =>
  withClient(async (client) => {
    await assertCompares(redisStore(client, "key"));
    const open = () => redisStore(client, "key", { lifetimeSeconds: 100 });
    await assertOneReplaces(open);
    assert(await client.pTTL("key") > 90_000);
    await assertReadsOtherForms(open(), (text) => client.set("key", text));
  }));
