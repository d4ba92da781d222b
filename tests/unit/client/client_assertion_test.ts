/** Assertions of a client are new for each request, and verify with another library. */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { decodeProtectedHeader, importJWK, type JWK, jwtVerify } from "jose";
import {
  type AssertionAudience,
  clientAssertion,
  type ClientAuthentication,
  type PrivateJwk,
  privateKeyJwt,
  type PrivateKeyJwtOptions,
} from "../../../mod.ts";
import {
  assertInvalidArgument,
  assertRejectsCode,
  createSigningKeys,
  pinRejected,
  pinThrown,
} from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { ec, type Generation, pairOf, rsa } from "../../support/keys.ts";
import { eachRow, eachRowInTurn } from "../../support/each_row.ts";

const SERVER = {
  issuer: "https://as.example/t1",
  token_endpoint: "https://as.example/t1/token",
};
const { issuer } = SERVER;

async function bodyOf(
  client: ClientAuthentication,
  serverMetadata: { issuer: string; token_endpoint?: string } = SERVER,
): Promise<Record<string, string>> {
  const body = new URLSearchParams({ a: "b", client_id: "other" });
  const headers = {};
  await client.authenticate({ serverMetadata, body, headers });
  assertEquals(headers, {});
  return Object.fromEntries(body);
}

async function assertionOf(client: ClientAuthentication): Promise<string> {
  return (await bodyOf(client)).client_assertion ?? "";
}

/** Signs with a new key: the client, and the header and the claims that are verified. */
async function signed(options: PrivateKeyJwtOptions, clientId = "c1") {
  const { privateKey, publicKey } = await createSigningKeys();
  const client = privateKeyJwt(clientId, privateKey, options);
  const verified = async () => {
    const currentDate = new Date(options.now?.() ?? Date.now());
    const assertion = await assertionOf(client);
    return await jwtVerify(assertion, publicKey, { currentDate });
  };
  const { protectedHeader: header, payload: claims } = await verified();
  return { client, header, claims, verified };
}

Deno.test("clientAssertion() sends what getJwt returns", async () => {
  for (const returned of ["a.b.c", Promise.resolve("a.b.c")]) {
    const client = clientAssertion("c1", () => returned);
    assertEquals([client.clientId, client.method], ["c1", "private_key_jwt"]);
    assertEquals(await bodyOf(client), {
      a: "b",
      client_id: "c1",
      client_assertion_type:
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: "a.b.c",
    });
  }
});

Deno.test("clientAssertion() calls getJwt for every request with its audience", async () => {
  const audiences: AssertionAudience[] = [];
  const client = clientAssertion("c1", ({ issuer, tokenEndpoint }) => {
    audiences.push({ issuer, tokenEndpoint });
    return `jwt-${audiences.length}`;
  });
  assertEquals(await assertionOf(client), "jwt-1");
  await bodyOf(client, { issuer: "https://other.example" });
  assertEquals(audiences, [
    { issuer: SERVER.issuer, tokenEndpoint: SERVER.token_endpoint },
    { issuer: "https://other.example", tokenEndpoint: undefined },
  ]);
});

Deno.test("clientAssertion() rejects a result that is not a non-empty string", async () => {
  for (const result of [undefined, null, "", 1, {}]) {
    const client = clientAssertion("c1", () => untyped(result));
    await assertInvalidArgument(() => bodyOf(client), "getJwt");
  }
});

Deno.test("clientAssertion() rejects a getJwt that is not a function", () => {
  for (const getJwt of [undefined, null, "a.b.c", {}].map(untyped)) {
    const call = () => clientAssertion("c1", getJwt);
    pinThrown(call, "invalid_argument");
  }
});

Deno.test("privateKeyJwt() signs an assertion that jose verifies", async () => {
  const now = () => 1_700_000_000_999;
  const options = { issuer, keyId: "k1", now };
  const { client, header, claims } = await signed(options);
  assertEquals([client.clientId, client.method], ["c1", "private_key_jwt"]);
  assertEquals(header, { alg: "ES256", typ: "JWT", kid: "k1" });
  const { jti, ...others } = claims;
  assertEquals(others, {
    iss: "c1",
    sub: "c1",
    aud: "https://as.example/t1",
    iat: 1_700_000_000,
    exp: 1_700_000_060,
  });
  assert(jti!.length >= 16);
});

