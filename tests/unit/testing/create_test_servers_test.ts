/** The servers for tests refuse what real servers refuse. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createLocalJWKSet, jwtVerify } from "jose";
import { checkIdToken, createPkcePair } from "../../../mod.ts";
import { createTestServers } from "../../../lib/testing/mod.ts";
import type { TestServersOptions } from "../../../lib/testing/mod.ts";
import { unverifiedJwt } from "../../support/fixtures.ts";
import { eachRow, eachRowInTurn } from "../../support/each_row.ts";

const CLIENT = {
  client_id: "c",
  redirect_uris: ["http://127.0.0.1/cb", "https://app.example/cb"],
};
const SECRET = { ...CLIENT, client_secret: "a secret+%" };
const POST = { ...SECRET, token_endpoint_auth_method: "client_secret_post" };
const MACHINE = { ...SECRET, grant_types: ["client_credentials"] };
const MANY = {
  ...SECRET,
  grant_types: ["authorization_code", "refresh_token"],
};

/** Parameters to change; undefined removes one, and a list repeats it. */
type Changes = Record<string, string | string[] | undefined>;

function parameters(members: Changes): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    for (const one of [value ?? []].flat()) params.append(name, one);
  }
  return params;
}

/** A program without this library, which makes one request after the other. */
function program(options: TestServersOptions = {}) {
  const servers = createTestServers({ clients: [CLIENT], ...options });
  const { issuer, resource, fetch } = servers;
  const redirect_uri = "http://127.0.0.1:33418/cb";
  let verifier = "";
  const post = async (path: string, form: Changes, headers = {}) => {
    const body = parameters(form);
    const url = issuer + path;
    const response = await fetch(url, { method: "POST", body, headers });
    return { status: response.status, ...await response.json() };
  };
  return {
    servers,
    async authorize(changes: Changes = {}) {
      const { codeVerifier, codeChallenge } = await createPkcePair();
      verifier = codeVerifier;
      const url = new URL(`${issuer}/authorize`);
      url.search = `${
        parameters({
          ...{ client_id: "c", response_type: "code", redirect_uri, resource },
          ...{ state: "s", scope: "read", code_challenge: codeChallenge },
          code_challenge_method: "S256",
          ...changes,
        })
      }`;
      const callback = await servers.receiver.visit(url);
      return Object.fromEntries(new URL(callback).searchParams);
    },
    redeem: (changes: Changes = {}, headers = {}) =>
      post("/token", {
        grant_type: "authorization_code",
        ...{ client_id: "c", redirect_uri, resource, code_verifier: verifier },
        ...changes,
      }, headers),
    refresh: (refresh_token: string, changes: Changes = {}) =>
      post("/token", {
        ...{ grant_type: "refresh_token", client_id: "c", resource },
        ...{ refresh_token, ...changes },
      }),
    post,
    call: (token: string, url = resource) =>
      fetch(url, { headers: { Authorization: `Bearer ${token}` } }),
  };
}

async function signIn(one: ReturnType<typeof program>, changes: Changes = {}) {
  const { code } = await one.authorize();
  return await one.redeem({ code: code!, ...changes });
}

const basic = (id: string, secret = "a+secret%2B%25") => ({
  Authorization: `Basic ${btoa(`${id}:${secret}`)}`,
});

/** By error, then by the reason: the parameters that lead to it. */
type Refusals = Record<string, Record<string, Changes>>;

const rowsOf = (refusals: Refusals) =>
  Object.entries(refusals).flatMap(([error, rows]) =>
    Object.entries(rows).map(([why, changes]) => ({ error, why, changes }))
  );

