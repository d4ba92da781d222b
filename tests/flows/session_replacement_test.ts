/** Sessions that are saved or revoked while they are in use. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  createAuthorizedFetch,
  type FlowRequest,
  memoryStore,
  type Session,
} from "../../mod.ts";
import {
  hold,
  type SessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { resourceFetch } from "../support/resource.ts";
import { deferred, never, statusOf, untyped } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { expiringIn, fetchAt, signedIn, test } from "./_session_world.ts";

/** A user who signs in once, and then leaves the next sign-in open. */
async function withOpenSignIn(servers: SessionServers) {
  const flow = servers.flow();
  const requests: FlowRequest[] = [];
  const opened = deferred<void>();
  const api = createAuthorizedFetch(servers.resource, {
    flow: (request) => {
      if (requests.push(request) === 1) return flow(request);
      opened.resolve();
      return never();
    },
  });
  const session = await within(LIMIT_MS, api.signIn());
  servers.revoke(true);
  return {
    api,
    session,
    requests,
    opened: () => within(LIMIT_MS, opened.promise),
  };
}

test.beforeSignIn(".save() ends a sign-in, and the calls that wait for it use the saved session", async ({ servers }) => {
  const { api, session, requests, opened } = await withOpenSignIn(servers);
  const calls = [1, 2, 3].map(() => api(servers.resource));
  await opened();
  servers.handler = ({ authorization }) =>
    authorization === "Bearer saved" ? new Response() : undefined;
  const token = { access_token: "saved", token_type: "Bearer" };
  await within(LIMIT_MS, api.save({ ...session, token }));
  assert(requests[1]!.signal!.aborted);
  for (const call of calls) assertEquals(await statusOf(call), 200);
  assertEquals(requests.length, 2);
  assertEquals((await api.session())!.token, token);
});

test.beforeSignIn(".revoke() ends a sign-in, and the calls that wait for it", async ({ servers }) => {
  const { api, requests, opened } = await withOpenSignIn(servers);
  const calls = [1, 2].map(() => api(servers.resource));
  const failures = Promise.all(
    calls.map((call) => assertRejects(() => call, DOMException)),
  );
  await opened();
  await within(LIMIT_MS, api.revoke());
  for (const { name } of await within(LIMIT_MS, failures)) {
    assertEquals(name, "AbortError");
  }
  assert(requests[1]!.signal!.aborted);
  assertEquals(requests.length, 2);
  assertEquals(await api.session(), undefined);
});

test(".revoke() waits for a refresh, and revokes its tokens", async ({ servers, api }) => {
  servers.revoke();
  const refresh = hold(({ body }) => body.includes("grant_type=refresh_token"));
  servers.server = refresh.handler;
  const call = api(servers.resource);
  await refresh.received();
  const revoked = api.revoke();
  refresh.release();
  await within(LIMIT_MS, revoked);
  assertEquals(servers.tokens(), []);
  // The call has the refreshed token, which may have been revoked on the way.
  assert([200, 401].includes(await statusOf(call)));
  assertEquals(servers.visits.length, 0);
  assertEquals(await api.session(), undefined);
});

test(".revoke() lets no call that is under way sign in again", async ({ servers, api, call }) => {
  const request = hold(() => true);
  servers.handler = request.handler;
  const first = api(servers.resource);
  await request.received();
  await within(LIMIT_MS, api.revoke());
  request.release();
  const response = await within(LIMIT_MS, first);
  assertEquals([response.status, await response.text()], [401, "refused"]);
  assertEquals(servers.visits.length, 0);
  // A later call does.
  assertEquals(await call(), 200);
  assertEquals(servers.visits.length, 1);
});

/** A store whose lock another process holds. */
function lockedStore(session: Session) {
  const lock = deferred<void>();
  const store = {
    ...memoryStore(session),
    async lock<T>(task: () => Promise<T>): Promise<T> {
      await lock.promise;
      return await task();
    },
  };
  return { store, release: () => lock.resolve() };
}

test.beforeSignIn("deletes and stores nothing once the signal of revoke() or save() has aborted", async ({ servers }) => {
  const authorize = servers.flow();
  const signedIn = createAuthorizedFetch(servers.resource, { flow: authorize });
  const session = await within(LIMIT_MS, signedIn.signIn());
  const { store, release } = lockedStore(session);
  const api = createAuthorizedFetch(servers.resource, {
    flow: authorize,
    store,
  });
  const reason = new Error("enough");
  for (
    const act of [
      (signal: AbortSignal) => api.revoke({ signal }),
      (signal: AbortSignal) => api.save({ ...session, scopes: [] }, { signal }),
    ]
  ) {
    const aborted = AbortSignal.abort(reason);
    const rejected = assertRejects(() => act(aborted));
    assertEquals(await within(LIMIT_MS, rejected), reason);
    const controller = new AbortController();
    const waiting = assertRejects(() => act(controller.signal));
    controller.abort(reason);
    assertEquals(await within(LIMIT_MS, waiting), reason);
  }
  release();
  // Runs after the tasks above.
  await within(LIMIT_MS, api.save(session));
  assertEquals(await api.session(), session);
  assertEquals(servers.received("/revoke").length, 0);
});

