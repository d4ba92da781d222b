/** The servers for tests bind tokens to keys, and refuse what RFC 9449 has them refuse. */
import { assert, assertEquals } from "@std/assert";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import {
  codeFlow,
  createAuthorizedFetch,
  createDpop,
  createPkcePair,
  type Dpop,
} from "../../../mod.ts";
import {
  createTestServers,
  type TestServersOptions,
} from "../../../lib/testing/mod.ts";
import { signJwt } from "../../../lib/client/_jws.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinRejected } from "../../support/fixtures.ts";

async function start(options: TestServersOptions = {}) {
  const servers = createTestServers(options);
  const { resource, fetch, now, receiver } = servers;
  const dpop = await createDpop({ now });
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, {
    fetch,
    now,
    dpop,
    flow: authorize,
  });
  return {
    ...{ servers, api, dpop },
    call: async () => (await api(resource)).status,
    token: async () => (await api.session())?.token,
  };
}

Deno.test("a token is bound to the key of the client, and renewed with it", async () => {
  for (const dpop of ["optional", "required"] as const) {
    const { servers, api, call, token, dpop: { thumbprint } } = await start({
      dpop,
    });
    assertEquals(await call(), 200);
    assertEquals((await token())?.token_type, "DPoP");
    assertEquals((await api.session())?.dpopThumbprint, thumbprint);
    servers.advance(3600);
    assertEquals(await call(), 200);
    const statuses = servers.requests.map(({ status }) => status);
    assertEquals(statuses.filter((status) => status === 401).length, 1, dpop);
    assertEquals(servers.received("token", "refresh_token").length, 1);
  }
});

Deno.test("dpopNonce: each server requires its own nonce, and a new one after 5 minutes", async () => {
  const { servers, call } = await start({ dpopNonce: true });
  const counts = () =>
    (["token", "resource"] as const).map((endpoint) =>
      servers.received(endpoint).length
    );
  // The first call has no token; token request and call are repeated with a nonce.
  assertEquals([await call(), ...counts()], [200, 2, 3]);
  assertEquals([await call(), ...counts()], [200, 2, 4]);
  servers.advance(300);
  assertEquals([await call(), ...counts()], [200, 2, 6]);
});

Deno.test("a server that ignores DPoP issues bearer tokens", async () => {
  const { call, servers } = await start({ dpop: "ignored" });
  await pinRejected(call, "invalid_response");
  assertEquals(servers.accessTokens().length, 1);
  const [accessToken = ""] = servers.accessTokens();
  const { resource, fetch, now } = servers;
  const key = await createDpop({ now });
  for (
    const [headers, status] of [
      [{ Authorization: `Bearer ${accessToken}` }, 200],
      [
        await key.createHeaders({ method: "GET", url: resource, accessToken }),
        401,
      ],
    ] as const
  ) {
    const response = await fetch(resource, { headers });
    assertEquals(response.status, status);
    const challenge = response.headers.get("WWW-Authenticate") ?? "Bearer ";
    assert(challenge.startsWith("Bearer "), challenge);
  }
});

Deno.test("a program without a key learns before the sign-in that one is required", async () => {
  const servers = createTestServers({ dpop: "required" });
  const { resource, fetch, receiver } = servers;
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { fetch, flow: authorize });
  await pinRejected(() => api(resource), "unsupported");
  assertEquals(servers.received("authorization"), []);
});

/** Servers with a client of its own, and its token request with a proof. */
function startService() {
  const client = { client_id: "m", client_secret: "s" };
  const servers = createTestServers({ clients: [client] });
  const { issuer, resource, fetch, now } = servers;
  const url = `${issuer}/token`;
  return {
    servers,
    claims: () => ({
      ...{ jti: crypto.randomUUID(), htm: "POST", htu: url },
      iat: Math.floor(now() / 1000),
    }),
    async request(proof: string) {
      const form = { grant_type: "client_credentials", resource };
      const response = await fetch(url, {
        method: "POST",
        body: new URLSearchParams(form),
        headers: { DPoP: proof, Authorization: `Basic ${btoa("m:s")}` },
      });
      return await response.json();
    },
  };
}