Deno.test("createTestServers() lets a program sign in that does everything right", async () => {
  const one = program();
  const { state, iss } = await one.authorize();
  assertEquals(one.servers.accessTokens(), []);
  assertEquals([state, iss], ["s", one.servers.issuer]);
  const { access_token, ...token } = await signIn(one);
  assertEquals([token.token_type, token.expires_in, token.scope], [
    "Bearer",
    3600,
    "read",
  ]);
  const response = await one.call(access_token, `${one.servers.resource}/x`);
  assertEquals(await response.json(), {
    ok: true,
    clientId: "c",
    scopes: ["read"],
  });
  assertEquals(response.url, `${one.servers.resource}/x`);
  assertEquals((await one.call("other")).status, 401);
  assertEquals(one.servers.accessTokens(), [access_token]);
  const outside = new URL("/other", one.servers.resource).href;
  assertEquals((await one.call(access_token, outside)).status, 404);
  await assertRejects(() => one.call("", "https://x.example/"), TypeError);
});

Deno.test("createTestServers() shows the user a page if it cannot redirect safely", async () => {
  const one = program();
  const redirects = [
    "http://127.0.0.1:1/other",
    "http://localhost/cb",
    "https://app.example:8443/cb",
    "https://127.0.0.1/cb",
    undefined,
  ];
  const rows = [
    { client_id: "unknown" },
    ...redirects.map((redirect_uri) => ({ redirect_uri })),
  ];
  for (const changes of rows) {
    const refused = () => one.authorize(changes);
    await assertRejects(refused, Error, "sees a page: 400");
  }
});

const REQUESTS: Refusals = {
  unsupported_response_type: {
    "another response type": { response_type: "token" },
  },
  invalid_request: {
    "no code challenge": { code_challenge: undefined },
    "the method plain": { code_challenge_method: "plain" },
    "no method": { code_challenge_method: undefined },
    "a repeated scope": { scope: ["read", "read"] },
  },
  invalid_target: {
    "no resource": { resource: undefined },
    "another resource": { resource: "https://api.example" },
  },
};

for (const { why, changes, error } of rowsOf(REQUESTS)) {
  Deno.test(`createTestServers() refuses an authorization request with ${why}`, async () => {
    const response = await program().authorize(changes);
    assertEquals([response.error, response.code], [error, undefined]);
    assertEquals(response.state, "s");
  });
}

const CODES: Refusals = {
  invalid_grant: {
    "another code verifier": { code_verifier: "x".repeat(43) },
    "no code verifier": { code_verifier: undefined },
    "another redirect URI": { redirect_uri: "http://127.0.0.1:1/cb" },
    "another code": { code: "x" },
    "another client": { client_id: "other" },
  },
  invalid_client: {
    "an unknown client": { client_id: "unknown" },
    "a client that is not registered for it": { client_id: "machine" },
    "no client": { client_id: undefined },
  },
  invalid_target: { "no resource": { resource: undefined } },
  unsupported_grant_type: {
    "an unknown grant type": { grant_type: "password" },
  },
  invalid_request: { "a repeated parameter": { state: ["s", "s"] } },
};

for (const { why, changes, error } of rowsOf(CODES)) {
  Deno.test(`createTestServers() refuses a code with ${why}`, async () => {
    const machine = { ...MACHINE, client_id: "machine" };
    const clients = [CLIENT, { ...CLIENT, client_id: "other" }, machine];
    const response = await signIn(program({ clients }), changes);
    const status = error === "invalid_client" ? 401 : 400;
    assertEquals([response.error, response.status], [error, status]);
  });
}

Deno.test("createTestServers() accepts a code once and for a minute, and revokes its tokens after a second use", async () => {
  let now = 0;
  const one = program({ now: () => now });
  const { code } = await one.authorize();
  const { access_token, refresh_token } = await one.redeem({ code: code! });
  assertEquals((await one.call(access_token)).status, 200);
  assertEquals((await one.redeem({ code: code! })).error, "invalid_grant");
  assertEquals((await one.call(access_token)).status, 401);
  assertEquals((await one.refresh(refresh_token)).error, "invalid_grant");
  const { code: late } = await one.authorize();
  now += 60_000;
  assertEquals((await one.redeem({ code: late! })).error, "invalid_grant");
});

