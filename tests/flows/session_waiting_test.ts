/** Calls that wait for a lock while another process holds it. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  type AuthorizedFetch,
  memoryStore,
  type Session,
  type SessionStore,
} from "../../mod.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { MCP, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { resourceFetch, SESSION } from "../support/resource.ts";
import { deferred, statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import { expiringIn, NOW } from "./_session_world.ts";

/** A session whose token the resource accepts, if it is `t2`. */
function sessionOf(access_token: string, ...scopes: string[]): Session {
  return { ...SESSION, token: { access_token, token_type: "Bearer" }, scopes };
}

/** A store whose lock another process holds for good. */
function heldStore(session: Session | undefined) {
  const inner = memoryStore(session);
  const held = deferred<void>();
  const signals: (AbortSignal | undefined)[] = [];
  let loads = 0;
  const store: SessionStore = {
    save: inner.save,
    load: () => {
      loads++;
      return inner.load();
    },
    async lock(_task, signal) {
      signals.push(signal);
      held.resolve();
      return await new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason))
      );
    },
  };
  return {
    store,
    inner,
    signals,
    held: () => within(LIMIT_MS, held.promise),
    /** Waits until the waiting calls have read the store again. */
    async seen() {
      const before = loads;
      await until(LIMIT_MS, () => loads >= before + 2);
    },
  };
}

function apiWith(store: SessionStore, now = Date.now) {
  return resourceFetch(({ url, headers }) => {
    const isAccepted = headers.get("Authorization") === "Bearer t2";
    const scope = 'Bearer error="insufficient_scope", scope="read write"';
    if (url !== MCP || isAccepted) return undefined;
    return headers.get("Authorization") === "Bearer few"
      ? new Response(null, {
        status: 403,
        headers: { "WWW-Authenticate": scope },
      })
      : new Response(null, { status: 401 });
  }, { store, now });
}

const expired: Session = {
  ...sessionOf("t1", "read"),
  token: {
    access_token: "t1",
    token_type: "Bearer",
    refresh_token: "r1",
    expires_in: 3600,
    expires_at: 1,
  },
};

for (
  const [need, start, insufficient] of [
    ["a refresh", expired, expired],
    ["a token after a 401", sessionOf("t1"), sessionOf("t1", "read")],
    ["a first session", undefined, {
      ...SESSION,
      resource: "https://x.example",
    }],
    ["further scopes", sessionOf("few"), sessionOf("t3", "read")],
  ] as const
) {
  Deno.test(
    `createAuthorizedFetch() stops waiting for ${need} once the store holds it, and leaves no timer`,
    { sanitizeOps: true },
    async () => {
      const { store, inner, signals, held, seen } = heldStore(start);
      const { api } = apiWith(store);
      const call = api(MCP);
      await held();
      await inner.save(insufficient);
      await seen();
      assertEquals(signals.map((signal) => signal?.aborted), [false]);
      await inner.save(sessionOf("t2", "read", "write"));
      assertEquals(await statusOf(within(LIMIT_MS, call)), 200);
      assertEquals(signals.map((signal) => signal?.aborted), [true]);
    },
  );
}

Deno.test(
  "createAuthorizedFetch() no longer looks at the store when the last caller has left",
  { sanitizeOps: true },
  async () => {
    const { store, signals, held, seen } = heldStore(expired);
    const { api } = apiWith(store);
    const controller = new AbortController();
    const call = api(MCP, { signal: controller.signal });
    await held();
    await seen();
    const reason = new Error("enough");
    controller.abort(reason);
    assertEquals(await assertRejects(() => call), reason);
    assertEquals(signals.map((signal) => signal?.reason), [reason]);
  },
);

/** Records the timers; the function returns after how long one fires. */
function recordTimers(delayOf: (ms: number) => number) {
  const { setTimeout, clearTimeout } = globalThis;
  const delays: number[] = [];
  const cleared: unknown[] = [];
  Object.assign(globalThis, {
    setTimeout(handler: () => void, ms: number) {
      delays.push(ms);
      return setTimeout(handler, delayOf(ms));
    },
    clearTimeout(id?: number) {
      if (id !== undefined) cleared.push(id);
      clearTimeout(id);
    },
  });
  return {
    delays,
    cleared,
    [Symbol.dispose]: () =>
      void Object.assign(globalThis, { setTimeout, clearTimeout }),
  };
}

