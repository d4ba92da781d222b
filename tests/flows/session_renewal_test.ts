/** How a session is renewed, over real sockets. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type ICodeFlowOptions,
  type IPendingAuthorization,
  type ISession,
  type ISessionStore,
  type IVisit,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import {
  type ISessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { deferred, never, statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  CALLERS,
  fetchAt,
  type ISessionWorld,
  refusal,
  signedIn,
  test,
  withoutRefresh,
} from "./_session_world.ts";

/** Makes calls at the same time, which all succeed. */
async function succeed(call: (n: number) => Promise<Response>): Promise<void> {
  const calls = Array.from({ length: CALLERS }, (_, n) => statusOf(call(n)));
  assertEquals(await Promise.all(calls), Array(CALLERS).fill(200));
}

Deno.test("createAuthorizedFetch() authorizes once for 20 first calls", async () => {
  await using servers = await startSessionServers();
  const api = fetchAt(servers);
  await succeed(() => api(servers.resource));
  assertEquals(servers.visits.length, 1);
  assertEquals(servers.received("/register").length, 1);
  const { searchParams } = servers.visits[0]!;
  assertEquals(searchParams.get("scope"), "read");
  assertEquals(searchParams.get("resource"), servers.resource);
  const [form] = servers.grants("authorization_code");
  assertEquals(form!.get("resource"), servers.resource);
});

test("refreshes once for 20 calls after expiry, before they are made", async ({ servers, clock, calls, sent }) => {
  clock.now += 3_600_000;
  await calls();
  sent({ refreshes: 1 });
  assertEquals(servers.calls.length, CALLERS);
  const [form] = servers.grants("refresh_token");
  assertEquals(form!.get("resource"), servers.resource);
  assertEquals(form!.get("scope"), null);
});

test("refreshes once for 20 calls after a revocation", async ({ servers, calls, sent }) => {
  servers.revoke();
  await calls();
  sent({ refreshes: 1 });
});

test("authorizes once for 20 calls when the refresh token is invalid, and keeps the client", async ({ servers, api, session, calls, sent }) => {
  servers.revoke(true);
  await calls();
  sent({ refreshes: 1, visits: 1 });
  assertEquals((await api.session())!.client, session.client);
});

test("steps up once for 20 calls, with the union of the scopes", async ({ api, calls, sent, scopes }) => {
  await calls(() => "/write");
  sent({ visits: 1 });
  assertEquals(scopes(), ["read write"]);
  assertEquals((await api.session())!.scopes, ["read", "write"]);
});

Deno.test("createAuthorizedFetch() loses no scope when two calls step up at the same time", async () => {
  await using servers = await startSessionServers();
  const { api } = await signedIn(servers, {
    authorize: servers.flow({ scopes: ["read"] }),
  });
  await succeed((n) => api(`${servers.resource}/${n % 2 ? "write" : "admin"}`));
  assertEquals(servers.visits.length, 2);
  const { scopes } = (await api.session())!;
  assertEquals(scopes.toSorted(), ["admin", "read", "write"]);
});

test("returns a 403 that names scopes already requested, with its body", async ({ servers, refused, sent }) => {
  servers.handler = () =>
    refusal(403, 'error="insufficient_scope", scope="read"', "no");
  await refused(403, "no");
  sent({});
  assertEquals(servers.calls.length, 1);
});

test("returns the fourth refusal as it is", async ({ servers, refused, sent, scopes }) => {
  servers.handler = () => {
    const { length } = servers.calls;
    const challenge = `error="insufficient_scope", scope="s${length}"`;
    return refusal(403, challenge, `no ${length}`);
  };
  await refused(403, "no 4");
  sent({ visits: 3 });
  assertEquals(servers.calls.length, 4);
  assertEquals(scopes(), ["read s1", "read s1 s2", "read s1 s2 s3"]);
});

Deno.test("createAuthorizedFetch() returns the 401 of a token fresh from authorize, with its body", async () => {
  await using servers = await startSessionServers();
  servers.handler = () => new Response("never", { status: 401 });
  const api = fetchAt(servers);
  const response = await within(LIMIT_MS, api(servers.resource));
  assertEquals([response.status, await response.text()], [401, "never"]);
  assertEquals([servers.calls.length, servers.visits.length], [2, 1]);
});