const CREDENTIALS: Record<
  string,
  [
    client: Partial<typeof POST> & typeof CLIENT,
    form: Changes,
    headers: object,
    error?: string,
  ]
> = {
  "Basic credentials": [SECRET, { client_id: undefined }, basic("c")],
  "credentials in the form": [POST, { client_secret: "a secret+%" }, {}],
  "credentials that are not form-encoded": [
    SECRET,
    {},
    basic("c", "a secret+%"),
    "invalid_client",
  ],
  "a wrong secret": [SECRET, {}, basic("c", "wrong"), "invalid_client"],
  "no secret": [SECRET, {}, {}, "invalid_client"],
  "the other method": [POST, {}, basic("c"), "invalid_client"],
  "a secret of a public client": [
    CLIENT,
    { client_secret: "x" },
    {},
    "invalid_client",
  ],
  "two methods": [
    SECRET,
    { client_secret: "x" },
    basic("c"),
    "invalid_request",
  ],
  "two identifiers": [
    SECRET,
    { client_id: "d" },
    basic("c"),
    "invalid_request",
  ],
};

for (
  const [why, [client, form, headers, error]] of Object.entries(CREDENTIALS)
) {
  Deno.test(`createTestServers() ${error ? "refuses" : "accepts"} ${why}`, async () => {
    const one = program({ clients: [client] });
    const { code } = await one.authorize();
    const response = await one.redeem({ code: code!, ...form }, headers);
    assertEquals(response.error, error);
  });
}

Deno.test("createTestServers() registers clients, and holds them to what they registered", async () => {
  const one = program();
  const { issuer, fetch } = one.servers;
  const register = async (metadata: unknown) => {
    const body = JSON.stringify(metadata);
    const init = { method: "POST", body };
    return await (await fetch(`${issuer}/register`, init)).json();
  };
  const https = "https://app.example/cb";
  const uris = [[], ["x"], [https, "x"], ["http://app.example/cb"], [5]];
  for (const redirect_uris of [...uris, undefined, [`${https}#`], https]) {
    const { error } = await register({ redirect_uris });
    assertEquals(error, "invalid_redirect_uri", `${redirect_uris}`);
  }
  const tls = { ...CLIENT, token_endpoint_auth_method: "tls" };
  const grants = { ...CLIENT, grant_types: "authorization_code" };
  for (const metadata of [tls, grants, null, [], "text"]) {
    const { error } = await register(metadata);
    assertEquals(error, "invalid_client_metadata", JSON.stringify(metadata));
  }
  const { redirect_uris } = CLIENT;
  const { client_secret, ...client } = await register({ redirect_uris });
  assertEquals(client.token_endpoint_auth_method, "client_secret_basic");
  const { code = "" } = await one.authorize({ client_id: client.client_id });
  const headers = basic(client.client_id, client_secret);
  const token = await one.redeem({ code, client_id: undefined }, headers);
  assert(token.access_token);
  // Without the grant type refresh_token, there is no refresh token.
  assertEquals(token.refresh_token, undefined);
});

Deno.test("createTestServers() issues a service its token, and refuses a public client and other grants", async () => {
  const one = program({
    clients: [SECRET, { client_id: "p" }, { ...MANY, client_id: "m" }],
  });
  const { resource } = one.servers;
  const form = { grant_type: "client_credentials", scope: "read", resource };
  const { access_token, refresh_token } = await one.post(
    "/token",
    form,
    basic("c"),
  );
  assertEquals((await one.call(access_token)).status, 200);
  assertEquals(refresh_token, undefined);
  const rows = [
    await one.post("/token", { ...form, client_id: "p" }),
    await one.post("/token", form, basic("m")),
  ];
  eachRow(rows, (refused) => {
    assertEquals(refused.error, "unauthorized_client");
  });
});