Deno.test("the servers accept proofs of each algorithm that their metadata list", async () => {
  const { servers: { fetch, issuer }, claims, request } = startService();
  const url = `${issuer}/.well-known/oauth-authorization-server`;
  const { dpop_signing_alg_values_supported: listed } = await (await fetch(url))
    .json();
  assertEquals(listed.length, 6);
  for (const alg of listed) {
    const { privateKey, publicKey } = await generateKeyPair(alg);
    const jwk = await exportJWK(publicKey);
    const proof = await new SignJWT(claims())
      .setProtectedHeader({ typ: "dpop+jwt", alg, jwk })
      .sign(privateKey);
    assertEquals((await request(proof)).token_type, "DPoP", alg);
  }
});

type Members = Record<string, unknown>;

/** What a proof with a key must not be: members of its header, and of its claims. */
const invalidProofs = (
  { d, x, y, ...jwk }: Members,
): Record<string, [header: Members, claims: Members, why: string]> => ({
  "another type": [{ typ: "JWT" }, {}, "not a JWT of type dpop+jwt"],
  "a private key": [
    { jwk: { ...jwk, x, y, d } },
    {},
    "not a JWT of type dpop+jwt",
  ],
  "no key": [{ jwk: undefined }, {}, "not a JWT of type dpop+jwt"],
  "another key": [{ jwk: { ...jwk, x: y, y: x } }, {}, "not a JWT"],
  "another method": [{}, { htm: "GET" }, "htm is GET, expected POST"],
  "another URL": [
    {},
    { htu: "https://auth.example/x" },
    "htu is https://auth.ex",
  ],
  "no URL": [
    {},
    { htu: undefined },
    "htu is undefined, expected https://auth",
  ],
  "the hash of a token": [{}, { ath: "x" }, "ath is x, expected undefined"],
  "an old proof": [{}, { iat: 0 }, "pass their now to createDpop"],
  "no time": [{}, { iat: undefined }, "iat is NaN seconds"],
  "no identifier": [{}, { jti: undefined }, "jti is missing, or was used"],
});

Deno.test("the token endpoint refuses an invalid proof", async () => {
  const { claims: usual, request } = startService();
  const { privateKey } = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    true,
    ["sign", "verify"],
  );
  const { d, crv, kty, x, y } = await crypto.subtle
    .exportKey("jwk", privateKey);
  const jwk = { crv, kty, x, y };
  const proofOf = (header: Members, claims: Members) =>
    signJwt(
      { typ: "dpop+jwt", jwk, ...header },
      { ...usual(), ...claims },
      privateKey,
    );
  await eachRowInTurn(
    Object.entries(invalidProofs({ ...jwk, d })),
    async ([, [header, claims, why]]) => {
      const { error, error_description } = await request(
        await proofOf(header, claims),
      );
      assertEquals(error, "invalid_dpop_proof");
      assert(error_description.includes(why), error_description);
    },
  );
  const proof = await proofOf({}, {});
  const tampered = proof.slice(0, -8) +
    proof.slice(-8).split("").reverse().join("");
  for (const invalid of ["", "x", "a.b.c", tampered]) {
    assertEquals((await request(invalid)).error, "invalid_dpop_proof", invalid);
  }
  assertEquals((await request(proof)).token_type, "DPoP");
  assertEquals((await request(proof)).error, "invalid_dpop_proof", "again");
});

Deno.test("a call needs the scheme, the proof and the key of its token", async () => {
  const { servers, call, token, dpop } = await start();
  await call();
  const { resource, fetch, now } = servers;
  const bound = (await token())!.access_token;
  const other = await createDpop({ now });
  const headersOf = (key: Dpop, accessToken: string, url = resource) =>
    key.createHeaders({ method: "GET", url, accessToken });
  const authorize = codeFlow(servers.receiver);
  await createAuthorizedFetch(resource, { fetch, now, flow: authorize })(
    resource,
  );
  const [, bearer = ""] = servers.accessTokens();
  const mixed = await headersOf(dpop, "x");
  const rows: Record<string, [headers: Record<string, string>, error: string]> =
    {
      "as a bearer token": [
        { Authorization: `Bearer ${bound}` },
        "invalid_token",
      ],
      "without a proof": [{ Authorization: `DPoP ${bound}` }, "invalid_token"],
      "a bearer token with a proof": [
        await headersOf(dpop, bearer),
        "invalid_token",
      ],
      "with another key": [await headersOf(other, bound), "invalid_token"],
      "for another URL": [
        await headersOf(dpop, bound, `${resource}/x`),
        "invalid_dpop_proof",
      ],
      "for another token": [
        { ...mixed, Authorization: `DPoP ${bound}` },
        "invalid_dpop_proof",
      ],
    };
  await eachRowInTurn(Object.entries(rows), async ([, [headers, error]]) => {
    const response = await fetch(resource, { headers });
    const challenge = response.headers.get("WWW-Authenticate") ?? "";
    assertEquals(response.status, 401);
    assert(challenge.startsWith(`DPoP error="${error}"`), challenge);
    assert(challenge.includes('algs="ES256 ES384 EdDSA Ed25519 PS256 RS256"'));
  });
  const headers = await headersOf(dpop, bound);
  assertEquals((await fetch(resource, { headers })).status, 200);
});