test("authorizes when a refreshed token is refused as well", async ({ servers, bearer, call, sent }) => {
  servers.handler = ({ authorization }) =>
    authorization === bearer || servers.visits.length === 0
      ? new Response(null, { status: 401 })
      : undefined;
  assertEquals(await call(), 200);
  sent({ refreshes: 1, visits: 1 });
});

test("steps up by RFC 9470, without a refresh, and once for the same requirement", async ({ servers, call, refused, sent, scopes }) => {
  const challenge =
    'error="insufficient_user_authentication", acr_values="mfa", max_age="60"';
  const again = () => refusal(401, challenge, "sign in again");
  servers.handler = () => servers.visits.length ? undefined : again();
  assertEquals(await call(), 200);
  sent({ visits: 1 });
  const { searchParams } = servers.visits[0]!;
  assertEquals(searchParams.get("acr_values"), "mfa");
  assertEquals(searchParams.get("max_age"), "60");
  assertEquals(scopes(), ["read"]);

  servers.handler = again;
  await refused(401, "sign in again");
  sent({ visits: 2 });
});

const STEP_UPS: [required: string[], visits: number][] = [
  // Nothing but the need of a sign-in, which the stored session has not met.
  [[""], 1],
  [["", ""], 1],
  [[', acr_values="mfa"', ', acr_values="phr"'], 2],
  [[', max_age="60"', ', max_age="0"'], 2],
  [[', acr_values="mfa"', ', acr_values="mfa", max_age="60"'], 2],
];

for (const [required, visits] of STEP_UPS) {
  test(`steps up by RFC 9470 again for each other requirement of one call: ${required.join(" then")}`, async ({ servers, call, sent }) => {
    servers.handler = () => {
      const parameters = required[servers.visits.length];
      return parameters === undefined ? undefined : refusal(
        401,
        `error="insufficient_user_authentication"${parameters}`,
      );
    };
    await call();
    sent({ visits });
  });
}

const overloaded = () =>
  new Response(null, { status: 503, headers: { "Retry-After": "7" } });

