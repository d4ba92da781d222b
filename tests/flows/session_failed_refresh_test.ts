/** What a failed refresh does to the session: the table of adviceFor(). */
import { assertEquals, assertRejects } from "@std/assert";
import {
  memoryStore,
  OAuthClientError,
  type Session,
  type StoredSession,
} from "../../mod.ts";
import { startSessionServers } from "../servers/session_servers.ts";
import { eachRow } from "../support/each_row.ts";
import { assertRejectsCode, MCP, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { resourceFetch, type Respond, SESSION } from "../support/resource.ts";
import { never, statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  authorizations,
  CALLERS,
  expiringIn,
  fetchAt,
  NOW,
  signedIn,
  test,
  withoutRefresh,
} from "./_session_world.ts";

const KEEPS = "keeps the session, and asks nobody,";

const ASKS = "keeps the session until the user has signed in";

const ENDS = "deletes the tokens before the user signs in";

const REGISTERS = "registers anew";

const error = (error: string, status = 400) => () =>
  Response.json({ error }, { status });

const page = (text: string, status: number) => () =>
  new Response(text, { status });

const empty = (status: number) => () => new Response(null, { status });

const json = (body: unknown, status: number) => () =>
  Response.json(body, { status });

/** For a dead refresh token: supabase/auth#2829. */
const SUPABASE = {
  code: 400,
  error_code: "refresh_token_not_found",
  msg: "Invalid Refresh Token: Refresh Token Not Found",
};

const PAGES: [name: string, respond: () => Response][] = [
  ["a 400 of nginx", page("Request Header Or Cookie Too Large", 400)],
  ["a 401 of a proxy", page("<h1>Sign in", 401)],
  ["a 400 with a word in JSON", page(`"no"`, 400)],
];

type Row = [effect: string, failure: string, respond: () => Response];

const ROWS: Row[] = [
  [REGISTERS, "unauthorized_client", error("unauthorized_client")],
  [REGISTERS, "invalid_client", error("invalid_client")],
  [ENDS, "invalid_grant", error("invalid_grant")],
  [ENDS, "bad_refresh_token and 200", error("bad_refresh_token", 200)],
  [ENDS, "a 400 without a body", empty(400)],
  [ENDS, "interaction_required", error("interaction_required")],
  [ENDS, "a 401 without a body", empty(401)],
  [ASKS, "invalid_scope", error("invalid_scope")],
  [ASKS, "a 500 with server_error", error("server_error", 500)],
  [ASKS, "a 404", () => new Response("<h1>gone", { status: 404 })],
  [ASKS, "a 403 of a firewall", () => new Response("no", { status: 403 })],
  [ASKS, "a redirect", () => Response.redirect("https://as.example/", 301)],
  [ASKS, "a page", () => new Response("<html>")],
  [ASKS, "a 400 of Supabase", json(SUPABASE, 400)],
  [ASKS, "a 401 and JSON without an error", json({ message: "no" }, 401)],
  [ASKS, "a 400 and an array", json([{ message: "Bad credentials" }], 400)],
  [ENDS, "a 400 and {}", () => Response.json({}, { status: 400 })],
  ...PAGES.map(([name, respond]): Row => [KEEPS, name, respond]),
  [KEEPS, "temporarily_unavailable", error("temporarily_unavailable")],
  [KEEPS, "a 408", empty(408)],
  [KEEPS, "a 425", empty(425)],
  [KEEPS, "a 429", empty(429)],
  [KEEPS, "a 429 and invalid_client", error("invalid_client", 429)],
  [KEEPS, "a 500", empty(500)],
  [KEEPS, "a 502 and server_error", error("server_error", 502)],
  [KEEPS, "a 503 and invalid_grant", error("invalid_grant", 503)],
  [KEEPS, "a 504", empty(504)],
];

eachRow(ROWS, ([effect, failure, respond]) => {
  test(`${effect} when a refresh fails with ${failure}`, async ({ servers, store, session, call, sent }) => {
    servers.revoke();
    let atVisit: StoredSession | null | undefined;
    servers.server = async ({ path, body }) => {
      if (path === "/authorize") atVisit = await store.load();
      return body.includes("grant_type=refresh_token") ? respond() : undefined;
    };
    if (effect === KEEPS) {
      await assertRejects(() => call(), OAuthClientError);
      sent({ refreshes: 1 });
      assertEquals(await store.load(), session);
      return;
    }
    assertEquals(await call(), 200);
    const registrations = effect === REGISTERS ? 1 : 0;
    sent({ refreshes: 1, visits: 1, registrations });
    if (effect === ASKS) {
      assertEquals(atVisit, { ...session, internal: { isUserAway: true } });
    }
    if (effect === ENDS) {
      const { token: _, ...left } = session;
      assertEquals(atVisit, { ...left, internal: { isUserAway: true } });
    }
  });
});

eachRow(PAGES, ([failure, respond]) => {
  test(`.signIn() has the user sign in when a refresh fails with ${failure}`, async ({ servers, api, call, sent }) => {
    servers.revoke();
    servers.server = ({ body }) =>
      body.includes("grant_type=refresh_token") ? respond() : undefined;
    await assertRejects(() => call(), OAuthClientError);
    await within(LIMIT_MS, api.signIn());
    assertEquals(await call(), 200);
    sent({ refreshes: 2, visits: 1 });
  });
});

const invalidScope = error("invalid_scope");

test("throws what authorize throws, also while the token is still valid", async ({ servers, store, clock }) => {
  const refusal = new Error("not now");
  const api = fetchAt(servers, {
    ...{ store, now: () => clock.now },
    flow: () => Promise.reject(refusal),
  });
  servers.server = ({ path }) => path === "/token" ? invalidScope() : undefined;
  clock.now += 3_580_000;
  const call = within(LIMIT_MS, api(servers.resource));
  assertEquals(await assertRejects(() => call), refusal);
});

Deno.test("createAuthorizedFetch() uses a token that is still valid after the user did not sign in for the next one", async () => {
  const timeout = new OAuthClientError("timeout", "The user has not signed in");
  const { api, received } = resourceFetch(undefined, {
    tokenRequired: true,
    store: memoryStore(withoutRefresh(expiringIn(20))),
    now: () => NOW,
    flow: () => Promise.reject(timeout),
  });
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals(authorizations(received).at(-1), "Bearer t1");
});

test("uses a token that is still valid when the discovery for the next one meets an outage", async ({ servers, store, clock }) => {
  const api = fetchAt(servers, {
    ...{ store, now: () => clock.now },
    fetch: (input, init) =>
      String(input).includes("/.well-known/")
        ? Promise.resolve(new Response(null, { status: 503 }))
        : fetch(input, init),
  });
  servers.server = ({ path }) => path === "/token" ? invalidScope() : undefined;
  clock.now += 3_580_000;
  assertEquals(await statusOf(api(servers.resource)), 200);
  assertEquals([servers.grants("refresh_token").length, servers.visits], [
    1,
    [],
  ]);
});

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
    let asked = 0;
    const api = fetchAt(servers, {
      ...{ store, now, timeoutMs },
      // Without a network: a busy machine may need the 50 ms for it.
      fetch(url, init) {
        if (!String(url).endsWith("/token")) return fetch(url, init);
        asked++;
        return Promise.resolve(respond());
      },
    });
    const errors = new Set<OAuthClientError>();
    await Promise.all(
      Array.from(
        { length: CALLERS },
        () => api(servers.resource).catch((error) => errors.add(error)),
      ),
    );
    const found = [...errors].map(({ code, status, retryAfterSeconds }) => [
      ...[code, status, retryAfterSeconds],
    ]);
    assertEquals(found, [[...expected]]);
    assertEquals([asked, servers.visits.length], [1, 0]);
    assertEquals(await store.load(), session);
    clock.now += 7_000;
    // Without the short limit, which is for the call that fails.
    const again = fetchAt(servers, { store, now });
    assertEquals(await statusOf(again(servers.resource)), 200);
  });
}

