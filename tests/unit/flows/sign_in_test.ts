/** A sign-in in two steps finishes with what its first step has noted. */

import { internalOf } from "../../../lib/session/_internal.ts";
import { assert, assertEquals } from "@std/assert";
import {
  adviceFor,
  createAuthorizedFetch,
  createDpop,
  finishAuthorization,
  type OAuthClientError,
  type PendingAuthorization,
  type Session,
  startAuthorization,
  type StartAuthorizationOptions,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  assertInvalidArgument,
  assertRejectsCode,
  MCP,
  pinRejected,
  REDIRECT_URI,
} from "../../support/fixtures.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";

const TOKEN = `${AS}/token`;
const CONTEXT = {
  resource: MCP,
  scopes: ["read"],
  serverMetadata: {
    issuer: AS,
    authorization_endpoint: `${AS}/authorize`,
    token_endpoint: TOKEN,
    revocation_endpoint: `${AS}/revoke`,
    registration_endpoint: `${AS}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    scopes_supported: ["read", "write", "openid", "offline_access"],
  },
};
const CLIENT = {
  issuer: AS,
  client_id: "c1",
  client_secret: "s3cret",
  client_secret_expires_at: 0,
  client_name: "Test",
  redirect_uris: [REDIRECT_URI],
  grant_types: ["authorization_code"],
  token_endpoint_auth_method: "client_secret_post",
  registration_access_token: "unused",
};
const OPTIONS = { client: CLIENT, redirectUri: REDIRECT_URI };

const callbackFor = ({ state }: PendingAuthorization) =>
  `${REDIRECT_URI}?${new URLSearchParams({ code: "c0de", state, iss: AS })}`;

/** As a program does that finishes later, in another process. */
const stored = (pending: PendingAuthorization): PendingAuthorization =>
  JSON.parse(JSON.stringify(pending));

/** Finishes at a server that issues this token: the session, and what was sent. */
async function finish(pending: PendingAuthorization, token: object) {
  using stub = stubFetch({ [TOKEN]: json({ access_token: "a1", ...token }) });
  const { fetch } = stub;
  const callback = callbackFor(pending);
  const session = await finishAuthorization(callback, stored(pending), {
    fetch,
  });
  return { session, form: stub.forms[0]! };
}

Deno.test("startAuthorization() requires consent where the former session has no refresh token", async () => {
  const scopes = ["offline_access"];
  const token = { access_token: "a" };
  const rows = [
    [undefined, undefined, null],
    [null, undefined, null],
    [{ scopes, token }, undefined, "consent"],
    [{ scopes, token }, "login", "login"],
  ] as const;
  await eachRowInTurn(rows, async ([session, prompt, expected]) => {
    const { url } = await startAuthorization(CONTEXT, {
      ...OPTIONS,
      session: untyped(session),
      parameters: prompt && { prompt },
    });
    assertEquals(url.searchParams.get("prompt"), expected);
  });
});

Deno.test("finishAuthorization() and finish() name what pending lacks", async () => {
  const { pending } = await startAuthorization(CONTEXT, OPTIONS);
  const callback = callbackFor(pending);
  const api = createAuthorizedFetch(MCP, {
    flow: () => Promise.reject(new Error("not called")),
  });
  const wrong: [pending: unknown, name: string][] = [
    [undefined, "pending"],
    ["text", "pending"],
    [{}, "pending.version"],
    [{ ...pending, version: 2 }, "pending.version"],
    [{ ...pending, state: 1 }, "pending.state"],
    [{ ...pending, codeVerifier: undefined }, "pending.codeVerifier"],
    [{ ...pending, redirectUri: undefined }, "pending.redirectUri"],
    [{ ...pending, resource: undefined }, "pending.resource"],
    [{ ...pending, scopes: "read" }, "pending.scopes"],
    [{ ...pending, server: undefined }, "pending.server"],
    [{ ...pending, client: undefined }, "pending.client"],
    [{ ...pending, client: {} }, "pending.client.client_id"],
  ];
  for (const [given, name] of wrong) {
    for (const finish of [finishAuthorization, api.finish]) {
      const call = () => finish(callback, untyped(given));
      await assertInvalidArgument(call, name);
    }
  }
});

Deno.test("startAuthorization() returns the URL, and what is needed to finish", async () => {
  const { url, pending } = await startAuthorization(CONTEXT, OPTIONS);
  const { code_challenge, ...rest } = Object.fromEntries(url.searchParams);
  assert(code_challenge && code_challenge !== pending.codeVerifier);
  assertEquals(rest, {
    response_type: "code",
    client_id: "c1",
    redirect_uri: REDIRECT_URI,
    state: pending.state,
    code_challenge_method: "S256",
    scope: "read",
    resource: CONTEXT.resource,
  });
  assertEquals(pending, {
    version: 1,
    internal: {},
    state: pending.state,
    codeVerifier: pending.codeVerifier,
    redirectUri: REDIRECT_URI,
    issuer: AS,
    resource: CONTEXT.resource,
    server: {
      token_endpoint: TOKEN,
      revocation_endpoint: `${AS}/revoke`,
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    },
    client: {
      client_id: "c1",
      client_secret: "s3cret",
      client_secret_expires_at: 0,
      redirect_uris: [REDIRECT_URI],
      // isClientKnown() decides on it.
      grant_types: ["authorization_code"],
      token_endpoint_auth_method: "client_secret_post",
    },
    scopes: ["read"],
  });
  assertEquals(JSON.parse(JSON.stringify(pending)), pending);
});

Deno.test("startAuthorization() requests the caller's scopes and parameters", async () => {
  const dpop = await createDpop();
  const { url, pending } = await startAuthorization(CONTEXT, {
    ...OPTIONS,
    scopes: ["openid", "write"],
    offlineAccess: true,
    parameters: { prompt: "consent" },
    resourceIndicator: false,
    dpop,
  });
  const read = (name: string) => url.searchParams.get(name);
  assertEquals(pending.scopes, ["openid", "write", "offline_access"]);
  assertEquals(read("scope"), "openid write offline_access");
  assertEquals(read("prompt"), "consent");
  assertEquals(read("resource"), null);
  assertEquals(internalOf(pending).resourceIndicator, false);
  assertEquals(read("dpop_jkt"), dpop.thumbprint);
  assert(pending.nonce);
  assertEquals(read("nonce"), pending.nonce);
});

Deno.test("startAuthorization() requests the resource indicator that it is given, and keeps it beside the resource", async () => {
  const resource = "urn:example:inside";
  const options = { ...OPTIONS, resourceIndicator: resource };
  const { url, pending } = await startAuthorization(CONTEXT, options);
  assertEquals(url.searchParams.get("resource"), resource);
  assertEquals([pending.resource, internalOf(pending).resourceIndicator], [
    MCP,
    resource,
  ]);
  const { session, form } = await finish(pending, {});
  assertEquals(form.resource, resource);
  assertEquals(internalOf(session).resourceIndicator, resource);
});

Deno.test("startAuthorization() refuses what must not be requested", async () => {
  const dpop = await createDpop();
  const start = (options: object) => () =>
    startAuthorization(CONTEXT, { ...OPTIONS, ...options });
  const other = { ...CLIENT, issuer: "https://x.example" };
  await assertRejectsCode(start({ client: other }), "issuer_mismatch");
  const rows = [
    { client: { client_id: "c1", client_secret: "s3cret" } },
    { scopes: ["a b"] },
    { parameters: { state: "own" } },
    ...["x", ["a"]].map((given) => ({ parameters: untyped(given) })),
    { dpop, parameters: { dpop_jkt: "own" } },
    { redirectUri: "" },
  ];
  for (const options of rows) {
    await assertRejectsCode(start(options), "invalid_argument");
  }
});

Deno.test("finishAuthorization() redeems the code and returns the session", async () => {
  const { pending } = await startAuthorization(CONTEXT, OPTIONS);
  const issued = { refresh_token: "r1", scope: "read" };
  const { session, form } = await finish(pending, issued);
  assertEquals(form, {
    grant_type: "authorization_code",
    code: "c0de",
    redirect_uri: REDIRECT_URI,
    code_verifier: pending.codeVerifier,
    resource: CONTEXT.resource,
    client_id: "c1",
    client_secret: "s3cret",
  });
  const expected: Session = {
    version: 1,
    issuer: AS,
    resource: CONTEXT.resource,
    server: pending.server,
    client: pending.client!,
    internal: {},
    token: { access_token: "a1", token_type: "Bearer", ...issued },
    scopes: ["read"],
  };
  assertEquals(session, expected);
});

Deno.test("finishAuthorization() uses the granted scopes if none were requested", async () => {
  const { scopes: _, ...context } = CONTEXT;
  const options = { ...OPTIONS, resourceIndicator: false } as const;
  const { pending } = await startAuthorization(context, options);
  assertEquals(pending.scopes, []);
  const { session, form } = await finish(pending, { scope: "read write" });
  assertEquals(session.scopes, ["read", "write"]);
  assertEquals([internalOf(session).resourceIndicator, form.resource], [
    false,
    undefined,
  ]);
});

Deno.test("finishAuthorization() keeps no granted scopes that are too many to be requested", async () => {
  const { scopes: _, ...context } = CONTEXT;
  await eachRowInTurn([[100, 100], [101, 0]], async ([count, kept]) => {
    const { pending } = await startAuthorization(context, OPTIONS);
    const scope = Array.from({ length: count! }, (_, n) => `s${n}`).join(" ");
    const { session } = await finish(pending, { scope });
    assertEquals([session.scopes.length, session.token.scope], [kept, scope]);
  });
});

Deno.test("startAuthorization() returns no URL of more than 16,384 characters", async () => {
  const lengthOf = async (scope: string, options: object = {}) => {
    const context = { ...CONTEXT, scopes: [scope] };
    const all = { ...OPTIONS, ...options };
    return (await startAuthorization(context, all)).url.href.length;
  };
  const rest = await lengthOf("x") - 1;
  assertEquals(await lengthOf("x".repeat(16_384 - rest)), 16_384);
  const long = [
    [16_385 - rest, {}],
    // Nothing is pushed.
    [16_385, { par: true, fetch: () => Promise.reject(new Error("No")) }],
  ] as const;
  await eachRowInTurn(long, async ([length, options]) => {
    const error = await pinRejected(
      () => lengthOf("x".repeat(length), options),
      "url_refused",
    );
    assertEquals(adviceFor(error).action, "give_up");
  });
});

async function refused(
  error: string,
  options: Partial<StartAuthorizationOptions>,
): Promise<OAuthClientError> {
  const all = { ...OPTIONS, ...options };
  const { pending } = await startAuthorization(CONTEXT, all);
  const query = new URLSearchParams({ error, state: pending.state, iss: AS });
  const finished = () => finishAuthorization(query, stored(pending));
  const failure = await assertRejectsCode(finished, "oauth_error");
  assertEquals(failure.error, error);
  return failure;
}

Deno.test("finishAuthorization() distinguishes a refused consent from one that could not be requested", async () => {
  const rows = [
    [undefined, undefined, "ask_user"],
    ["login", undefined, "ask_user"],
    ["none", "silent_authorization", "reauthorize"],
  ] as const;
  await eachRowInTurn(rows, async ([prompt, request, action]) => {
    const parameters = prompt && { prompt };
    const error = await refused("consent_required", { parameters });
    assertEquals([error.request, adviceFor(error)], [request, { action }]);
  });
});

Deno.test("finishAuthorization() names the option that may help after a refusal, unless it was set", async () => {
  const help = "set resourceIndicator: false";
  const { message } = await refused("invalid_target", {});
  assert(message.includes(help), message);
  const other = await refused("invalid_target", { resourceIndicator: false });
  assertEquals(other.message.includes(help), false, other.message);
});

Deno.test("finishAuthorization() makes no request for a response of another request or issuer", async () => {
  const { pending } = await startAuthorization(CONTEXT, OPTIONS);
  const callback = new URL(callbackFor(pending));
  const rows: [changed: Record<string, string>, code: string][] = [
    [{ state: "other" }, "invalid_authorization_response"],
    [{ iss: "https://other.example" }, "issuer_mismatch"],
    [{ iss: "" }, "issuer_mismatch"],
  ];
  using stub = stubFetch({});
  const { fetch } = stub;
  for (const [changed, code] of rows) {
    const members = Object.fromEntries(callback.searchParams);
    const query = new URLSearchParams({ ...members, ...changed });
    if (changed.iss === "") query.delete("iss");
    const finished = () => finishAuthorization(query, pending, { fetch });
    await assertRejectsCode(finished, code);
  }
  assertEquals(stub.requests, []);
});

Deno.test("finishAuthorization() makes no request for a response at another URL, or without a required iss", async () => {
  using stub = stubFetch({});
  const serverMetadata = {
    ...CONTEXT.serverMetadata,
    authorization_response_iss_parameter_supported: false,
  };
  const { pending } = await startAuthorization(
    { ...CONTEXT, serverMetadata },
    { ...OPTIONS, requireIss: true },
  );
  const { state } = pending;
  const query = new URLSearchParams({ code: "c", state, iss: AS });
  const elsewhere = new URL(`/other?${query}`, pending.redirectUri);
  await assertRejectsCode(
    () => finishAuthorization(elsewhere, pending, { fetch: stub.fetch }),
    "invalid_authorization_response",
  );
  query.delete("iss");
  const { fetch } = stub;
  const call = () => finishAuthorization(query, stored(pending), { fetch });
  await assertRejectsCode(call, "issuer_mismatch");
  assertEquals(stub.requests, []);
});
