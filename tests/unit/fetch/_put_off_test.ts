/** A server that asks for a pause is left alone until its end. */

import { assertEquals, assertRejects } from "@std/assert";
import { SessionMemory } from "../../../lib/fetch/keeper/_session_memory.ts";
import { putOffError } from "../../../lib/fetch/policy/_put_off.ts";
import {
  codeFlow,
  type Flow,
  memoryStore,
  OAuthClientError,
  type Session,
} from "../../../mod.ts";
import { eachRow, eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  CODE_SERVER,
  MCP,
  metadataOf,
  OAUTH,
  REDIRECT_URI,
  REGISTRATION_ENDPOINT,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";
import { deferred } from "../../support/stub_fetch.ts";

const tooMany = (status: number, retryAfterSeconds?: number) =>
  new OAuthClientError("unexpected_status", "Busy", {
    status,
    retryAfterSeconds,
  });

Deno.test("SessionMemory puts off what a 429 or 503 puts off, for an hour at most", () => {
  const rows: [error: unknown, left: (number | undefined)[]][] = [
    [tooMany(429, 300), [300, 300, 1, undefined]],
    [tooMany(503, 86_400), [3_600, 3_600, 3_301, 3_300]],
    [tooMany(503, 0), [undefined, undefined, undefined, undefined]],
    [tooMany(429), [undefined, undefined, undefined, undefined]],
    [tooMany(500, 300), [undefined, undefined, undefined, undefined]],
    [new Error("No"), [undefined, undefined, undefined, undefined]],
    [undefined, [undefined, undefined, undefined, undefined]],
  ];
  eachRow(rows, ([error, expected]) => {
    const memory = new SessionMemory();
    memory.requestEnded("a", error, 1_000);
    const times = [1_000, 1_001, 300_000, 301_000];
    const left = times.map((now) =>
      putOffError(memory, "a", now)?.retryAfterSeconds
    );
    assertEquals(left, expected);
    assertEquals(putOffError(memory, "b", 1_000), undefined);
  });
});

Deno.test("SessionMemory repeats the error with its members, until a request succeeds or the clock is set back", () => {
  const cause = new Error("cause");
  const error = new OAuthClientError("oauth_error", "Busy", {
    url: TOKEN_ENDPOINT,
    status: 429,
    error: "slow_down",
    request: "refresh",
    retryAfterSeconds: 60,
    cause,
  });
  const memory = new SessionMemory();
  memory.requestEnded("a", error, 5_000_000);
  const again = putOffError(memory, "a", 5_010_000);
  assertEquals(again?.toJSON(), { ...error.toJSON(), retryAfterSeconds: 50 });
  assertEquals(again?.cause, cause);
  assertEquals(putOffError(memory, "a", 0), undefined);
  memory.requestEnded("a", undefined, 5_010_000);
  assertEquals(putOffError(memory, "a", 5_010_000), undefined);
});

Deno.test("SessionMemory pauses for 10 seconds what is not needed yet, once a request has failed", () => {
  const rows: [error: unknown, left: number | undefined][] = [
    [new OAuthClientError("network_error", "No"), 10],
    [
      new OAuthClientError("network_error", "", {
        networkReason: "certificate",
      }),
      10,
    ],
    [tooMany(502, 300), 10],
    [tooMany(429, 300), 300],
    [tooMany(429, 2), 2],
    [new OAuthClientError("sign_in_required", "No"), undefined],
  ];
  eachRow(rows, ([error, expected]) => {
    const memory = new SessionMemory();
    memory.requestEnded("a", error, 0, false);
    assertEquals(putOffError(memory, "a", 0)?.retryAfterSeconds, expected);
  });
});

/** The time of all tests begins here. */
const START = 1_000_000;

/** A session whose token expires in a number of seconds. */
function expiring(seconds: number): Session {
  const expires_at = START / 1000 + seconds;
  const token = { ...SESSION.token, expires_in: 120, expires_at };
  return { ...SESSION, token };
}

/** A fetch whose token endpoint refuses with what `state` has. */
function refusing(session: Session | undefined, authorize?: Flow | null) {
  const state = {
    time: START,
    status: 429,
    retryAfterSeconds: "300" as string | undefined,
    authorization: "",
  };
  const store = memoryStore(session);
  const { api, urls } = resourceFetch(({ url, headers }) => {
    const { status, retryAfterSeconds } = state;
    if (url === MCP) {
      const sent = headers.get("Authorization");
      return new Response(null, { status: sent === null ? 401 : 200 });
    }
    if (url !== TOKEN_ENDPOINT) return undefined;
    if (status === 200) {
      return Response.json({ access_token: "a2", token_type: "Bearer" });
    }
    return Response.json({ error: "slow_down" }, {
      status,
      headers: retryAfterSeconds === undefined
        ? {}
        : { "Retry-After": retryAfterSeconds },
    });
  }, {
    now: () => state.time,
    store,
    ...(authorize !== undefined && { flow: authorize ?? undefined }),
  });
  const requests = () => urls.filter((url) => url === TOKEN_ENDPOINT).length;
  const left = async () =>
    (await assertRejects(() => api(MCP), OAuthClientError)).retryAfterSeconds;
  return { api, state, store, requests, left };
}

Deno.test("createAuthorizedFetch() repeats no refresh that the server has put off, and uses a valid token meanwhile", async () => {
  const { api, state, requests, left } = refusing(expiring(20));
  for (const seconds of [0, 11, 19]) {
    state.time = START + seconds * 1000;
    assertEquals((await api(MCP)).status, 200);
  }
  assertEquals(requests(), 1);
  state.time = START + 100_000;
  const error = await assertRejects(() => api(MCP), OAuthClientError);
  const { status, retryAfterSeconds } = error;
  assertEquals([status, error.error, retryAfterSeconds], [
    429,
    "slow_down",
    200,
  ]);
  assertEquals([await left(), requests()], [200, 1]);
  state.time = START + 300_000;
  assertEquals([await left(), requests()], [300, 2]);
  state.status = 200;
  state.time += 300_000;
  assertEquals([(await api(MCP)).status, requests()], [200, 3]);
});

Deno.test("createAuthorizedFetch() refreshes another session, and repeats refreshes that were refused without Retry-After", async () => {
  const { api, state, store, requests, left } = refusing(expiring(-1));
  assertEquals([await left(), await left(), requests()], [300, 300, 1]);
  const session = expiring(-1);
  session.token.refresh_token = "another refresh token";
  await api.save(session);
  assertEquals([await left(), requests()], [300, 2]);
  await store.save(expiring(-1));
  assertEquals([await left(), requests()], [300, 2]);
  state.time += 300_000;
  state.retryAfterSeconds = undefined;
  await left();
  await left();
  assertEquals(requests(), 4);
});

Deno.test("createAuthorizedFetch() repeats a failed refresh once in 10 seconds while the token is valid", async () => {
  const { api, state, requests } = refusing(expiring(25));
  state.retryAfterSeconds = undefined;
  state.status = 503;
  const rows = [[0, 1], [5, 1], [9, 1], [10, 2], [19, 2], [20, 3]] as const;
  await eachRowInTurn(rows, async ([seconds, expected]) => {
    state.time = START + seconds * 1000;
    assertEquals([(await api(MCP)).status, requests()], [200, expected]);
  });
  // The token has expired: each call needs the refresh.
  state.time = START + 26_000;
  await assertRejects(() => api(MCP), OAuthClientError);
  await assertRejects(() => api(MCP), OAuthClientError);
  assertEquals(requests(), 5);
});

Deno.test("createAuthorizedFetch() repeats no early refresh whose call was aborted before it failed", async () => {
  const [began, lost] = [deferred<void>(), deferred<void>()];
  let requests = 0;
  const { api } = resourceFetch(async ({ url }) => {
    if (url === MCP) return new Response();
    requests++;
    began.resolve();
    await lost.promise;
    throw new TypeError("The response was lost");
  }, { now: () => START, store: memoryStore(expiring(20)) });
  const controller = new AbortController();
  const call = api(MCP, { signal: controller.signal });
  await began.promise;
  controller.abort();
  await assertRejects(() => call, DOMException);
  lost.resolve();
  assertEquals([(await api(MCP)).status, requests], [200, 1]);
  assertEquals([(await api(MCP)).status, requests], [200, 1]);
});

Deno.test("createAuthorizedFetch() repeats no sign-in of a flow that a server has put off, except for signIn()", async () => {
  let calls = 0;
  let result: () => Promise<Session> = () => Promise.reject(tooMany(429, 60));
  const flow = Object.assign(() => {
    calls++;
    return result();
  }, { needsUser: false });
  const { api, state, left } = refusing(undefined, flow);
  assertEquals([await left(), calls], [60, 1]);
  state.time += 20_000;
  assertEquals([await left(), calls], [40, 1]);
  await assertRejects(() => api.signIn(), OAuthClientError);
  await assertRejects(() => api.signIn({ fresh: true }), OAuthClientError);
  assertEquals([await left(), calls], [60, 3]);
  result = () => Promise.resolve(SESSION);
  await api.signIn();
  assertEquals([(await api(MCP)).status, calls], [200, 4]);
  // The success has ended the wait.
  await api.revoke();
  assertEquals([(await api(MCP)).status, calls], [200, 5]);
});

Deno.test("createAuthorizedFetch() asks at another server than the one that has put a sign-in off", async () => {
  const asked: string[] = [];
  let issuer = AS;
  const { api } = resourceFetch(({ url }) => {
    if (url === MCP) return new Response(null, { status: 401 });
    const { origin, pathname } = new URL(url);
    if (pathname !== new URL(OAUTH).pathname) {
      return Response.json({ resource: MCP, authorization_servers: [issuer] });
    }
    return Response.json(metadataOf(origin));
  }, {
    store: memoryStore(),
    flow({ context }) {
      asked.push(context.issuer);
      return Promise.reject(tooMany(429, 60));
    },
  });
  const call = () => assertRejects(() => api(MCP), OAuthClientError);
  await call();
  issuer = "https://other.example";
  await call();
  await call();
  assertEquals(asked, [AS, issuer]);
});

Deno.test("signIn() has the user sign in although the refresh is put off", async () => {
  let asked = 0;
  const { api, requests, left } = refusing(expiring(-1), () => {
    asked++;
    return Promise.resolve(expiring(100));
  });
  assertEquals([await left(), requests()], [300, 1]);
  await api.signIn();
  // The second request checks the registration.
  assertEquals([(await api(MCP)).status, asked, requests()], [200, 1, 2]);
  // Without a flow, there is only the refresh.
  const refreshing = refusing(expiring(-1), null);
  assertEquals(await refreshing.left(), 300);
  const error = await assertRejects(
    () => refreshing.api.signIn(),
    OAuthClientError,
  );
  assertEquals([error.status, refreshing.requests()], [429, 1]);
});

Deno.test("createAuthorizedFetch() repeats no registration that a server has put off", async () => {
  let time = START;
  const registrations: number[] = [];
  const { api } = resourceFetch(({ url }) => {
    if (url === MCP) return new Response(null, { status: 401 });
    if (url === OAUTH) return Response.json(CODE_SERVER);
    if (url !== REGISTRATION_ENDPOINT) return undefined;
    registrations.push(time);
    const headers = { "Retry-After": "60" };
    return new Response(null, { status: 503, headers });
  }, {
    store: memoryStore(),
    now: () => time,
    flow: codeFlow({
      clientMetadata: { client_name: "Client" },
      redirectUri: REDIRECT_URI,
      visit: () => Promise.reject(new Error("A user is asked")),
    }),
  });
  for (const seconds of [0, 59, 60]) {
    time = START + seconds * 1000;
    const error = await assertRejects(() => api(MCP), OAuthClientError);
    assertEquals([error.request, error.status], ["registration", 503]);
  }
  assertEquals(registrations, [START, START + 60_000]);
});
