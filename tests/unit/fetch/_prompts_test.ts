/** A user is asked only where a call may ask, and not again after a denial. */

import { assertEquals, assertRejects } from "@std/assert";
import { isAbandoned } from "../../../lib/fetch/policy/_decisions.ts";
import {
  adviceFor,
  type AuthorizedFetch,
  type AuthorizedFetchOptions,
  codeFlow,
  deviceFlow,
  type FlowRequest,
  memoryStore,
  OAuthClientError,
  type Session,
  startAuthorization,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  CODE_SERVER,
  CONTEXT,
  MCP,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { deferred, untyped } from "../../support/stub_fetch.ts";
import { LIMIT_MS, turn, until } from "../../support/within.ts";
import {
  resourceFetch,
  type Respond,
  SESSION as RESOURCE_SESSION,
  SESSION_CLIENT,
} from "../../support/resource.ts";

const SESSION = withToken("a1");
const DENIED = new OAuthClientError("oauth_error", "No", {
  error: "access_denied",
});

function withToken(access_token: string): Session {
  return { ...RESOURCE_SESSION, token: { access_token, token_type: "Bearer" } };
}

/** A fetch whose resource accepts the token a2, and the sign-ins it asks for. */
function world(
  options: Partial<AuthorizedFetchOptions> = {},
  respond: Respond = () => undefined,
) {
  const asked: FlowRequest[] = [];
  const state = {
    challenge: "Bearer",
    status: 401,
    end: (): Promise<Session> => Promise.resolve(withToken("a2")),
  };
  const { api, urls } = resourceFetch((received) => {
    const { url, headers } = received;
    const { status, challenge } = state;
    const isAccepted = headers.get("Authorization") === "Bearer a2";
    if (url !== MCP || isAccepted) return respond(received);
    const fields = { "WWW-Authenticate": challenge };
    return new Response(null, { status, headers: fields });
  }, {
    store: memoryStore(),
    flow: (request) => {
      asked.push(request);
      return state.end();
    },
    ...options,
  });
  return { api, urls, asked, state };
}

/** A sign-in in two steps that ends with this error: its failure. */
async function finishWith(api: AuthorizedFetch, error: string) {
  const { pending } = await startAuthorization(CONTEXT, {
    client: SESSION_CLIENT,
    redirectUri: REDIRECT_URI,
  });
  const callback = new URLSearchParams({ error, state: pending.state });
  return await errorOf(() => api.finish(callback, pending));
}

async function errorOf(call: () => Promise<unknown>) {
  return await assertRejects(call, OAuthClientError);
}

Deno.test("createAuthorizedFetch() rejects with sign_in_required where only signIn() may ask", async () => {
  const { api, urls, asked } = world({ signInOn: "signIn" });
  const error = await errorOf(() => api(MCP));
  assertEquals([error.code, error.signInReason], [
    "sign_in_required",
    "no_session",
  ]);
  assertEquals(error.resource, MCP);
  assertEquals(adviceFor(error).action, "ask_user");
  assertEquals(urls, [MCP]);
  assertEquals(asked, []);
  await api.signIn();
  assertEquals([(await api(MCP)).status, asked.length], [200, 1]);
});

Deno.test("createAuthorizedFetch() lists no scope in sign_in_required that the request has sent as a secret", async () => {
  const store = memoryStore(SESSION);
  const { api, state } = world({ signInOn: "signIn", store });
  const headers = { "X-Key": "s3cret-of-the-caller" };
  state.status = 403;
  state.challenge = `Bearer error="insufficient_scope", scope="admin ${
    headers["X-Key"]
  }"`;
  const error = await errorOf(() => api(MCP, { headers }));
  assertEquals(error.scopes, [...SESSION.scopes, "admin"]);
});

Deno.test("createAuthorizedFetch() signs in by signIn() for the scopes and the authentication that a call lacked", async () => {
  const store = memoryStore(SESSION);
  const { api, asked, state } = world({ signInOn: "signIn", store });
  state.status = 403;
  state.challenge = 'Bearer error="insufficient_scope", scope="admin"';
  const error = await errorOf(() => api(MCP));
  assertEquals([error.code, error.signInReason], [
    "sign_in_required",
    "step_up",
  ]);
  assertEquals(error.scopes, [...SESSION.scopes, "admin"]);
  assertEquals(error.issuer, AS);
  await api.signIn();
  assertEquals(asked[0]!.scopes, [...SESSION.scopes, "admin"]);
  await store.save(SESSION);
  state.status = 401;
  state.challenge =
    'Bearer error="insufficient_user_authentication", acr_values="mfa", max_age="60"';
  assertEquals((await errorOf(() => api(MCP))).code, "sign_in_required");
  await api.signIn();
  assertEquals([asked[1]!.acrValues, asked[1]!.maxAge], ["mfa", 60]);
});

Deno.test("signIn() asks for what the last call lacked, unless it is stored or a fresh sign-in is wanted", async () => {
  const store = memoryStore(SESSION);
  const { api, asked, state } = world({ signInOn: "signIn", store });
  state.challenge =
    'Bearer error="insufficient_user_authentication", acr_values="mfa"';
  await errorOf(() => api(MCP));
  // A refresh elsewhere does not authenticate the user again.
  await store.save(withToken("refreshed"));
  await api.signIn();
  assertEquals(asked.map(({ acrValues }) => acrValues), ["mfa"]);
  state.status = 403;
  state.challenge = 'Bearer error="insufficient_scope", scope="admin"';
  const few = withToken("a3");
  await store.save(few);
  await errorOf(() => api(MCP));
  const more = { ...withToken("a4"), scopes: [...SESSION.scopes, "admin"] };
  await store.save(more);
  assertEquals(await api.signIn(), more);
  // Nothing is lacking any more.
  await store.save(few);
  assertEquals(await api.signIn(), few);
  assertEquals(asked.length, 1);
  await errorOf(() => api(MCP));
  await api.signIn({ fresh: true });
  assertEquals([asked.length, asked[1]?.isFresh], [2, true]);
});

Deno.test("revoke() ends what another fetch with the store object lacked", async () => {
  const store = memoryStore(SESSION);
  const { api, asked, state } = world({ signInOn: "signIn", store });
  state.challenge =
    'Bearer error="insufficient_user_authentication", acr_values="mfa"';
  await errorOf(() => api(MCP));
  await world({ store }).api.revoke();
  await api.signIn();
  assertEquals(asked.map(({ acrValues }) => acrValues), [undefined]);
});

Deno.test("createAuthorizedFetch() uses a flow without a user where only signIn() may ask", async () => {
  const flow = Object.assign(() => Promise.resolve(withToken("a2")), {
    needsUser: false,
  });
  const { api } = world({ signInOn: "signIn", flow: flow });
  assertEquals((await api(MCP)).status, 200);
});

Deno.test("createAuthorizedFetch() asks once after a denial, until signIn() or another session", async () => {
  const store = memoryStore();
  const { api, asked, state } = world({ store });
  const { end } = state;
  state.end = () => Promise.reject(DENIED);
  assertEquals(await errorOf(() => api(MCP)), DENIED);
  for (let i = 0; i < 3; i++) {
    const { code, cause } = await errorOf(() => api(MCP));
    assertEquals([code, cause], ["sign_in_required", DENIED]);
  }
  assertEquals(asked.length, 1);
  assertEquals(await errorOf(() => api.signIn()), DENIED);
  assertEquals((await errorOf(() => api(MCP))).code, "sign_in_required");
  // Of another process: its token is refused, so the user is asked again.
  await store.save(withToken("other"));
  state.end = end;
  assertEquals((await api(MCP)).status, 200);
  assertEquals(asked.length, 3);
});

Deno.test("createAuthorizedFetch() does not take a refresh after a denial for another session", async () => {
  const refreshable = (access_token: string, scopes = SESSION.scopes) => ({
    ...SESSION,
    token: { access_token, token_type: "Bearer", refresh_token: "r1" },
    scopes,
  });
  const store = memoryStore(refreshable("b1"));
  const { api, asked, state } = world({ store });
  state.status = 403;
  state.challenge = 'Bearer error="insufficient_scope", scope="admin"';
  state.end = () => Promise.reject(DENIED);
  assertEquals(await errorOf(() => api(MCP)), DENIED);
  await store.save(refreshable("b2"));
  assertEquals((await errorOf(() => api(MCP))).code, "sign_in_required");
  assertEquals(asked.length, 1);
  await store.save(refreshable("b3", ["other"]));
  assertEquals(await errorOf(() => api(MCP)), DENIED);
  assertEquals(asked.length, 2);
});

Deno.test("createAuthorizedFetch() takes a session of another process for another sign-in, once a refresh has failed", async () => {
  for (const error of ["invalid_grant", "invalid_scope"]) {
    const store = memoryStore();
    const { api, asked, state } = world(
      { store },
      ({ url }) =>
        url === TOKEN_ENDPOINT
          ? Response.json({ error }, { status: 400 })
          : undefined,
    );
    const save = async (access_token: string) => {
      const token = { access_token, token_type: "Bearer", refresh_token: "r" };
      await store.save({ ...SESSION, token });
    };
    await save("b1");
    state.end = () => Promise.reject(DENIED);
    assertEquals(await errorOf(() => api(MCP)), DENIED);
    assertEquals((await errorOf(() => api(MCP))).code, "sign_in_required");
    await save("b2");
    assertEquals(await errorOf(() => api(MCP)), DENIED);
    assertEquals(asked.length, 2);
  }
});

Deno.test("createAuthorizedFetch() asks again after a failure that the user did not cause", async () => {
  const failures = [
    new OAuthClientError("popup_closed", "Closed"),
    new OAuthClientError("network_error", "Down"),
    new OAuthClientError("timeout", "Slow", { url: AS }),
  ];
  for (const error of failures) {
    const { api, asked, state } = world();
    state.end = () => Promise.reject(error);
    for (let i = 0; i < 2; i++) {
      assertEquals(await errorOf(() => api(MCP)), error);
    }
    assertEquals(asked.length, 2);
  }
});

Deno.test("createAuthorizedFetch() asks again after a server has refused to ask the user", async () => {
  const refusing = `${AS}/refusing`;
  const serverMetadata = {
    ...CODE_SERVER,
    require_pushed_authorization_requests: true,
    pushed_authorization_request_endpoint: refusing,
    device_authorization_endpoint: refusing,
  };
  const client = SESSION_CLIENT;
  const visit = () => Promise.reject(new Error("A user is asked"));
  const flows = [
    codeFlow({ client, redirectUri: REDIRECT_URI, visit }),
    deviceFlow({ client, show: visit }),
  ];
  for (const authorize of flows) {
    const { api } = world(
      { flow: authorize, serverMetadata },
      ({ url }) =>
        url === refusing
          ? Response.json({ error: "access_denied" }, { status: 403 })
          : undefined,
    );
    for (let i = 0; i < 2; i++) {
      const error = await errorOf(() => api(MCP));
      assertEquals([error.error, error.request], [
        "access_denied",
        "authorization",
      ]);
      assertEquals(adviceFor(error).action, "give_up");
    }
  }
});

Deno.test("signIn() that joins a call behind an open sign-in asks, if the user leaves that one", async () => {
  const store = memoryStore();
  const first = world({ store });
  const second = world({ store });
  const visit = deferred<Session>();
  first.state.end = () => visit.promise;
  const left = errorOf(() => first.api(MCP));
  await until(LIMIT_MS, () => first.asked.length === 1);
  const called = second.api(MCP);
  await until(LIMIT_MS, () => second.urls.length === 1);
  await turn();
  const wanted = second.api.signIn();
  await turn();
  visit.reject(DENIED);
  assertEquals(await left, DENIED);
  assertEquals((await wanted).token.access_token, "a2");
  assertEquals((await called).status, 200);
  assertEquals(second.asked.length, 1);
});

Deno.test("finish() with a denial ends the asking, with another failure not", async () => {
  const rows = [
    ["access_denied", "sign_in_required"],
    ["server_error", undefined],
  ] as const;
  await eachRowInTurn(rows, async ([error, code]) => {
    const { api, asked } = world();
    const failure = await finishWith(api, error);
    assertEquals(failure.error, error);
    const result = untyped(await api(MCP).catch((error) => error));
    assertEquals([result.code, result.cause], [code, code && failure]);
    assertEquals(asked.length, code ? 0 : 1);
    await api.signIn();
    assertEquals((await api(MCP)).status, 200);
  });
});

Deno.test("signIn() asks after a denial by finish(), although the session has not expired", async () => {
  const store = memoryStore(withToken("a1"));
  const { api, asked } = world({ store });
  await finishWith(api, "access_denied");
  await api.signIn();
  assertEquals(asked.length, 1);
  assertEquals((await api(MCP)).status, 200);
});

Deno.test("isAbandoned() counts an abort that the user has seen, and no other error of a visit", () => {
  const abort = new DOMException("The user has left", "AbortError");
  const rows: [error: unknown, isShown: boolean, expected: boolean][] = [
    [abort, true, true],
    [abort, false, false],
    [new Error("The program fails"), true, false],
    ["closed", true, false],
  ];
  for (const [error, isShown, expected] of rows) {
    assertEquals(isAbandoned(error, isShown), expected, `${error} ${isShown}`);
  }
});
