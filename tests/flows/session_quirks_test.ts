/** What servers that people run do, and sessions get along with. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  createAuthorizedFetch,
  type IAuthorizedFetchOptions,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import {
  type ISessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { assertRejectsCode } from "../support/fixtures.ts";
import { deferred, statusOf, untyped } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";

function fetchFor(
  servers: ISessionServers,
  options: Partial<IAuthorizedFetchOptions> = {},
) {
  return createAuthorizedFetch(servers.resource, {
    authorize: servers.flow(),
    ...options,
  });
}

/** A fetch whose user has signed in, and its store and clock. */
async function signedIn(servers: ISessionServers) {
  const clock = { now: Date.now() };
  const store = memoryStore();
  const api = fetchFor(servers, { store, now: () => clock.now });
  const session = await within(LIMIT_MS, api.authorize());
  servers.calls.length = servers.requests.length = servers.visits.length = 0;
  return { api, store, session, clock };
}

const scopeOf = ({ searchParams }: URL) => searchParams.get("scope");

/** Challenges each call without a valid token to request a scope. */
function challengeScope(servers: ISessionServers, scope: string): void {
  servers.handler = ({ authorization }) =>
    servers.tokens().includes(`${authorization?.slice(7)}`)
      ? undefined
      : new Response(null, {
        status: 401,
        headers: { "WWW-Authenticate": `Bearer scope="${scope}"` },
      });
}

Deno.test("createAuthorizedFetch().authorize() requests the resource without a token for its challenge, whatever the status", async () => {
  for (const status of [200, 302, 401, 403, 404, 405, 500]) {
    await using servers = await startSessionServers();
    servers.handler = ({ method, authorization, headers }) => {
      assertEquals([method, authorization, headers.get("x")], [
        "GET",
        null,
        "1",
      ]);
      return new Response(null, {
        status,
        headers: {
          "WWW-Authenticate": 'Bearer scope="challenged"',
          Location: "/elsewhere",
        },
      });
    };
    const asked: string[] = [];
    const api = fetchFor(servers, {
      sameOriginHeaders: { x: "1" },
      allowUrl: (url, purpose) => {
        if (purpose === "resource") asked.push(url.href);
        return true;
      },
    });
    await within(LIMIT_MS, api.authorize());
    assertEquals(servers.visits.map(scopeOf), ["challenged"]);
    // No redirect is followed.
    assertEquals(servers.calls.map(({ path }) => path), ["/mcp"]);
    assertEquals(asked, [servers.resource]);
  }
});

Deno.test("createAuthorizedFetch().authorize() does not wait for the end of a stream, nor for a resource that does not respond", async () => {
  await using servers = await startSessionServers();
  const cancelled = deferred<void>();
  servers.handler = () =>
    new Response(new ReadableStream({ cancel: () => cancelled.resolve() }));
  await within(LIMIT_MS, fetchFor(servers).authorize());
  assertEquals(servers.visits.map(scopeOf), ["read"]);
  await within(LIMIT_MS, cancelled.promise);

  const api = fetchFor(servers, {
    fetch: (input, init) =>
      String(input) === servers.resource
        ? Promise.reject(new TypeError("Cable cut"))
        : fetch(input, init),
  });
  await within(LIMIT_MS, api.authorize());
  assertEquals(servers.visits.length, 2);
});

Deno.test("createAuthorizedFetch().authorize() does not request the resource where the caller names the server, or refuses", async () => {
  await using servers = await startSessionServers();
  const named = fetchFor(servers, { authorizationServer: servers.issuer });
  await within(LIMIT_MS, named.authorize());
  assertEquals(servers.calls.length, 0);
  const refusing = fetchFor(servers, {
    allowUrl: (_url, purpose) => purpose !== "resource",
  });
  await assertRejectsCode(
    () => within(LIMIT_MS, refusing.authorize()),
    "url_refused",
  );
});

Deno.test("createAuthorizedFetch() requests the scopes of a lost session and of the challenge, and no more", async () => {
  await using servers = await startSessionServers();
  const { api } = await signedIn(servers);
  // The user steps up.
  await statusOf(within(LIMIT_MS, api(`${servers.resource}/write`)));
  servers.revoke(true);
  challengeScope(servers, "read list");
  assertEquals(await statusOf(within(LIMIT_MS, api(servers.resource))), 200);
  assertEquals(servers.visits.map(scopeOf), ["read write", "read write list"]);
});

Deno.test("createAuthorizedFetch() counts the scopes of a 401 as required, beside those of the flow", async () => {
  await using servers = await startSessionServers();
  challengeScope(servers, "list");
  const api = fetchFor(servers, {
    authorize: servers.flow({ scopes: ["read"] }),
  });
  assertEquals(await statusOf(within(LIMIT_MS, api(servers.resource))), 200);
  assertEquals(servers.visits.map(scopeOf), ["read list"]);
});

const SERVER_ERROR = { error: "server_error" };

