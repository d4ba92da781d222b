/** When a session is renewed, and that it is renewed once. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  deviceFlow,
  memoryStore,
  OAuthClientError,
  type Session,
} from "../../mod.ts";
import {
  AS,
  assertRejectsCode,
  MCP,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../support/fixtures.ts";
import { resourceFetch, SESSION, SESSION_CLIENT } from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  authorizations,
  CALLERS,
  fetchAt,
  NOW,
  signingInWith,
  test,
  withoutRefresh,
} from "./_session_world.ts";

test.beforeSignIn("authorizes once for 20 first calls", async ({ servers, calls, sent, scopes }) => {
  await calls();
  sent({ visits: 1, registrations: 1 });
  assertEquals(scopes(), ["read"]);
  const { searchParams } = servers.visits[0]!;
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

test("authorizes when a refreshed token is refused as well", async ({ servers, bearer, call, sent }) => {
  servers.handler = ({ authorization }) =>
    authorization === bearer || servers.visits.length === 0
      ? new Response(null, { status: 401 })
      : undefined;
  assertEquals(await call(), 200);
  sent({ refreshes: 1, visits: 1 });
});

test.beforeSignIn("returns the 401 of a token fresh from authorize, with its body", async ({ servers }) => {
  servers.handler = () => new Response("never", { status: 401 });
  const api = fetchAt(servers);
  const response = await within(LIMIT_MS, api(servers.resource));
  assertEquals([response.status, await response.text()], [401, "never"]);
  assertEquals([servers.calls.length, servers.visits.length], [2, 1]);
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

test.beforeSignIn("renews under the lock of the store, which no response body holds", async ({ servers }) => {
  let locked = 0;
  let most = 0;
  const inner = memoryStore();
  const store = {
    load: inner.load,
    save(session: Session | undefined) {
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
  const calls = apis.map((api) => statusOf(api(servers.resource)));
  assertEquals(new Set(await Promise.all(calls)), new Set([200]));
  sent({ refreshes: 1 });
});

test("does not send a token that has expired", async ({ servers, store, session, clock, bearer, call, sent }) => {
  await store.save(withoutRefresh(session));
  // Without a refresh token, it is used to the end of its lifetime.
  clock.now += 3_590_000;
  assertEquals(await call(), 200);
  sent({});
  clock.now += 10_000;
  servers.calls.length = 0;
  assertEquals(await call(), 200);
  sent({ visits: 1 });
  const tokens = servers.calls.map(({ authorization }) => authorization);
  assertEquals(tokens.includes(bearer), false);
});

Deno.test("createAuthorizedFetch() renews a token skewSeconds before its expiry", async () => {
  for (
    const [skewSeconds, left, lifetime, isRenewed] of [
      [undefined, 30, 3600, true],
      [undefined, 31, 3600, false],
      [120, 120, 3600, true],
      [120, 121, 3600, false],
      [0, 1, 3600, false],
      [120, 15, 60, true],
      [120, 16, 60, false],
    ] as const
  ) {
    const token = {
      ...SESSION.token,
      expires_in: lifetime,
      expires_at: NOW / 1000 + left,
    };
    const { api, urls } = resourceFetch(
      ({ url }) =>
        url === TOKEN_ENDPOINT
          ? Response.json({ access_token: "t2" })
          : undefined,
      {
        skewSeconds,
        now: () => NOW,
        store: memoryStore({ ...SESSION, token }),
      },
    );
    await api(MCP);
    assertEquals(
      urls,
      isRenewed ? [TOKEN_ENDPOINT, MCP] : [MCP],
      `${skewSeconds} ${left}`,
    );
  }
});

Deno.test("createAuthorizedFetch() refreshes with the client of its flow, whose secret may have been replaced", async () => {
  const client = { ...SESSION_CLIENT, client_secret: "new" };
  const post = { token_endpoint_auth_method: "client_secret_post" };
  const authorize = deviceFlow({
    client: { ...client, ...post },
    show: () => Promise.reject(new Error("A user is asked")),
  });
  const kept = { ...SESSION.client, ...post, client_secret: "old" };
  const token = { ...SESSION.token, expires_at: 1 };
  const { api, received } = resourceFetch(
    ({ url }) =>
      url === TOKEN_ENDPOINT
        ? Response.json({ access_token: "t2" })
        : undefined,
    {
      flow: authorize,
      store: memoryStore({ ...SESSION, client: kept, token }),
    },
  );
  assertEquals((await api(MCP)).status, 200);
  const form = new URLSearchParams(received[0]!.body);
  assertEquals(form.get("client_secret"), "new");
});

Deno.test("createAuthorizedFetch() sends no refresh token with another client than its own", async () => {
  const client = { ...SESSION_CLIENT, client_id: "moved" };
  const { token } = SESSION;
  const asked: unknown[] = [];
  const { api, urls } = resourceFetch(undefined, {
    client,
    store: memoryStore({ ...SESSION, token: { ...token, expires_at: 1 } }),
    flow({ session }) {
      asked.push(session?.client?.client_id);
      return Promise.resolve({ ...SESSION, client: { client_id: "moved" } });
    },
  });
  assertEquals((await api(MCP)).status, 200);
  assertEquals(asked, [SESSION.client.client_id]);
  assertEquals(urls.includes(TOKEN_ENDPOINT), false);
});

Deno.test("createAuthorizedFetch() with bearer id_token sends the ID token until its exp", async () => {
  const exp = NOW / 1000 + 300;
  const claims = { iss: AS, aud: "c1", sub: "u", iat: exp - 300, exp };
  const first = unverifiedJwt(claims);
  const second = unverifiedJwt({ ...claims, iat: exp, exp: exp + 300 });
  const session = {
    ...SESSION,
    token: { ...SESSION.token, expires_at: exp + 86_400, id_token: first },
  };
  const { requests, authorize } = signingInWith(session, session);
  let now = NOW;
  let refreshed: string | undefined = second;
  const { api, received } = resourceFetch(
    ({ url, body }) =>
      url === TOKEN_ENDPOINT && body.includes("refresh_token")
        ? Response.json({ access_token: "a", id_token: refreshed })
        : undefined,
    {
      flow: authorize,
      bearer: "id_token",
      tokenRequired: true,
      now: () => now,
      store: memoryStore(),
    },
  );
  const call = async () => {
    received.length = 0;
    await api(MCP);
    return authorizations(received).at(-1);
  };
  assertEquals(await call(), `Bearer ${first}`);
  assertEquals(requests[0]!.requiresIdToken, true);
  // Its sign-out puts no token into a URL; also after a refresh.
  assertEquals((await api.session())?.bearer, "id_token");
  // 30 seconds before its end; the access token is valid for a day.
  now = (exp - 30) * 1000;
  assertEquals(await call(), `Bearer ${second}`);
  assertEquals((await api.session())?.bearer, "id_token");
  // A refresh that returns none is of no use once the ID token has expired.
  refreshed = undefined;
  now = (exp + 271) * 1000;
  assertEquals(await call(), `Bearer ${second}`);
  assertEquals(requests.length, 1);
  now = (exp + 300) * 1000;
  await call();
  assertEquals(requests.length, 2);
});

Deno.test("createAuthorizedFetch() with bearer id_token refuses a session without one, and dpop", async () => {
  const { api } = resourceFetch(undefined, { bearer: "id_token" });
  await assertRejectsCode(() => api.save(SESSION), "invalid_argument");
  // Without exp it is used until it is refused.
  const id_token = "opaque";
  const token = { ...SESSION.token, id_token, expires_at: 1 };
  const opaque = resourceFetch(undefined, {
    bearer: "id_token",
    store: memoryStore({ ...SESSION, token }),
  });
  await opaque.api(MCP);
  assertEquals(authorizations(opaque.received), ["Bearer opaque"]);
  await opaque.api.save({ ...SESSION, token });
  assertEquals((await opaque.api.session())?.bearer, "id_token");
});

Deno.test("createAuthorizedFetch() with bearer id_token refreshes an expired one whose iat is later", async () => {
  const expired = unverifiedJwt({ exp: NOW / 1000 - 1, iat: NOW });
  const token = { ...SESSION.token, id_token: expired };
  const { api, urls } = resourceFetch(() => undefined, {
    flow: undefined,
    bearer: "id_token",
    now: () => NOW,
    store: memoryStore({ ...SESSION, token }),
  });
  await assertRejects(() => api(MCP), OAuthClientError);
  assertEquals(urls, [TOKEN_ENDPOINT]);
});