Deno.test("privateKeyJwt() uses audience, type and lifetimeSeconds, and omits kid by default", async () => {
  const rows = [
    ["urn:example:as", "urn:example:as"],
    ["issuer", issuer],
    ["token_endpoint", SERVER.token_endpoint],
  ] as const;
  await eachRowInTurn(rows, async ([audience, aud]) => {
    const type = "client-authentication+jwt";
    const options = { issuer, audience, type, lifetimeSeconds: 300 };
    const { header, claims } = await signed(options);
    assertEquals(header, { alg: "ES256", typ: type });
    assertEquals([claims.aud, claims.exp! - claims.iat!], [aud, 300]);
  });
});

Deno.test("privateKeyJwt() needs an issuer, except for a client metadata document with that audience", async () => {
  const { privateKey } = await createSigningKeys();
  const document = "https://client.example/metadata.json";
  const { claims } = await signed({}, document);
  assertEquals([claims.iss, claims.aud], [document, issuer]);
  const rows = [
    ["c1", undefined],
    ["http://client.example/metadata.json", undefined],
    [document, "token_endpoint"],
    [document, issuer],
  ] as const;
  for (const [clientId, audience] of rows) {
    const call = () => privateKeyJwt(clientId, privateKey, { audience });
    pinThrown(call, "invalid_argument");
  }
});

Deno.test("privateKeyJwt() rejects a lifetime that is not a positive number", async () => {
  const { privateKey } = await createSigningKeys();
  for (const lifetime of [NaN, 0, -1, Infinity, -Infinity, null, "60", {}]) {
    const lifetimeSeconds = untyped(lifetime);
    pinThrown(
      () => privateKeyJwt("c1", privateKey, { issuer, lifetimeSeconds }),
      "invalid_argument",
    );
  }
});

Deno.test("privateKeyJwt() signs a new assertion for every request", async () => {
  let time = 5_000;
  const { claims, verified } = await signed({ issuer, now: () => time });
  time = 6_000;
  const { payload } = await verified();
  assertEquals([claims.iat, payload.iat], [5, 6]);
  assertNotEquals(claims.jti, payload.jti);
});

/** Generates a key pair, and exports its private key. */
async function generateJwk(generation: Generation) {
  const { privateKey, publicKey } = await pairOf(generation, true);
  const jwk = await crypto.subtle.exportKey("jwk", privateKey);
  return { jwk, publicKey };
}

const RSASSA = "RSASSA-PKCS1-v1_5";
const JWKS: [alg: string, generation: Generation, members: PrivateJwk][] = [
  ["ES256", ec("P-256"), {}],
  ["ES256", ec("P-256"), { alg: "ES256", use: "sig", key_ops: ["sign"] }],
  ["ES384", ec("P-384"), { alg: "ES384" }],
  ["ES512", ec("P-521"), {}],
  ["EdDSA", { name: "Ed25519" }, { alg: undefined }],
  ["EdDSA", { name: "Ed25519" }, { alg: "EdDSA" }],
  ["EdDSA", { name: "Ed25519" }, { alg: "Ed25519" }],
  ["RS256", rsa(RSASSA, "SHA-256"), { alg: undefined }],
  ["RS384", rsa(RSASSA, "SHA-384"), {}],
  ["RS512", rsa(RSASSA, "SHA-512"), {}],
  ["PS256", rsa("RSA-PSS", "SHA-256"), {}],
  ["PS384", rsa("RSA-PSS", "SHA-384"), {}],
  ["PS512", rsa("RSA-PSS", "SHA-512"), {}],
];