Deno.test("createAuthorizedFetch() signs in where a dead refresh token is a 500, and keeps the session until then", async () => {
  for (const how of ["refused", "expired"]) {
    await using servers = await startSessionServers();
    const { api, store, session, clock } = await signedIn(servers);
    servers.revoke(true);
    if (how === "expired") clock.now += 3_600_000;
    let stored: unknown;
    servers.server = async ({ path, body }) => {
      if (path === "/authorize") stored = await store.load();
      return body.includes("grant_type=refresh_token")
        ? Response.json(SERVER_ERROR, { status: 500 })
        : undefined;
    };
    assertEquals(await statusOf(within(LIMIT_MS, api(servers.resource))), 200);
    assertEquals(servers.visits.length, 1, how);
    assertEquals(stored, { ...session, isUserAway: true });
  }
});

Deno.test("createAuthorizedFetch() keeps the session, and asks nobody, after a failure that may be gone later", async () => {
  const rows: [status: number, body: unknown][] = [
    [502, SERVER_ERROR],
    [503, { error: "temporarily_unavailable" }],
    [504, {}],
    [429, {}],
    [500, {}],
  ];
  for (const [status, body] of rows) {
    await using servers = await startSessionServers();
    const { api, store, session } = await signedIn(servers);
    servers.revoke();
    servers.server = ({ path }) =>
      path === "/token" ? Response.json(body, { status }) : undefined;
    await assertRejects(
      () => within(LIMIT_MS, api(servers.resource)),
      OAuthClientError,
    );
    assertEquals([servers.visits.length, await store.load()], [0, session]);
  }
});

Deno.test("createAuthorizedFetch() does not send a token that has expired", async () => {
  await using servers = await startSessionServers();
  const { api, store, session, clock } = await signedIn(servers);
  const { refresh_token: _, ...token } = session.token;
  await store.save({ ...session, token });
  // Without a refresh token, it is used to the end of its lifetime.
  clock.now += 3_590_000;
  assertEquals(await statusOf(within(LIMIT_MS, api(servers.resource))), 200);
  assertEquals(servers.visits.length, 0);
  clock.now += 10_000;
  servers.calls.length = 0;
  assertEquals(await statusOf(within(LIMIT_MS, api(servers.resource))), 200);
  assertEquals(servers.visits.length, 1);
  const sent = servers.calls.map(({ authorization }) => authorization);
  assertEquals(sent.includes(`Bearer ${token.access_token}`), false);
});

Deno.test("createAuthorizedFetch() accepts the iss of the issuer that trustedIssuers names for the server", async () => {
  const upstream = "https://upstream.example";
  await using servers = await startSessionServers();
  const signIn = async (trustedIssuers?: Record<string, string>) => {
    const api = fetchFor(servers, {
      trustedIssuers,
      authorize: servers.flow({
        visit: async (url) => {
          const response = await fetch(url, { redirect: "manual" });
          await response.body?.cancel();
          const callback = new URL(response.headers.get("Location") ?? "");
          callback.searchParams.set("iss", upstream);
          return callback;
        },
      }),
    });
    return await api.authorize().then(
      ({ issuer }) => issuer,
      (error) => error.code,
    );
  };
  const { issuer } = servers;
  assertEquals(await within(LIMIT_MS, signIn()), "issuer_mismatch");
  const rows: [trusted: Record<string, string>, outcome: string][] = [
    [{ [issuer]: upstream }, issuer],
    [{ [`${issuer}/`]: upstream }, issuer],
    [{ [issuer]: "https://other.example" }, "issuer_mismatch"],
    [{ "https://other.example": upstream }, "issuer_mismatch"],
  ];
  for (const [trusted, outcome] of rows) {
    assertEquals(await within(LIMIT_MS, signIn(trusted)), outcome);
  }
});

Deno.test("createAuthorizedFetch().revoke() resolves to whether the server was told", async () => {
  const rows: [answer: Response | undefined, isTold: boolean][] = [
    [undefined, true],
    [new Response(null, { status: 500 }), false],
    [Response.json({ error: "invalid_client" }, { status: 401 }), false],
  ];
  for (const [answer, isTold] of rows) {
    await using servers = await startSessionServers();
    const { api, store } = await signedIn(servers);
    servers.server = ({ path }) =>
      path === "/revoke" ? answer?.clone() : undefined;
    assertEquals(await within(LIMIT_MS, api.revoke()), isTold);
    assertEquals(await store.load(), undefined);
    await answer?.body?.cancel();
  }
  const failure = new RangeError("mine");
  await using servers = await startSessionServers();
  const { session } = await signedIn(servers);
  const api = fetchFor(servers, {
    store: memoryStore(session),
    client: untyped({
      ...{ clientId: "c1", method: "none", issuer: servers.issuer },
      authenticate: () => Promise.reject(failure),
    }),
  });
  assertEquals(await within(LIMIT_MS, api.revoke()).catch((it) => it), failure);
});