for (
  const [name, respond, timeoutMs, expected] of [
    ["a 503", overloaded, undefined, ["unexpected_status", 503, 7]],
    ["a timeout", never<Response>, 50, ["timeout", undefined, undefined]],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() keeps the session and shares the error when a refresh fails with ${name}`, async () => {
    await using servers = await startSessionServers();
    const { store, clock, session } = await signedIn(servers);
    clock.now += 3_600_000;
    const now = () => clock.now;
    const api = fetchAt(servers, { store, now, timeoutMs });
    servers.server = ({ path }) => path === "/token" ? respond() : undefined;
    const errors = new Set<OAuthClientError>();
    await succeed(() =>
      api(servers.resource).catch((error) => {
        errors.add(error);
        return new Response();
      })
    );
    const found = [...errors].map(({ code, status, retryAfter }) => [
      ...[code, status, retryAfter],
    ]);
    assertEquals(found, [[...expected]]);
    assertEquals(servers.received("/token").length, 1);
    assertEquals(servers.visits.length, 0);
    assertEquals(await store.load(), session);
    servers.server = () => undefined;
    clock.now += 7_000;
    // Without the short limit, which is for the call that fails.
    const again = timeoutMs ? fetchAt(servers, { store, now }) : api;
    assertEquals(await statusOf(again(servers.resource)), 200);
  });
}

test("registers anew, once, when the server no longer knows the client", async ({ servers, api, session, calls, sent }) => {
  servers.revoke(true);
  servers.forgetClients();
  await calls();
  sent({ refreshes: 1, visits: 1, registrations: 1 });
  const { client } = (await api.session())!;
  assert(client.client_id !== session.client.client_id);
});

test("registers anew before it sends the user to a server that has forgotten the client", async ({ servers, store, session, call, sent }) => {
  await store.save(withoutRefresh(session));
  servers.revoke(true);
  servers.forgetClients();
  assertEquals(await call(), 200);
  sent({ visits: 1, registrations: 1 });
});

/** Has the token endpoint say that it knows every client, where the code is made up. */
function claimsToKnow(servers: ISessionServers): void {
  servers.server = ({ path, body }) => {
    const code = new URLSearchParams(body).get("code");
    return path === "/token" && code && !code.startsWith("code")
      ? Response.json({ error: "invalid_grant" }, { status: 400 })
      : undefined;
  };
}

/** Deletes the clients after the visit: the authorization endpoint does not look. */
function forgetLate(servers: ISessionServers): void {
  const { server } = servers;
  let isDone = false;
  servers.server = (received) => {
    if (!isDone && received.body.includes("code=code")) {
      isDone = true;
      servers.forgetClients();
    }
    return server(received);
  };
}

/** A session that needs its user, at a server that lets `end` end the next visit. */
async function visiting(
  servers: ISessionServers,
  end: (visit: IVisit) => Promise<string>,
  options: Partial<ICodeFlowOptions> = {},
) {
  const { store, session } = await signedIn(servers);
  claimsToKnow(servers);
  servers.revoke();
  await store.save(withoutRefresh(session));
  const left = deferred<boolean | undefined>();
  const api = fetchAt(servers, {
    store,
    authorize: servers.flow({
      ...options,
      visit: async (_url, visit) => {
        left.resolve((await store.load())?.isUserAway);
        return await end(visit);
      },
    }),
  });
  return {
    ...{ api, store, session },
    /** Waits for the visit; returns whether the stored session says so. */
    left: () => within(LIMIT_MS, left.promise),
    isUserAway: async () => (await store.load())?.isUserAway,
    /** Signs in by another fetch; returns how many clients were registered. */
    async registrations() {
      const next = fetchAt(servers, { store });
      // The user is asked again only by authorize().
      await statusOf(next(servers.resource)).catch(() => {});
      await next.authorize();
      assertEquals(await statusOf(next(servers.resource)), 200);
      assertEquals((await store.load())?.isUserAway, undefined);
      return servers.received("/register").length;
    },
  };
}

/** How the first visit ends, with a registration that the server has forgotten. */
const LOST_VISITS: [name: string, end: unknown, isMarked: boolean][] = [
  ["never ends", undefined, true],
  [
    "ends with an error of a receiver",
    new OAuthClientError("timeout", "No response"),
    true,
  ],
  [
    "goes on after the page was left",
    new OAuthClientError("redirected", "Left"),
    true,
  ],
  [
    "has not begun, as the popup was blocked",
    new OAuthClientError("popup_blocked", "Blocked"),
    false,
  ],
  ["is aborted", new DOMException("Closed", "AbortError"), true],
  ["goes on in a web server", new Error("redirect"), false],
  ["comes back with a refusal", "error=access_denied", false],
  ["comes back with a refusal of it", "error=unauthorized_client", true],
  ["comes back with a code that is refused", "code=other", false],
  ["seems to come back", "error=access_denied&state=other", true],
];

for (const [name, end, isMarked] of LOST_VISITS) {
  Deno.test(`createAuthorizedFetch() ${isMarked ? "registers anew" : "keeps the registration"} after a visit that ${name}`, async () => {
    await using servers = await startSessionServers();
    const { api, left, isUserAway, registrations } = await visiting(
      servers,
      ({ pending: { state } }) =>
        typeof end === "string"
          ? Promise.resolve(
            end.includes("state=")
              ? end
              : `${end}&state=${state}&iss=${servers.issuer}`,
          )
          : end
          ? Promise.reject(end)
          : never(),
    );
    const controller = new AbortController();
    const { signal } = controller;
    const call = api(servers.resource, { signal }).catch(() => {});
    assertEquals(await left(), true);
    // The program ends while its user is away.
    if (!end) controller.abort();
    await within(LIMIT_MS, call);
    assertEquals(await isUserAway(), isMarked || undefined);
    assertEquals(await registrations(), isMarked ? 1 : 0);
  });
}

/** How a visit goes on elsewhere, and whether the registration is marked then. */
const ELSEWHERE: [where: string, end: Error, isMarked: boolean][] = [
  ["a page that was left", new OAuthClientError("redirected", "Left"), true],
  ["a web server", new Error("Left"), false],
];

for (
  const [error, [where, end, isMarked]] of [
    "access_denied",
    "unauthorized_client",
  ]
    .flatMap((error) => ELSEWHERE.map((row) => [error, row] as const))
) {
  const isKept = error === "access_denied";
  Deno.test(`finish() ${isKept ? "keeps" : "gives up"} the registration of a user who comes back to ${where} with ${error}`, async () => {
    await using servers = await startSessionServers();
    let pending: IPendingAuthorization | undefined;
    const { api, isUserAway, registrations } = await visiting(
      servers,
      (visit) => {
        ({ pending } = visit);
        return Promise.reject(end);
      },
    );
    await assertRejects(() => api(servers.resource), Error, "Left");
    const finish = (state: string) =>
      assertRejects(
        () =>
          api.finish(
            new URLSearchParams({ error, state, iss: servers.issuer }),
            pending!,
          ),
        OAuthClientError,
      );
    await finish("another");
    assertEquals(await isUserAway(), isMarked || undefined);
    // Of a client that the session in the store is not of, as it was replaced.
    const { client } = pending!;
    pending!.client = { ...client, client_id: "another" };
    await finish(pending!.state);
    assertEquals(await isUserAway(), isMarked || undefined);
    pending!.client = client;
    await finish(pending!.state);
    assertEquals(await isUserAway(), isKept ? undefined : true);
    assertEquals(await registrations(), isKept ? 0 : 1);
  });
}

for (const option of ["client", "knownClients"]) {
  Deno.test(`createAuthorizedFetch() never drops or marks a client that the caller has named by ${option}`, async () => {
    await using servers = await startSessionServers();
    const client = { issuer: servers.issuer, client_id: "named" };
    const named = option === "client" ? { client } : { knownClients: [client] };
    let pending: IPendingAuthorization | undefined;
    const { api, left, isUserAway, store, session } = await visiting(
      servers,
      (visit) => {
        ({ pending } = visit);
        return never();
      },
      named,
    );
    await store.save({ ...withoutRefresh(session), client });
    const controller = new AbortController();
    const { signal } = controller;
    const call = api(servers.resource, { signal }).catch(() => {});
    assertEquals(await left(), undefined);
    controller.abort();
    await within(LIMIT_MS, call);
    const { state } = pending!;
    const error = "unauthorized_client";
    const response = { error, state, iss: servers.issuer };
    const finished = api.finish(new URLSearchParams(response), pending!);
    await assertRejects(() => finished, OAuthClientError, error);
    assertEquals(await isUserAway(), undefined);
    assertEquals(servers.received("/register").length, 0);
    // The server is not asked either whether it knows the client.
    assertEquals(servers.received("/token").length, 0);
  });
}

test("marks no new registration, and stores nothing for a first sign-in that does not end", async ({ servers, session }) => {
  const end = new OAuthClientError("timeout", "No response");
  let saved = 0;
  const inner = memoryStore();
  const store: ISessionStore = {
    load: inner.load,
    save: (session) => (saved++, inner.save(session)),
  };
  const visited: (string | undefined)[] = [];
  const flow = servers.flow({
    visit: (_url, { pending }) => {
      visited.push(pending.client.client_id);
      return Promise.reject(end);
    },
  });
  const api = fetchAt(servers, { store, authorize: flow });
  const fail = () => assertRejects(() => api.authorize(), Error, "No");
  for (let i = 0; i < 3; i++) await fail();
  // It is kept after the first visit, and given up after the second.
  assertEquals(visited[0], visited[1]);
  assert(visited[1] !== visited[2]);
  assertEquals([saved, await store.load()], [0, undefined]);
  // Replaces the client of a session that has none.
  const none = { issuer: session.issuer, client_id: "" };
  await store.save({ ...withoutRefresh(session), client: none });
  servers.revoke();
  await assertRejects(() => api(servers.resource), Error, "No");
  assertEquals((await store.load())?.isUserAway, undefined);
});

test("marks the registration where authorize passes a copy of its argument on", async ({ servers, store, session }) => {
  await store.save(withoutRefresh(session));
  servers.revoke();
  const flow = servers.flow({
    visit: () => Promise.reject(new OAuthClientError("popup_closed", "Closed")),
  });
  const api = fetchAt(servers, {
    store,
    authorize: (request) => flow({ ...request, scopes: ["read"] }),
  });
  await assertRejects(() => api(servers.resource), OAuthClientError, "Closed");
  assertEquals((await store.load())?.isUserAway, true);
});

Deno.test("createAuthorizedFetch() does not use a registration that a refresh finds deleted, though its flow remembers it", async () => {
  await using servers = await startSessionServers();
  const pendings: IPendingAuthorization[] = [];
  const urls: URL[] = [];
  const api = fetchAt(servers, {
    store: memoryStore(),
    authorize: servers.flow({
      visit: (url, { pending }) => {
        urls.push(url);
        pendings.push(pending);
        return Promise.reject(new Error("redirect"));
      },
    }),
  });
  const leave = () => assertRejects(() => api(servers.resource), Error, "red");
  await leave();
  const response = await fetch(urls[0]!, { redirect: "manual" });
  await response.body?.cancel();
  await api.finish(response.headers.get("Location")!, pendings[0]!);
  servers.revoke();
  servers.forgetClients();
  await leave();
  assertEquals(servers.grants("refresh_token").length, 1);
  assertEquals(servers.received("/register").length, 2);
  const [first, second] = pendings.map(({ client }) => client.client_id);
  assert(first !== second);
});

/** Fails unless a call finds out, at a sign-in, that the client was deleted. */
async function assertFindsDeleted(
  { servers, call }: ISessionWorld,
  path?: string,
): Promise<void> {
  claimsToKnow(servers);
  forgetLate(servers);
  const { error } = await assertRejects(() => call(path), OAuthClientError);
  assertEquals([error, servers.visits.length], ["invalid_client", 1]);
}

test("gives up a registration that the sign-in finds deleted", async (world) => {
  const { servers, api, store, session, call, sent } = world;
  await store.save(withoutRefresh(session));
  servers.revoke(true);
  await assertFindsDeleted(world);
  assertEquals((await api.session())?.isUserAway, true);
  assertEquals(await call(), 200);
  sent({ visits: 2, registrations: 1 });
});

test("gives up a registration that is deleted, if the refreshed token was refused", async (world) => {
  const { servers, api, sent } = world;
  servers.handler = () => void servers.revoke();
  await assertFindsDeleted(world);
  sent({ refreshes: 1, visits: 1 });
  assertEquals((await api.session())?.isUserAway, true);
});

test("gives up a registration that a step-up finds deleted, and keeps the token", async (world) => {
  const { api, session, call, sent, scopes } = world;
  await assertFindsDeleted(world, "/write");
  assertEquals(await api.session(), { ...session, isUserAway: true });
  assertEquals(await call(), 200);
  sent({ visits: 1 });
  // The next step-up has a registration of its own.
  assertEquals(await call("/write"), 200);
  assertEquals(scopes()[1], "read write");
  sent({ visits: 2, registrations: 1 });
});

test("neither refreshes nor revokes with a client that was deleted", async ({ servers, api, store, session, call, sent }) => {
  const client = { issuer: session.issuer, client_id: "" };
  await store.save({ ...session, client });
  servers.revoke();
  assertEquals(await call(), 200);
  sent({ visits: 1, registrations: 1 });
  await store.save({ ...session, client });
  await api.revoke();
  assertEquals(servers.received("/revoke"), []);
  assertEquals(await api.session(), undefined);
});

test("uses what another process has stored in the meantime", async ({ servers, store, session, call, sent }) => {
  servers.revoke();
  // The other process stores its token while the first request is under way.
  servers.handler = async ({ authorization }) => {
    if (authorization === "Bearer other") return new Response();
    const token = { ...session.token, access_token: "other" };
    await store.save({ ...session, token });
    return undefined;
  };
  assertEquals(await call(), 200);
  sent({});
  assertEquals(servers.received("/token").length, 0);
});

Deno.test("createAuthorizedFetch() renews under the lock of the store, which no response body holds", async () => {
  await using servers = await startSessionServers();
  let locked = 0;
  let most = 0;
  const inner = memoryStore();
  const store = {
    load: inner.load,
    save(session: ISession | undefined) {
      assertEquals(locked, 1);
      return inner.save(session);
    },
    async lock<T>(task: () => Promise<T>): Promise<T> {
      most = Math.max(most, ++locked);
      try {
        return await task();
      } finally {
        locked--;
      }
    },
  };
  const api = fetchAt(servers, { store });
  const response = await within(LIMIT_MS, api(servers.resource));
  assertEquals([locked, most], [0, 1]);
  await response.body?.cancel();
});

test("shares renewals between fetches of one store", async ({ servers, store, sent }) => {
  servers.revoke();
  const apis = Array.from(
    { length: CALLERS },
    () => fetchAt(servers, { store }),
  );
  await succeed((n) => apis[n]!(servers.resource));
  sent({ refreshes: 1 });
});

test("serves calls that require five different scopes at the same time", async ({ calls, sent }) => {
  await calls((n) => `/s${n % 5}`);
  sent({ visits: 5 });
});