Deno.test("a code, and a refresh token of a client without a secret, need their key", async () => {
  const redirect_uris = ["http://127.0.0.1/cb"];
  const clients = [
    { client_id: "public", redirect_uris, client_secret: undefined },
    { client_id: "with a secret", redirect_uris, client_secret: "s" },
  ].map((client) => ({
    ...client,
    token_endpoint_auth_method: client.client_secret && "client_secret_post",
  }));
  const servers = createTestServers({ clients });
  const { fetch, issuer, now, receiver, resource } = servers;
  const url = `${issuer}/token`;
  const [one, other] = [await createDpop({ now }), await createDpop({ now })];
  const { codeChallenge, codeVerifier } = await createPkcePair();
  const redirect_uri = "http://127.0.0.1:1/cb";

  async function codeOf(client_id: string): Promise<string> {
    const authorization = new URL(`${issuer}/authorize`);
    authorization.search = `${new URLSearchParams({
      ...{ client_id, redirect_uri, resource, response_type: "code" },
      ...{ code_challenge: codeChallenge, code_challenge_method: "S256" },
      dpop_jkt: one.thumbprint,
    })}`;
    const callback = new URL(await receiver.visit(authorization));
    return callback.searchParams.get("code")!;
  }

  async function tokenWith(
    key: Dpop | undefined,
    client: typeof clients[number],
    form: Record<string, string>,
  ) {
    const { client_id, client_secret } = client;
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams({
        ...{ client_id, resource, ...form },
        ...client_secret && { client_secret },
      }),
      headers: await key?.createHeaders({ method: "POST", url }) ?? {},
    });
    return await response.json();
  }

  for (const client of clients) {
    const redeem = async (key: Dpop | undefined) =>
      await tokenWith(key, client, {
        ...{ grant_type: "authorization_code", redirect_uri },
        ...{
          code: await codeOf(client.client_id),
          code_verifier: codeVerifier,
        },
      });
    for (const key of [other, undefined]) {
      assertEquals((await redeem(key)).error, "invalid_grant");
    }
    const { refresh_token, token_type } = await redeem(one);
    assertEquals(token_type, "DPoP");
    const refresh = { grant_type: "refresh_token", refresh_token };
    const { error, token_type: type } = await tokenWith(other, client, refresh);
    assertEquals(
      error ?? type,
      client.client_id === "public" ? "invalid_grant" : "DPoP",
    );
  }
});

Deno.test("required: bearer tokens from before are refused, and replaced", async () => {
  const servers = createTestServers();
  const { resource, fetch, now, receiver } = servers;
  const authorize = codeFlow(receiver);
  const options = { fetch, now, flow: authorize };
  const api = createAuthorizedFetch(resource, options);
  assertEquals((await api(resource)).status, 200);
  const [token = ""] = servers.accessTokens();
  servers.dpop = "required";
  const response = await fetch(resource, {
    headers: { Authorization: `Bearer ${token}` },
  });
  assertEquals(response.status, 401);
  const dpop = await createDpop({ now });
  const proof = await dpop.createHeaders({
    ...{ method: "GET", url: resource, accessToken: token },
  });
  // A key does not make a bearer token a bound one.
  assertEquals((await fetch(resource, { headers: proof })).status, 401);
  const bound = createAuthorizedFetch(resource, { ...options, dpop });
  assertEquals((await bound(resource)).status, 200);
});