Deno.test("createTestServers() binds a refresh to its client, scopes and resource", async () => {
  const one = program({ clients: [CLIENT, { ...CLIENT, client_id: "other" }] });
  const { refresh_token } = await signIn(one);
  for (
    const [changes, error] of [
      [{ client_id: "other" }, "invalid_grant"],
      [{ scope: "read write" }, "invalid_scope"],
      [{ resource: undefined }, "invalid_target"],
    ] satisfies [Changes, string][]
  ) assertEquals((await one.refresh(refresh_token, changes)).error, error);
  const { scope } = await one.refresh(refresh_token, { scope: "read" });
  assertEquals(scope, "read");
});

Deno.test("createTestServers() revokes an access token, or with a refresh token everything", async () => {
  const one = program({ clients: [CLIENT, { ...CLIENT, client_id: "other" }] });
  const revoke = (token: string, client_id = "c") =>
    one.servers.fetch(`${one.servers.issuer}/revoke`, {
      method: "POST",
      body: new URLSearchParams({ token, client_id }),
    });
  const first = await signIn(one);
  await revoke(first.access_token, "other");
  await revoke(first.refresh_token, "other");
  assertEquals((await one.call(first.access_token)).status, 200);
  await revoke(first.access_token);
  assertEquals((await one.call(first.access_token)).status, 401);
  const second = await one.refresh(first.refresh_token);
  await revoke(second.refresh_token);
  assertEquals((await one.call(second.access_token)).status, 401);
  const { error } = await one.refresh(second.refresh_token);
  assertEquals(error, "invalid_grant");
});

Deno.test("createTestServers() accepts no parameters of a token request in the URL", async () => {
  const one = program();
  const { resource } = one.servers;
  const { refresh_token } = await signIn(one);
  const params = { grant_type: "refresh_token", client_id: "c", resource };
  const query = parameters({ ...params, refresh_token });
  assertEquals((await one.post(`/token?${query}`, {})).error, "invalid_client");
  // What the URL has is not taken for a repeated parameter either.
  const { access_token } = await one.post(`/token?grant_type=x`, {
    ...params,
    refresh_token,
  });
  assert(access_token);
});

Deno.test("createTestServers() refuses a short code verifier", async () => {
  const one = program();
  const verifier = "short";
  // The SHA-256 digest of the verifier.
  const challenge = "-bAHi131ltLqGQEMABu9AJ5lHeLFfo-341XzHrnT9zk";
  const { code } = await one.authorize({ code_challenge: challenge });
  const { error } = await one.redeem({ code: code!, code_verifier: verifier });
  assertEquals(error, "invalid_grant");
});

Deno.test("createTestServers() issues device codes to clients of that grant, for ten minutes", async () => {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const device = { client_id: "d", grant_types: [grant_type] };
  const one = program({ clients: [MANY, device] });
  const { resource, advance } = one.servers;
  const refused = await one.post("/device", { resource }, basic("c"));
  assertEquals(refused.error, "unauthorized_client");
  const form = { client_id: "d", resource };
  const { device_code } = await one.post("/device", form);
  advance(600);
  const late = await one.post("/token", { ...form, grant_type, device_code });
  assertEquals(late.error, "expired_token");
});

Deno.test("createTestServers() accepts POST only where tokens are sent", async () => {
  const { issuer, fetch } = createTestServers();
  for (
    const path of ["/token", "/register", "/revoke", "/device", "/bc-authorize"]
  ) {
    assertEquals((await fetch(`${issuer}${path}?client_id=c`)).status, 405);
  }
});

