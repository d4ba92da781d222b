/** Stores that fail, or hang, while a session is in use. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetch,
  memoryStore,
  OAuthClientError,
  type Session,
  type SessionStore,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { MCP, pinRejected, TOKEN_ENDPOINT } from "../../support/fixtures.ts";
import {
  resourceFetch,
  type Respond,
  SESSION,
} from "../../support/resource.ts";
import { deferred, never, statusOf } from "../../support/stub_fetch.ts";
import { countTimers, skipSaveWaits, skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, until } from "../../support/within.ts";

/** A server that rotates refresh tokens, and a resource that accepts the last token. */
function rotating(count = 1) {
  const state = { count };
  const issue = () => ({
    access_token: `a${++state.count}`,
    refresh_token: `r${state.count}`,
    token_type: "Bearer",
  });
  const respond: Respond = ({ url, body, headers }) => {
    if (url === TOKEN_ENDPOINT) {
      return body.includes(`refresh_token=r${state.count}&`)
        ? Response.json(issue())
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    if (url !== MCP) return undefined;
    const last = `Bearer a${state.count}`;
    const isAccepted = headers.get("Authorization") === last;
    return new Response(null, { status: isAccepted ? 200 : 401 });
  };
  return { state, issue, respond };
}

/** A store of one session that fails, or hangs, as the test sets it. */
function faulty(session: Session | undefined) {
  const inner = memoryStore(session);
  const counts = { load: 0, save: 0, lock: 0 };
  const faults: { [Name in keyof typeof counts]?: () => Promise<never> } = {};
  const store: SessionStore = {
    load() {
      counts.load++;
      return faults.load?.() ?? inner.load();
    },
    save(next) {
      counts.save++;
      return faults.save?.() ?? inner.save(next);
    },
    lock(task) {
      counts.lock++;
      return faults.lock?.() ?? task();
    },
  };
  return { inner, counts, faults, store };
}

const fail = () => Promise.reject(new Error("No space left on device"));
const START: Session = {
  ...SESSION,
  token: { access_token: "a0", token_type: "Bearer", refresh_token: "r1" },
};

/** What another process saves. */
const SAVED: Session = {
  ...SESSION,
  token: { access_token: "saved", token_type: "Bearer" },
};

function fetchWith(store: SessionStore, server = rotating()) {
  return { server, store, ...resourceFetch(server.respond, { store }) };
}

const locking = (
  lock: NonNullable<SessionStore["lock"]>,
): SessionStore => ({ ...memoryStore(START), lock });

/** A fetch whose token has just been refreshed, and could not be saved. */
async function withUnsaved() {
  const { store, ...rest } = faulty(START);
  const { api, urls } = fetchWith(store);
  rest.faults.save = fail;
  using _waits = skipSaveWaits();
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals(rest.counts.save, 5);
  assertEquals((await api.session())!.token.refresh_token, "r2");
  assertEquals(await rest.inner.load(), START);
  Object.assign(rest.counts, { load: 0, save: 0, lock: 0 });
  urls.length = 0;
  return { api, urls, ...rest };
}

/** Makes calls at the same time, which must all succeed. */
async function callAll(api: AuthorizedFetch, count: number) {
  const calls = Array.from({ length: count }, () => statusOf(api(MCP)));
  assertEquals(await Promise.all(calls), Array(count).fill(200));
}

Deno.test("createAuthorizedFetch() uses no part of a session from a store of the user's own", async () => {
  const rows: object[] = [
    { version: undefined },
    { issuer: undefined },
    { server: undefined },
    { client: undefined, token: undefined },
  ];
  for (const lacking of rows) {
    const { inner, store } = faulty({ ...START, ...lacking });
    const { api, urls } = fetchWith(store);
    await pinRejected(() => api(MCP), "invalid_session");
    assertEquals(urls.includes(TOKEN_ENDPOINT), false);
    await api.revoke();
    assertEquals(await inner.load(), undefined);
  }
});

Deno.test("createAuthorizedFetch() keeps a refreshed session while the store can be neither written nor read", async () => {
  using _waits = skipSaveWaits();
  const server = rotating();
  const { store, faults, inner } = faulty(START);
  const { api, urls } = resourceFetch((one) => {
    if (one.url === TOKEN_ENDPOINT) faults.save = faults.load = fail;
    return server.respond(one);
  }, { store });
  assertEquals(await statusOf(api(MCP)), 200);
  delete faults.save;
  delete faults.load;
  urls.length = 0;
  // A second use of the former refresh token could revoke all tokens of the user.
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals(urls, [MCP]);
  await api.save((await api.session())!);
  assertEquals((await inner.load())!.token!.refresh_token, "r2");
});

Deno.test("createAuthorizedFetch() saves a refreshed session again under the lock, after 0.1, 0.3, 0.9 and 2.7 s", async () => {
  for (let failures = 0; failures <= 4; failures++) {
    const { store, counts, faults, inner } = faulty(START);
    let isLocked = false;
    const { api } = fetchWith({
      ...store,
      lock: async <T>(task: () => Promise<T>) => {
        isLocked = true;
        return await task().finally(() => isLocked = false);
      },
    });
    faults.save = () => {
      assert(isLocked);
      if (counts.save >= failures) delete faults.save;
      return fail();
    };
    if (failures === 0) delete faults.save;
    const waits: number[] = [];
    using _waits = skipWaits((ms) => {
      const isWait = [100, 300, 900, 2_700].includes(ms);
      if (isWait) waits.push(ms);
      return isWait;
    });
    assertEquals(await statusOf(api(MCP)), 200);
    assertEquals(waits, [100, 300, 900, 2_700].slice(0, failures));
    // Another store object, as of the next request, has no memory of it.
    assertEquals((await inner.load())!.token!.refresh_token, "r2");
  }
});

Deno.test("createAuthorizedFetch() makes one attempt at a time to save a session that could not be saved", async () => {
  const { api, urls, counts, faults, inner } = await withUnsaved();
  await callAll(api, 100);
  assertEquals(urls.length, 100);
  assertEquals([counts.save, counts.lock], [1, 1]);
  // The next calls try again.
  delete faults.save;
  await until(LIMIT_MS, async () => {
    await callAll(api, 1);
    return (await inner.load())!.token!.refresh_token === "r2";
  });
});

Deno.test("createAuthorizedFetch() does not save a session again that another process has replaced or revoked", async () => {
  await eachRowInTurn(
    [[SAVED, 200], [undefined, 0]] as const,
    async ([other, status]) => {
      using _waits = skipSaveWaits();
      const server = rotating();
      const { store, counts, faults, inner } = faulty(START);
      const { api } = resourceFetch((one) => {
        const isSaved = one.headers.get("Authorization") === "Bearer saved";
        return isSaved && one.url === MCP
          ? new Response(null, { status: 200 })
          : server.respond(one);
      }, { store });
      faults.save = async () => {
        delete faults.save;
        await inner.save(other);
        return await fail();
      };
      const ended = statusOf(api(MCP)).catch((error) => {
        assertEquals(error.name, "AbortError");
        return 0;
      });
      assertEquals(await ended, status);
      assertEquals(await inner.load(), other);
      assertEquals(counts.save, 1);
    },
  );
});

Deno.test("createAuthorizedFetch() goes on with a session that could not be saved while the lock fails or hangs", async () => {
  for (const fault of [fail, () => never<never>()]) {
    const { api, counts, faults } = await withUnsaved();
    faults.lock = fault;
    await callAll(api, 3);
    assertEquals(counts.lock, 1);
  }
});

Deno.test("createAuthorizedFetch() keeps a sign-in that cannot be saved, and asks the user once", async () => {
  using _waits = skipSaveWaits();
  const other = { ...START, resource: "https://api.example/other" };
  for (const stored of [undefined, START, other]) {
    const server = rotating(7);
    const { store, counts, faults, inner } = faulty(stored);
    faults.save = fail;
    let asked = 0;
    const { api } = resourceFetch(server.respond, {
      store,
      flow: () => {
        asked++;
        return Promise.resolve({ ...SESSION, token: server.issue() });
      },
    });
    for (let round = 0; round < 3; round++) await callAll(api, 2);
    assertEquals(asked, 1);
    assertEquals(await inner.load(), stored);
    delete faults.save;
    counts.save = 0;
    await callAll(api, 1);
    await callAll(api, 1);
    assertEquals(counts.save, 1);
    assertEquals((await inner.load())!.token!.access_token, "a8");
  }
});

Deno.test("createAuthorizedFetch() remembers that a refresh token is invalid where that cannot be saved", async () => {
  // The end of a session is not saved again under the lock.
  const server = rotating(7);
  const { store, faults } = faulty(START);
  faults.save = fail;
  const refusal = new Error("not now");
  let sent = 0;
  const { api } = resourceFetch((one) => {
    if (one.body.includes("grant_type=refresh_token")) sent++;
    return server.respond(one);
  }, { store, flow: () => Promise.reject(refusal) });
  for (const refreshes of [1, 0]) {
    sent = 0;
    assertEquals(await assertRejects(() => api(MCP)), refusal);
    assertEquals(sent, refreshes);
  }
});

Deno.test("createAuthorizedFetch() returns the result of a task although its lock cannot be released", async () => {
  const { api, server } = fetchWith(locking(async (task) => {
    await task();
    return await fail();
  }));
  assertEquals(await statusOf(api(MCP)), 200);
  // Neither does the next renewal, nor save() and revoke().
  const token = server.issue();
  await api.save({ ...SESSION, token });
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals((await api.session())!.token, token);
  await api.revoke().catch(() => {});
  assertEquals(await api.session(), undefined);
});

Deno.test("createAuthorizedFetch() waits for a lock that is released, and leaves no timer", async () => {
  const server = rotating();
  const released = deferred<void>();
  let isReleased = false;
  const store = locking(async (task) => {
    const result = await task();
    await released.promise;
    isReleased = true;
    return result;
  });
  const { api, urls } = resourceFetch((one) => {
    if (one.url === TOKEN_ENDPOINT) void turn().then(() => released.resolve());
    return server.respond(one);
  }, { store });
  using timers = countTimers();
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals([isReleased, urls.length], [true, 3]);
  assertEquals(timers.running.size, 0);
});

Deno.test("createAuthorizedFetch() finishes a refresh whose lock is lost", async () => {
  const { api, store } = fetchWith(locking((task) => {
    task().catch(() => {});
    return Promise.reject(new Error("The lock is lost"));
  }));
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals((await store.load())!.token!.refresh_token, "r2");
});

Deno.test("createAuthorizedFetch() fails with what the lock throws before the task", async () => {
  const { store, faults } = faulty(undefined);
  const reason = new Error("READONLY");
  faults.lock = () => Promise.reject(reason);
  const { api } = resourceFetch(() => undefined, { store });
  for (const call of [api.signIn, () => api.save(SESSION), api.revoke]) {
    assertEquals(await assertRejects(() => call()), reason);
  }
});

type Call = (api: AuthorizedFetch, signal: AbortSignal) => Promise<unknown>;
const CALLS: Record<string, Call> = {
  "": (api, signal) => api(MCP, { signal }),
  ".authorize": (api, signal) => api.signIn({ signal }),
  ".save": (api, signal) => api.save(SESSION, { signal }),
  ".revoke": (api, signal) => api.revoke({ signal }),
};
const ABORTS = (["load", "save", "lock"] as const).flatMap((hangs) =>
  Object.entries(CALLS).map(([name, call]) => ({ name, call, hangs }))
);

for (const { name, call, hangs } of ABORTS) {
  // save() does not load.
  if (hangs === "load" && name === ".save") continue;
  Deno.test(`createAuthorizedFetch()${name}() ends by an abort while ${hangs}() of its store hangs`, async () => {
    const { store, faults } = faulty(undefined);
    const hanging = deferred<void>();
    faults[hangs] = () => {
      hanging.resolve();
      return never();
    };
    const { api } = resourceFetch(
      ({ url }) =>
        url === MCP ? new Response(null, { status: 401 }) : undefined,
      { store, flow: () => Promise.resolve(SESSION) },
    );
    const controller = new AbortController();
    const reason = new Error("enough");
    let isSettled = false;
    const ended = call(api, controller.signal)
      .catch((error) => assertEquals(error, reason))
      .finally(() => isSettled = true);
    await hanging.promise;
    controller.abort(reason);
    // An abort ends a call at once; the next turn comes after all that it leads to.
    await turn();
    assert(isSettled);
    await ended;
  });
}

Deno.test("createAuthorizedFetch().revoke() deletes a value that is no session, and leaves one that cannot be read now", async () => {
  const { inner, faults, store } = faulty(SESSION);
  const { api } = resourceFetch(() => undefined, { store });
  const down = new Error("down");
  faults.load = () => Promise.reject(down);
  await assertRejects(() => api.revoke(), Error, "down");
  assertEquals(await inner.load(), SESSION);
  const noSession = new OAuthClientError("invalid_session", "Not a session");
  faults.load = () => Promise.reject(noSession);
  assertEquals(await api.revoke(), false);
  assertEquals(await inner.load(), undefined);
});