Deno.test("createAuthorizedFetch() looks at the store ever less often, at least once a second", async () => {
  const { store, inner } = heldStore(expired);
  const { api } = apiWith(store);
  using timers = recordTimers(() => {
    if (timers.delays.length === 50) inner.save(sessionOf("t2"));
    return 0;
  });
  assertEquals((await api(MCP)).status, 200);
  assertEquals(timers.delays.slice(0, 4), [20, 30, 45, 67.5]);
  assertEquals(new Set(timers.delays.slice(12)), new Set([1_000]));
});

Deno.test("createAuthorizedFetch() waits a second for the lock with a valid token, then uses it for ten seconds", async () => {
  const { store, signals } = heldStore(expiringIn(29, "t2"));
  const clock = { now: NOW };
  const { api } = resourceFetch(undefined, { store, now: () => clock.now });
  using timers = recordTimers((ms) => ms === 1_000 ? 0 : ms);
  await eachRowInTurn(
    [[0, 1], [9, 1], [10, 2]] as const,
    async ([seconds, locks]) => {
      clock.now = NOW + seconds * 1000;
      assertEquals(await statusOf(within(LIMIT_MS, api(MCP))), 200);
      assertEquals(signals.length, locks);
    },
  );
  assert(timers.delays.includes(1_000));
  assert(signals.every((signal) => signal?.aborted));
});

Deno.test("createAuthorizedFetch() waits for a refresh that has begun, also with a valid token", async () => {
  const asked = deferred<void>();
  const response = deferred<Response>();
  const { api, received } = resourceFetch(({ url }) => {
    if (url === MCP) return undefined;
    asked.resolve();
    return response.promise;
  }, { store: memoryStore(expiringIn(20)), now: () => NOW });
  using timers = recordTimers((ms) => ms === 1_000 ? 0 : ms);
  const call = api(MCP);
  await within(LIMIT_MS, asked.promise);
  await until(LIMIT_MS, () => timers.cleared.length > 0);
  await new Promise((resolve) => setTimeout(resolve));
  response.resolve(Response.json({ access_token: "t2" }));
  assertEquals(await statusOf(within(LIMIT_MS, call)), 200);
  assertEquals(received.at(-1)?.headers.get("Authorization"), "Bearer t2");
});

Deno.test("createAuthorizedFetch() waits for the lock once the token has expired meanwhile", async () => {
  const { store, inner, signals } = heldStore(expiringIn(1));
  const clock = { now: NOW };
  const { api } = apiWith(store, () => clock.now);
  using _timers = recordTimers((ms) => {
    if (ms === 1_000) clock.now += 2_000;
    return 0;
  });
  const call = api(MCP);
  await until(LIMIT_MS, () => signals.length === 2);
  await inner.save(expiringIn(60, "t2"));
  assertEquals(await statusOf(within(LIMIT_MS, call)), 200);
});

Deno.test("createAuthorizedFetch() uses a valid token while the user of another call is at a page", async () => {
  const clock = { now: NOW };
  const left = new Error("The user has left");
  const visit = deferred<Session>();
  const { api, received } = resourceFetch(({ url }) =>
    // The endpoint has moved, so the session stays until there is another.
    url === TOKEN_ENDPOINT ? new Response(null, { status: 404 }) : undefined, {
    store: memoryStore(expiringIn(20)),
    now: () => clock.now,
    flow: () => visit.promise,
  });
  const calls = () => received.filter(({ url }) => url === MCP).length;
  const first = assertRejects(() => api(MCP), Error, left.message);
  await until(LIMIT_MS, () => calls() === 1);
  using _timers = recordTimers((ms) => ms === 1_000 ? 0 : ms);
  assertEquals(await statusOf(within(LIMIT_MS, api(MCP))), 200);
  const step = api.signIn({ fresh: true });
  clock.now += 10_000;
  assertEquals(await statusOf(within(LIMIT_MS, api(MCP))), 200);
  visit.reject(left);
  await Promise.all([first, assertRejects(() => step, Error, left.message)]);
});