const { refresh_token } = SESSION.token;

/** A fetch whose token endpoint responds in turn; undefined for no response. */
function refreshing(
  session: Session,
  responses: (() => Response | undefined)[],
) {
  const store = memoryStore(session);
  const respond: Respond = ({ url }) => {
    if (url !== TOKEN_ENDPOINT) return undefined;
    const response = responses.shift()?.();
    if (!response) throw new TypeError("connection closed");
    return response;
  };
  return { ...resourceFetch(respond, { store, now: () => NOW }), store };
}

const renewed = () =>
  Response.json({ access_token: "t2", refresh_token: "r2" });

const nothing = () => undefined;

Deno.test("createAuthorizedFetch() repeats a refresh whose response was lost, once, if the token has expired", async () => {
  const lost = refreshing(expiringIn(-1), [nothing, renewed]);
  assertEquals((await lost.api(MCP)).status, 200);
  assertEquals(lost.urls, [TOKEN_ENDPOINT, TOKEN_ENDPOINT, MCP]);
  const [first, second] = lost.received;
  assertEquals(first!.body, second!.body);
  // A token that is still valid makes the session worth more than the attempt.
  const untrusted = () => {
    const code = "SELF_SIGNED_CERT_IN_CHAIN";
    throw Object.assign(new TypeError("fetch failed"), { code });
  };
  const overloaded = () => new Response(null, { status: 503 });
  for (const failure of [nothing, overloaded, untrusted]) {
    const valid = refreshing(expiringIn(20), [failure, renewed]);
    assertEquals((await valid.api(MCP)).status, 200);
    assertEquals(valid.urls, [TOKEN_ENDPOINT, MCP]);
  }
  const away = refreshing(expiringIn(-1), [nothing, nothing, renewed]);
  await assertRejectsCode(() => away.api(MCP), "network_error");
  assertEquals(away.urls, [TOKEN_ENDPOINT, TOKEN_ENDPOINT]);
  assertEquals((await away.store.load())?.token?.refresh_token, refresh_token);
  // The server has used it up, and accepts no replay.
  const gone = refreshing(expiringIn(-1), [nothing, error("invalid_grant")]);
  await assertRejects(() => gone.api(MCP), Error, "A user is asked");
  assertEquals((await gone.store.load())?.token, undefined);
});

Deno.test("createAuthorizedFetch() refreshes an expired session of another process", async () => {
  const { api, store, urls } = refreshing(expiringIn(-1), [renewed]);
  const { load } = store;
  let loads = 0;
  // The other process stores it between the call and the lock.
  store.load = () => {
    if (++loads === 2) store.save(expiringIn(-1, "other"));
    return load();
  };
  assertEquals((await api(MCP)).status, 200);
  assertEquals(urls, [TOKEN_ENDPOINT, MCP]);
});