for (const [alg, generation, members] of JWKS) {
  Deno.test(`privateKeyJwt() signs with ${alg} by a JWK with ${JSON.stringify(members)}`, async () => {
    const { jwk, publicKey } = await generateJwk(generation);
    const client = privateKeyJwt("c1", { ...jwk, ...members }, { issuer });
    const assertion = await assertionOf(client);
    await jwtVerify(assertion, publicKey, { algorithms: [alg] });
    assertEquals(decodeProtectedHeader(assertion), { alg, typ: "JWT" });
  });
}

/** Exports a private key as PKCS #8 in PEM. */
async function pemOf(key: CryptoKey, label = "PRIVATE KEY"): Promise<string> {
  const der = new Uint8Array(await crypto.subtle.exportKey("pkcs8", key));
  const lines = btoa(String.fromCharCode(...der)).replace(/.{64}/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

const PEMS: [alg: string, generation: Generation][] = [
  ["ES256", ec("P-256")],
  ["ES384", ec("P-384")],
  ["ES512", ec("P-521")],
  ["EdDSA", { name: "Ed25519" }],
  ["RS256", rsa(RSASSA, "SHA-256")],
  ["PS256", rsa(RSASSA, "SHA-256")],
  ["RS512", rsa(RSASSA, "SHA-256")],
];

for (const [alg, generation] of PEMS) {
  Deno.test(`privateKeyJwt() signs with ${alg} by PKCS #8 in PEM`, async () => {
    const { privateKey, publicKey } = await pairOf(generation, true);
    const isRsa = !/^E/.test(alg);
    const client = privateKeyJwt("c1", await pemOf(privateKey), {
      issuer,
      ...(isRsa && alg !== "RS256" && { alg }),
    });
    const assertion = await assertionOf(client);
    const jwk = await crypto.subtle.exportKey("jwk", publicKey);
    const verifier = await importJWK({ ...jwk, alg } as JWK, alg);
    await jwtVerify(assertion, verifier, { algorithms: [alg] });
  });
}

Deno.test("privateKeyJwt() rejects PEM of anything but a private key in PKCS #8", async () => {
  const { privateKey } = await pairOf(ec("P-256"), true);
  const pem = await pemOf(privateKey);
  const short = pem.replace(/.{20}\n-----END/, "\n-----END");
  const damaged = privateKeyJwt("c1", short, { issuer });
  await assertInvalidArgument(() => bodyOf(damaged), "key");
  const rows = [
    await pemOf(privateKey, "EC PRIVATE KEY"),
    await pemOf(privateKey, "ENCRYPTED PRIVATE KEY"),
    pem.replace("M", "!"),
    pem.slice(0, 100),
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
  ];
  eachRow(rows, (key) => {
    const call = () => privateKeyJwt("c1", key, { issuer });
    const error = pinThrown(call, "invalid_argument");
    assert(!error.message.includes(pem.slice(40, 60)));
  });
});

Deno.test("privateKeyJwt() uses the kid of a JWK unless keyId is given", async () => {
  const { jwk } = await generateJwk(ec("P-256"));
  const key = { ...jwk, kid: "k1" };
  for (const [keyId, expected] of [[undefined, "k1"], ["k2", "k2"]]) {
    const client = privateKeyJwt("c1", key, { issuer, keyId });
    const { kid } = decodeProtectedHeader(await assertionOf(client));
    assertEquals(kid, expected);
  }
});

Deno.test("privateKeyJwt() rejects a JWK that cannot be imported, at the first request", async () => {
  const { jwk } = await generateJwk(ec("P-256"));
  for (const members of [{ d: "!" }, { key_ops: ["verify"] }, { use: "enc" }]) {
    const client = privateKeyJwt("c1", { ...jwk, ...members }, { issuer });
    const error = await assertInvalidArgument(() => bodyOf(client), "key");
    assertInstanceOf(error.cause, Error);
    assert(!error.message.includes(jwk.d!));
  }
});

Deno.test("privateKeyJwt() rejects a function that returns no key, at the first request", async () => {
  const client = privateKeyJwt("c1", () => untyped(undefined), { issuer });
  await assertInvalidArgument(() => bodyOf(client), "key");
});

// JOSE has no algorithm with SHA-1 (RFC 7518, section 3.1).
Deno.test("privateKeyJwt() rejects a key for SHA-1, at the first request", async () => {
  for (const name of [RSASSA, "RSA-PSS"]) {
    const { privateKey } = await pairOf(rsa(name, "SHA-1"));
    const client = privateKeyJwt("c1", privateKey, { issuer });
    const call = () => bodyOf(client);
    const { message } = await pinRejected(call, "invalid_argument");
    assertStringIncludes(message, name);
  }
});

Deno.test("privateKeyJwt() rejects anything but a private key for signing", async () => {
  const { publicKey } = await createSigningKeys();
  const SECRET = "s3cret-Value";
  const { jwk } = await generateJwk(ec("P-256"));
  const { d: _, ...publicJwk } = jwk;
  const { subtle } = crypto;
  const ecdhOf = { name: "ECDH", namedCurve: "P-256" };
  const ecdh = await subtle.generateKey(ecdhOf, false, ["deriveBits"]);
  const hmacOf = { name: "HMAC", hash: "SHA-256" };
  const hmac = await subtle.generateKey(hmacOf, false, ["sign"]);
  const keys: unknown[] = [
    ...[undefined, null, {}, SECRET, publicKey, untyped(ecdh).privateKey, hmac],
    publicJwk,
    { kty: "oct", k: SECRET, alg: "HS256" },
    { kty: "oct", k: SECRET, d: SECRET },
    { kty: "RSA", n: SECRET, e: "AQAB" },
    { kty: "RSA", d: SECRET, alg: "RSA-OAEP-256" },
    { kty: "RSA", d: SECRET, alg: "RS1" },
    { kty: "RSA", d: SECRET, alg: "" },
    { kty: "EC", d: SECRET },
    { kty: "EC", d: SECRET, crv: "secp256k1" },
    { kty: "EC", d: SECRET, crv: "toString" },
    { ...jwk, alg: "ES384" },
    { ...jwk, alg: "ECDH-ES" },
    { ...jwk, alg: "" },
    { kty: "OKP", d: SECRET, crv: "X25519" },
    { kty: "OKP", d: SECRET, crv: "Ed25519", alg: "ES256" },
    { kty: "OKP", d: SECRET, crv: "Ed25519", alg: "" },
    { ...jwk, d: 7 },
  ];
  for (const key of keys.map(untyped)) {
    const error = pinThrown(
      () => privateKeyJwt("c1", key, { issuer }),
      "invalid_argument",
    );
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("privateKeyJwt() adds claims, and refuses its own", async () => {
  const claims: Record<string, unknown> = { tenant: "t1", nbf: 1 };
  const { claims: sent } = await signed({ issuer, claims });
  assertEquals([sent.tenant, sent.nbf, sent.iss], ["t1", 1, "c1"]);
  const { privateKey } = await createSigningKeys();
  for (const name of ["iss", "sub", "aud", "exp", "iat", "jti"]) {
    for (const value of ["x", undefined]) {
      pinThrown(() =>
        privateKeyJwt("c1", privateKey, {
          issuer,
          claims: { [name]: value },
        }), "invalid_argument");
    }
  }
});

Deno.test("privateKeyJwt() asks a function for the key of each assertion", async () => {
  const generation = ec("P-256");
  const keyed = async (kid: string) => ({
    ...(await generateJwk(generation)).jwk as PrivateJwk,
    kid,
  });
  const [first, second] = [await keyed("k1"), await keyed("k2")];
  const keys: PrivateJwk[] = [first, first, second];
  const client = privateKeyJwt("c1", () => Promise.resolve(keys.shift()!), {
    issuer,
  });
  for (const key of [first, first, second]) {
    const { d: _, key_ops: __, ...rest } = key as JWK;
    const { protectedHeader } = await jwtVerify(
      await assertionOf(client),
      await importJWK(rest, "ES256"),
    );
    assertEquals(protectedHeader.kid, key.kid);
  }
  const broken = privateKeyJwt("c1", untyped(() => "no key"), { issuer });
  await assertRejectsCode(() => assertionOf(broken), "invalid_argument");
});