Deno.test("createAuthorizedFetch() does not look at the store while it refreshes under the lock", async () => {
  using timers = recordTimers((ms) => ms);
  const clearedAtRefresh: number[] = [];
  const { api } = resourceFetch(({ url }) => {
    if (url === MCP) return undefined;
    clearedAtRefresh.push(timers.cleared.length);
    return Response.json({ access_token: "t2", token_type: "Bearer" });
  }, {
    store: { ...memoryStore(expired), lock: (task) => task() },
  });
  assertEquals((await api(MCP)).status, 200);
  assertEquals(clearedAtRefresh, [1]);
});

Deno.test("createAuthorizedFetch() goes on waiting while the store cannot be read", async () => {
  const { store, inner, held } = heldStore(expired);
  const { load } = store;
  let failures = 0;
  const { api } = apiWith(store);
  const call = api(MCP);
  await held();
  store.load = () => Promise.reject(new Error(`EIO ${++failures}`));
  await until(LIMIT_MS, () => failures >= 2);
  store.load = load;
  await inner.save(sessionOf("t2"));
  assertEquals(await statusOf(within(LIMIT_MS, call)), 200);
});

Deno.test("createAuthorizedFetch() stops waiting for another task of the same store, too", async () => {
  const { store, inner, signals, held } = heldStore(expired);
  const { api } = apiWith(store);
  const { api: other } = apiWith(store);
  const saving = (one: AuthorizedFetch, signal: AbortSignal) =>
    assertRejects(() => one.save(sessionOf("saved"), { signal }));
  const controller = new AbortController();
  const saved = saving(other, controller.signal);
  await held();
  const call = api(MCP);
  await inner.save(sessionOf("t2"));
  assertEquals(await statusOf(within(LIMIT_MS, call)), 200);
  assert(signals.length === 1, "the call has requested the lock");
  controller.abort();
  await within(LIMIT_MS, saved);
});

Deno.test(
  "createAuthorizedFetch() starts no timer for a call that has stopped waiting",
  { sanitizeOps: true },
  async () => {
    const inner = memoryStore(expired);
    const store: SessionStore = {
      ...inner,
      async lock(task, signal) {
        signal?.throwIfAborted();
        return await task();
      },
    };
    const { api } = resourceFetch(() => undefined, { store, onEvent() {} });
    const asked = deferred<void>();
    const response = deferred<Response>();
    const { api: other } = resourceFetch(({ url }) => {
      if (url !== MCP) asked.resolve();
      return url === MCP ? undefined : response.promise;
    }, { store });
    const first = assertRejects(() => other.signIn({ fresh: true }));
    await within(LIMIT_MS, asked.promise);
    const call = api(MCP);
    await inner.save(sessionOf("t2"));
    assertEquals(await statusOf(within(LIMIT_MS, call)), 200);
    response.resolve(new Response(null, { status: 503 }));
    await within(LIMIT_MS, first);
  },
);

Deno.test("createAuthorizedFetch() asks no user for a call that has stopped waiting", async () => {
  const inner = memoryStore(expired);
  const grant = deferred<void>();
  const granted = deferred<unknown>();
  const { api, urls } = apiWith({
    ...inner,
    // It ignores the signal.
    async lock(task) {
      await grant.promise;
      const result = task();
      granted.resolve(result.catch(String));
      return await result;
    },
  });
  const call = api(MCP);
  await inner.save(sessionOf("t2"));
  assertEquals(await statusOf(within(LIMIT_MS, call)), 200);
  await inner.save(undefined);
  grant.resolve();
  assertMatch(String(await within(LIMIT_MS, granted.promise)), /^AbortError/);
  assertEquals(urls, [MCP]);
});