Deno.test("createTestServers() accepts a backchannel authentication with one hint and openid, of a client with a secret", async () => {
  const grant_type = "urn:openid:params:grant-type:ciba";
  const agent = {
    client_id: "a",
    client_secret: "s",
    grant_types: [grant_type],
  };
  const open = { client_id: "p", grant_types: [grant_type] };
  const one = program({ clients: [MANY, agent, open] });
  const { resource, issuer, advance } = one.servers;
  const form = { resource, scope: "openid read", login_hint: "ada" };
  const ask = (changes: Changes = {}, headers: object = basic("a", "s")) =>
    one.post("/bc-authorize", { ...form, ...changes }, headers);
  const bad = unverifiedJwt({ iss: "https://other.example", sub: "ada" });
  const own = unverifiedJwt({ iss: issuer, sub: "grace" });
  const rows: [error: string, Changes, headers?: object][] = [
    ["unauthorized_client", {}, basic("c")],
    ["unauthorized_client", { client_id: "p" }, {}],
    ["invalid_client", {}, basic("a", "wrong")],
    ["invalid_request", { login_hint: undefined }],
    ["invalid_request", { login_hint_token: "t" }],
    ["invalid_request", { requested_expiry: "0" }],
    ["invalid_scope", { scope: "read" }],
    ["invalid_scope", { scope: undefined }],
    ["invalid_target", { resource: undefined }],
    ["unknown_user_id", { login_hint: undefined, id_token_hint: bad }],
  ];
  await eachRowInTurn(rows, async ([error, changes, headers]) => {
    assertEquals((await ask(changes, headers)).error, error);
  });
  const poll = (auth_req_id: string, headers = basic("a", "s")) =>
    one.post("/token", { resource, grant_type, auth_req_id }, headers);
  const { auth_req_id, expires_in, interval } = await ask();
  assertEquals([expires_in, interval], [600, 1]);
  advance(600);
  assertEquals((await poll(auth_req_id)).error, "expired_token");
  const cases = [
    [{}, "ada"],
    [{ login_hint: undefined, login_hint_token: "t" }, "user"],
    [{ login_hint: undefined, id_token_hint: own }, "grace"],
  ] as const;
  for (const [changes, user] of cases) {
    const { auth_req_id } = await ask({ ...changes, requested_expiry: "9" });
    const { access_token, id_token } = await poll(auth_req_id);
    const { sub } = await checkIdToken(id_token, {
      ...{ issuer, clientId: "a", accessToken: access_token },
      ...{ maxAge: 0, now: one.servers.now },
    });
    assertEquals(sub, user);
    assertEquals((await poll(auth_req_id)).error, "invalid_grant");
  }
});

Deno.test("createTestServers() issues ID tokens for openid, signed by a key at jwks_uri, also in a refresh", async () => {
  const one = program({ clients: [MANY] });
  const { issuer, fetch, now, resource } = one.servers;
  const server = "/.well-known/oauth-authorization-server";
  const { jwks_uri } = await (await fetch(issuer + server)).json();
  const keys = createLocalJWKSet(await (await fetch(jwks_uri)).json());
  const { code } = await one.authorize({ scope: "openid", nonce: "n1" });
  const first = await one.redeem({ code, client_id: undefined }, basic("c"));
  const next = await one.post("/token", {
    ...{ grant_type: "refresh_token", resource },
    refresh_token: first.refresh_token,
  }, basic("c"));
  for (const [token, nonce] of [[first, "n1"], [next, undefined]]) {
    const { payload } = await jwtVerify(token.id_token, keys);
    assertEquals([payload.sub, payload.nonce], ["user", nonce]);
    const accessToken = token.access_token;
    const expected = { issuer, clientId: "c", nonce, accessToken, now };
    await checkIdToken(token.id_token, expected);
  }
  const without = await one.authorize({ scope: "read" });
  const plain = { code: without.code, client_id: undefined };
  assertEquals((await one.redeem(plain, basic("c"))).id_token, undefined);
  const machine = program({ clients: [MACHINE], scopes: ["openid"] });
  const own = await machine.post("/token", {
    ...{ grant_type: "client_credentials", scope: "openid", resource },
  }, basic("c"));
  assertEquals([own.scope, own.id_token], ["openid", undefined]);
});