/** A session that was refreshed, and that the store has failed to save. */
async function unsaved(servers: SessionServers) {
  const inner = memoryStore();
  const state = { isFull: false, saves: 0 };
  const store = {
    load: inner.load,
    save(session: Session | undefined) {
      state.saves++;
      return state.isFull
        ? Promise.reject(new Error("No space left on device"))
        : inner.save(session);
    },
  };
  const { api, session: first } = await signedIn(servers, { store });
  state.isFull = true;
  servers.revoke();
  assertEquals(await statusOf(api(servers.resource)), 200);
  return { api, inner, state, first };
}

test.beforeSignIn("goes on with a refreshed session that the store fails to save, and saves it later", async ({ servers }) => {
  const { api, inner, state, first } = await unsaved(servers);
  servers.revoke();
  const calls = [1, 2, 3].map(() => api(servers.resource));
  for (const call of calls) assertEquals(await statusOf(call), 200);
  assertEquals(await inner.load(), first);
  const session = await api.session();
  state.isFull = false;
  assertEquals(await statusOf(api(servers.resource)), 200);
  assertEquals(await inner.load(), session);
  const { saves } = state;
  assertEquals(await statusOf(api(servers.resource)), 200);
  assertEquals(state.saves, saves);
  // No refresh token was sent twice.
  const sent = servers.grants("refresh_token")
    .map((form) => form.get("refresh_token"));
  assertEquals([sent.length, new Set(sent).size], [2, 2]);
  assertEquals(servers.visits.length, 0);
});

test.beforeSignIn("saves a session that the store failed to save before it renews it", async ({ servers }) => {
  const { api, inner, state } = await unsaved(servers);
  const session = await api.session();
  state.isFull = false;
  const response = await fetch(servers.resource);
  await response.body?.cancel();
  servers.server = ({ path }) =>
    path === "/token" ? new Response(null, { status: 503 }) : undefined;
  await within(LIMIT_MS, assertRejects(() => api.renew(response)));
  assertEquals(await inner.load(), session);
});

test.beforeSignIn("prefers what is stored to a session that it failed to save", async ({ servers }) => {
  const { api, inner, state, first } = await unsaved(servers);
  servers.handler = ({ authorization }) =>
    authorization === "Bearer other" ? new Response() : undefined;
  const token = { access_token: "other", token_type: "Bearer" };
  await inner.save({ ...first, token });
  state.isFull = false;
  servers.calls.length = 0;
  assertEquals(await statusOf(api(servers.resource)), 200);
  assertEquals(servers.calls[0]!.authorization, "Bearer other");
  assertEquals((await inner.load())!.token, token);
});

test.beforeSignIn(".revoke() revokes a session that could not be saved", async ({ servers }) => {
  const { api, state } = await unsaved(servers);
  state.isFull = false;
  await within(LIMIT_MS, api.revoke());
  assertEquals(servers.tokens(), []);
  assertEquals(await api.session(), undefined);
});

Deno.test("createAuthorizedFetch().revoke() resolves to whether the server has revoked the tokens", async () => {
  const unsupported = () =>
    Response.json({ error: "unsupported_token_type" }, { status: 400 });
  const rows: [
    answer: Response | undefined,
    isTold: boolean,
    type?: string,
  ][] = [
    [undefined, true],
    [new Response(null, { status: 500 }), false],
    [Response.json({ error: "invalid_client" }, { status: 401 }), false],
    // oidc-provider revokes no JWT.
    [unsupported(), true, "access_token"],
    [unsupported(), false, "refresh_token"],
    [unsupported(), false],
  ];
  await eachRowInTurn(rows, async ([answer, isTold, type = ""]) => {
    await using servers = await startSessionServers();
    const { api, store } = await signedIn(servers);
    servers.server = ({ path, body }) =>
      path === "/revoke" && body.includes(type) ? answer?.clone() : undefined;
    assertEquals(await within(LIMIT_MS, api.revoke()), isTold);
    assertEquals(await store.load(), undefined);
    await answer?.body?.cancel();
  });
  const failure = new RangeError("mine");
  await using servers = await startSessionServers();
  const { session } = await signedIn(servers);
  const api = fetchAt(servers, {
    store: memoryStore(session),
    client: untyped({
      clientId: "c1",
      method: "none",
      issuer: servers.issuer,
      authenticate: () => Promise.reject(failure),
    }),
  });
  assertEquals(await within(LIMIT_MS, api.revoke()).catch((it) => it), failure);
});

Deno.test("save() does not wait for a sign-in of another process", async () => {
  const store = memoryStore();
  const { api } = resourceFetch(undefined, {
    store: {
      ...store,
      lock: (_task, signal) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason))
        ),
    },
  });
  const session = expiringIn(3600);
  await within(LIMIT_MS, api.save(session));
  assertEquals(await store.load(), session);
});
