/** Which registration a sign-in uses, and when it is given up. */
import { internalOf } from "../../lib/session/_internal.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type CodeFlowOptions,
  type Flow,
  memoryStore,
  OAuthClientError,
  type PendingAuthorization,
  type SessionStore,
  type Visit,
} from "../../mod.ts";
import {
  type SessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { eachRow } from "../support/each_row.ts";
import { deferred, never, statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  fetchAt,
  type SessionWorld,
  signedIn,
  test,
  withoutRefresh,
} from "./_session_world.ts";

test("registers anew, once, when the server no longer knows the client", async ({ servers, api, session, calls, sent }) => {
  servers.revoke(true);
  servers.forgetClients();
  await calls();
  sent({ refreshes: 1, visits: 1, registrations: 1 });
  const { client } = (await api.session())!;
  assert(client!.client_id !== session.client!.client_id);
});

test("registers anew before it sends the user to a server that has forgotten the client", async ({ servers, store, session, call, sent }) => {
  await store.save(withoutRefresh(session));
  servers.revoke(true);
  servers.forgetClients();
  assertEquals(await call(), 200);
  sent({ visits: 1, registrations: 1 });
});

/** Has the token endpoint say that it knows every client, where the code is made up. */
function claimsToKnow(servers: SessionServers): void {
  servers.server = ({ path, body }) => {
    const code = new URLSearchParams(body).get("code");
    return path === "/token" && code && !code.startsWith("code")
      ? Response.json({ error: "invalid_grant" }, { status: 400 })
      : undefined;
  };
}

/** Deletes the clients after the visit: the authorization endpoint does not look. */
function forgetLate(servers: SessionServers): void {
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
  servers: SessionServers,
  end: (visit: Visit) => Promise<string>,
  options: Partial<CodeFlowOptions> = {},
) {
  const { store, session } = await signedIn(servers);
  claimsToKnow(servers);
  servers.revoke();
  await store.save(withoutRefresh(session));
  const left = deferred<boolean | undefined>();
  const api = fetchAt(servers, {
    store,
    flow: servers.flow({
      ...options,
      visit: async (_url, visit) => {
        left.resolve(internalOf(await store.load()).isUserAway);
        return await end(visit);
      },
    }),
  });
  return {
    api,
    store,
    session,
    /** Waits for the visit; returns whether the stored session says so. */
    left: () => within(LIMIT_MS, left.promise),
    isUserAway: async () => internalOf(await store.load()).isUserAway,
    /** Signs in by another fetch; returns how many clients were registered. */
    async registrations() {
      const next = fetchAt(servers, { store });
      // The user is asked again only by signIn().
      await statusOf(next(servers.resource)).catch(() => {});
      await next.signIn();
      assertEquals(await statusOf(next(servers.resource)), 200);
      assertEquals(internalOf(await store.load()).isUserAway, undefined);
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
    let pending: PendingAuthorization | undefined;
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
    const client = pending!.client!;
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
    let pending: PendingAuthorization | undefined;
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
  const store: SessionStore = {
    load: inner.load,
    save: (session) => (saved++, inner.save(session)),
  };
  const flow = servers.flow({ visit: () => Promise.reject(end) });
  const api = fetchAt(servers, { store, flow: flow });
  const fail = () => assertRejects(() => api.signIn(), Error, "No");
  for (let i = 0; i < 2; i++) await fail();
  assertEquals(servers.received("/register").length, 2);
  assertEquals([saved, await store.load()], [0, undefined]);
  // Replaces the client of a session that has none.
  const { client: _, ...none } = withoutRefresh(session);
  await store.save(none);
  servers.revoke();
  await assertRejects(() => api(servers.resource), Error, "No");
  assertEquals(internalOf(await store.load()).isUserAway, undefined);
});

/** Functions that wrap a flow: by what is documented. */
const WRAPPERS: [what: string, wrap: (flow: Flow) => Flow][] = [
  [
    "a copy of its argument",
    (flow) => (request) => flow({ ...request, scopes: ["read"] }),
  ],
  [
    "each documented member",
    (flow) =>
    ({ context, scopes, session, fetch, internal, now, signal, ...rest }) =>
      flow({
        ...{ context: { ...context }, scopes, session, fetch, internal },
        ...{ now, signal, allowHttp: rest.allowHttp, dpop: rest.dpop },
      }),
  ],
];

eachRow(WRAPPERS, ([what, wrap]) => {
  test(`marks the registration where a flow passes on ${what}`, async ({ servers, store, session }) => {
    await store.save(withoutRefresh(session));
    servers.revoke();
    const closed = new OAuthClientError("popup_closed", "Closed");
    const flow = servers.flow({ visit: () => Promise.reject(closed) });
    const api = fetchAt(servers, { store, flow: wrap(flow) });
    await assertRejects(() => api(servers.resource), OAuthClientError, "Clos");
    assertEquals(internalOf(await store.load()).isUserAway, true);
  });
});

test("knows the list of named clients of a flow that is wrapped", async ({ servers, store, session }) => {
  const known = { issuer: servers.issuer, client_id: "named" };
  await store.save({ ...withoutRefresh(session), client: known });
  servers.revoke();
  const flow = servers.flow({
    knownClients: [known],
    visit: () => Promise.reject(new OAuthClientError("popup_closed", "Closed")),
  });
  const authorize: Flow = (request) => flow(request);
  const { client, knownClients, needsUser } = flow;
  const api = fetchAt(servers, {
    store,
    flow: Object.assign(authorize, { client, knownClients, needsUser }),
  });
  await assertRejects(() => api(servers.resource), OAuthClientError, "Closed");
  assertEquals(internalOf(await store.load()).isUserAway, undefined);
});

/** Fails unless a call finds out, at a sign-in, that the client was deleted. */
async function assertFindsDeleted(
  { servers, call }: SessionWorld,
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
  assertEquals(internalOf(await api.session()).isUserAway, true);
  assertEquals(await call(), 200);
  sent({ visits: 2, registrations: 1 });
});

test("gives up a registration that is deleted, if the refreshed token was refused", async (world) => {
  const { servers, api, sent } = world;
  servers.handler = () => void servers.revoke();
  await assertFindsDeleted(world);
  sent({ refreshes: 1, visits: 1 });
  assertEquals(internalOf(await api.session()).isUserAway, true);
});

test("gives up a registration that a step-up finds deleted, and keeps the token", async (world) => {
  const { api, session, call, sent, scopes } = world;
  await assertFindsDeleted(world, "/write");
  assertEquals(await api.session(), {
    ...session,
    internal: { isUserAway: true },
  });
  assertEquals(await call(), 200);
  sent({ visits: 1 });
  // The next step-up has a registration of its own.
  assertEquals(await call("/write"), 200);
  assertEquals(scopes()[1], "read write");
  sent({ visits: 2, registrations: 1 });
});

test("neither refreshes nor revokes with a client that was deleted", async ({ servers, api, store, session, call, sent }) => {
  const { client: _, ...none } = session;
  await store.save(none);
  servers.revoke();
  assertEquals(await call(), 200);
  sent({ visits: 1, registrations: 1 });
  await store.save(none);
  await api.revoke();
  assertEquals(servers.received("/revoke"), []);
  assertEquals(await api.session(), undefined);
});
