import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type ISession,
  type ISessionStore,
  OAuthClientError,
} from "../../../mod.ts";
import {
  denoKvStore,
  redisStore,
  webStorageStore,
} from "../../../lib/stores/mod.ts";
import { fakeKv, fakeLocks, fakeRedis, fakeStorage } from "./_fakes.ts";
import { SESSION } from "../../support/resource.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

/** The same session, but for one member. */
const without = (member: keyof ISession, value?: unknown) => ({
  ...SESSION,
  [member]: value,
});

/** An engine with one stored value, and its name in messages. */
interface IEngine {
  readonly place: string;
  /** Opens a store, as another process would. */
  open(): ISessionStore;
  /** Stores a value as it is. */
  put(value: unknown): unknown;
}

const ENGINES: Record<string, () => IEngine> = {
  webStorageStore() {
    const tab = fakeStorage();
    const locks = fakeLocks();
    const storage = tab();
    return {
      place: 'web storage at key "k"',
      open: () => webStorageStore(storage, "k", locks),
      put: (value) =>
        storage.setItem(
          "k",
          typeof value === "string" ? value : JSON.stringify(value),
        ),
    };
  },
  denoKvStore() {
    const kv = fakeKv();
    return {
      place: 'Deno KV at key ["k", "1"]',
      open: () => denoKvStore(kv, ["k", 1]),
      put: (value) => kv.set(["k", 1], value),
    };
  },
  redisStore() {
    const client = fakeRedis();
    return {
      place: 'Redis at key "k"',
      open: () => redisStore(client, "k"),
      put: (value) =>
        client.set(
          "k",
          typeof value === "string" ? value : JSON.stringify(value),
        ),
    };
  },
};

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
    const token = { access_token: "", token_type: "Bearer" };
    await open().save({ ...SESSION, token });
    assertEquals((await open().load())?.client.client_id, "c1");
  });

  Deno.test(`${name}() rejects a value that is not a session, without its content`, async () => {
    const { open, put, place } = createEngine();
    for (
      const value of [
        "",
        "{",
        '{"token":"s3cret',
        7,
        [],
        {},
        without("issuer"),
        without("resource", 7),
        without("serverMetadata", null),
        without("client", { client_id: "c1" }),
        without("token", { access_token: "t0ken" }),
        without("token"),
        without("token", { ...SESSION.token, refresh_token: 7 }),
        without("token", { ...SESSION.token, id_token: {} }),
        without("scopes"),
        without("scopes", "read"),
        without("scopes", [7]),
        without("idJag", { scope: "read" }),
      ]
    ) {
      await put(value);
      const error = await assertRejects(() => open().load(), OAuthClientError);
      assertEquals(error.code, "invalid_session");
      assertEquals(
        error.message,
        `Value in ${place} is not a session. It was left as it is; ` +
          "delete it to sign in again",
      );
      assertEquals(error.cause, undefined);
    }
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

for (const name of ["denoKvStore", "redisStore"]) {
  Deno.test(`${name}() ends the wait for its lock when the signal aborts, but no task`, async () => {
    const { open } = ENGINES[name]!();
    const reason = new Error("The caller has left");
    const controller = new AbortController();
    const { signal } = controller;
    let runs = 0;
    const run = () => Promise.resolve(++runs);
    const result = await open().lock?.(async () => {
      const later = new AbortController();
      const between = open().lock?.(run, later.signal).catch((error) => error);
      // By then it has tried once, and waits before it tries again.
      await turn();
      later.abort(reason);
      assertEquals(await within(LIMIT_MS, between!), reason);
      const waiting = open().lock?.(run, signal).catch((error) => error);
      controller.abort(reason);
      assertEquals(await within(LIMIT_MS, waiting!), reason);
      await assertRejects(async () => await open().lock?.(run, signal));
      return "done";
    }, signal);
    assertEquals([result, runs], ["done", 0]);
    assertEquals(await open().lock?.(run), 1);
  });
}

Deno.test("webStorageStore() starts no task for a signal that has aborted", async () => {
  const { open } = ENGINES.webStorageStore!();
  const controller = new AbortController();
  let runs = 0;
  const run = () => Promise.resolve(++runs);
  let waiting: Promise<number> | undefined;
  await open().lock?.(() => {
    waiting = open().lock?.(run, controller.signal);
    controller.abort(new Error("The caller has left"));
    return Promise.resolve();
  });
  await assertRejects(async () => await waiting, Error, "The caller has left");
  assertEquals(runs, 0);
  assertEquals(await open().lock?.(run), 1);
});

Deno.test("webStorageStore() has no lock without Web Locks", () => {
  const storage = fakeStorage()();
  assertEquals(webStorageStore(storage, "k", false).lock, undefined);
});

Deno.test("webStorageStore() has no lock with sessionStorage, which other tabs do not share", () => {
  const storage = fakeStorage();
  const globals = {
    sessionStorage: storage(),
    localStorage: storage(),
    navigator: { locks: fakeLocks() },
  };
  const before = Object.keys(globals).map((name) =>
    [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const
  );
  try {
    for (const [name, value] of Object.entries(globals)) {
      Object.defineProperty(globalThis, name, { value, configurable: true });
    }
    const { sessionStorage, localStorage, navigator } = globals;
    assertEquals(webStorageStore(sessionStorage, "k").lock, undefined);
    assertEquals(typeof webStorageStore(localStorage, "k").lock, "function");
    const store = webStorageStore(sessionStorage, "k", navigator.locks);
    assertEquals(typeof store.lock, "function");
  } finally {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
  }
});

Deno.test("webStorageStore() lets the next holder wait until it can read the change", async () => {
  const tab = fakeStorage(30);
  const locks = fakeLocks();
  const stores = [0, 1, 2].map(() => webStorageStore(tab(), "k", locks));
  const read: unknown[] = [];
  await Promise.all(stores.map((store, index) =>
    store.lock?.(async () => {
      read.push((await store.load())?.token.access_token);
      const token = { access_token: `t${index}`, token_type: "Bearer" };
      if (index < 2) await store.save({ ...SESSION, token });
    })
  ));
  assertEquals(read, [undefined, "t0", "t1"]);
});

Deno.test("webStorageStore() announces nothing if nothing was saved", async () => {
  const storage = fakeStorage()();
  const locks = fakeLocks();
  const store = webStorageStore(storage, "k", locks);
  await store.lock?.(() => store.load());
  assertEquals(await locks.query(), { held: [] });
  await store.lock?.(() => store.save(SESSION));
  await store.lock?.(() => store.save(SESSION));
  assertEquals(await locks.query(), {
    held: [{ name: "oauth-helper:version:2:k" }],
  });
});

Deno.test("redisStore() returns the result although the lock cannot be released", async () => {
  const client = fakeRedis();
  client.eval = () => Promise.reject(new Error("The connection was closed"));
  const store = redisStore(client, "k");
  assertEquals(await store.lock?.(() => Promise.resolve("token")), "token");
});

Deno.test("redisStore() rejects if the lock cannot be acquired", async () => {
  const client = fakeRedis();
  const failure = new Error("The connection was closed");
  client.set = () => Promise.reject(failure);
  const task = () => Promise.reject(new Error("The task has run"));
  const error = await assertRejects(
    async () => await redisStore(client, "k").lock?.(task),
  );
  assertEquals(error, failure);
});

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
  for (
    const [create, message] of [
      [() => webStorageStore(wrong, "k"), "storage must be an object"],
      [
        () => webStorageStore(fakeStorage()(), ""),
        "key must be a non-empty string",
      ],
      [() => redisStore(wrong, "k"), "client must be an object"],
      [() => redisStore(fakeRedis(), ""), "key must be a non-empty string"],
      [
        () => redisStore(fakeRedis(), "oauth-helper:lock:k"),
        'key must be a key that does not begin with "oauth-helper:lock:"',
      ],
      [
        () => webStorageStore(fakeStorage()(), "oauth-helper:version:k", false),
        'key must be a key that does not begin with "oauth-helper:version:"',
      ],
      [() => denoKvStore(wrong, ["k"]), "kv must be an object"],
      [
        () => denoKvStore(fakeKv(), ["oauth-helper:lock", "k"]),
        'key must be a key that does not begin with "oauth-helper:lock"',
      ],
      [() => denoKvStore(fakeKv(), []), "key must be a non-empty array"],
      ...[0, -1, NaN, Infinity, "60" as never].flatMap((lifetimeSeconds) => {
        const message = "lifetimeSeconds must be a positive number";
        const options = { lifetimeSeconds };
        return [
          [() => redisStore(fakeRedis(), "k", options), message],
          [() => denoKvStore(fakeKv(), ["k"], options), message],
        ] as const;
      }),
    ] as const
  ) {
    const error = assertThrows(create, OAuthClientError);
    assertEquals([error.code, error.message], ["invalid_argument", message]);
  }
});
