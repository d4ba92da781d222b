/** A DPoP proof is for one request, and has the nonce that the origin has sent last. */

import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  calculateJwkThumbprint,
  decodeJwt,
  decodeProtectedHeader,
  EmbeddedJWK,
  exportJWK,
  jwtVerify,
} from "jose";
import { createDpop, type Dpop } from "../../../mod.ts";
import { assertInvalidArgument } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { ec, type Generation, pairOf, rsa } from "../../support/keys.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const URL_1 = "https://api.example/mcp";

// A key of each type. The tests of privateKeyJwt() have every algorithm.
const ALGORITHMS: [alg: string, generation: Generation][] = [
  ["ES256", ec("P-256")],
  ["EdDSA", { name: "Ed25519" }],
  ["RS256", rsa("RSASSA-PKCS1-v1_5", "SHA-256")],
  ["PS512", rsa("RSA-PSS", "SHA-512")],
];

const proofOf = async (dpop: Dpop, url: string | URL) =>
  decodeJwt(await dpop.createProof({ method: "GET", url }));

const respond = (status: number, headers: Record<string, string>) =>
  new Response(null, { status, headers });
const withNonce = (nonce: string) => respond(200, { "DPoP-Nonce": nonce });

for (const [alg, algorithm] of ALGORITHMS) {
  Deno.test(`createDpop() signs with ${alg} and publishes only the public key`, async () => {
    const keyPair = await pairOf(algorithm, true);
    const dpop = await createDpop({ keyPair });
    const proof = await dpop.createProof({ method: "POST", url: URL_1 });
    const { protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: [alg],
    });
    await jwtVerify(proof, keyPair.publicKey);
    assertEquals(Object.keys(protectedHeader).sort(), ["alg", "jwk", "typ"]);
    const expected = await exportJWK(keyPair.publicKey);
    assertEquals(protectedHeader.jwk, expected);
    assertEquals(dpop.thumbprint, await calculateJwkThumbprint(expected));
  });
}

Deno.test("createDpop() generates a non-extractable P-256 pair", async () => {
  const { subtle } = crypto;
  const original = untyped(subtle.generateKey.bind(subtle));
  using generate = stub(subtle, "generateKey", original);
  const [one, two] = [await createDpop(), await createDpop()];
  assertNotEquals(one.thumbprint, two.thumbprint);
  const isExtractable = generate.calls.map(({ args }) => args[1]);
  assertEquals<unknown>(isExtractable, [false, false]);
  const proof = await one.createProof({ method: "GET", url: URL_1 });
  const { alg, jwk } = decodeProtectedHeader(proof);
  assertEquals([alg, jwk?.kty, jwk?.crv], ["ES256", "EC", "P-256"]);
});

Deno.test("createProof() contains the URL without query and fragment", async () => {
  const dpop = await createDpop();
  const rows = [
    [new URL("https://api.example/a?b=c#d"), "https://api.example/a"],
    ["https://api.example", "https://api.example/"],
    ["https://api.example/a?b=c#d", "https://api.example/a"],
    ["https://api.example/a?", "https://api.example/a"],
    ["https://api.example/a#", "https://api.example/a"],
    ["https://api.example/a#?b", "https://api.example/a"],
    ["HTTPS://API.Example:443/A%20b/", "https://api.example/A%20b/"],
    ["http://127.0.0.1:8080/x?y", "http://127.0.0.1:8080/x"],
  ] as const;
  await eachRowInTurn(rows, async ([url, htu]) => {
    const given = String(url);
    const claims = await proofOf(dpop, url);
    assertEquals(Object.keys(claims).sort(), ["htm", "htu", "iat", "jti"]);
    assertEquals([claims.htm, claims.htu], ["GET", htu], given);
    assertEquals(String(url), given);
  });
});

Deno.test("createProof() sets iat from the clock, in whole seconds", async () => {
  let time = 1_700_000_000_999;
  const dpop = await createDpop({ now: () => time });
  assertEquals((await proofOf(dpop, URL_1)).iat, 1_700_000_000);
  time += 1;
  assertEquals((await proofOf(dpop, URL_1)).iat, 1_700_000_001);

  const before = Math.floor(Date.now() / 1000);
  const { iat } = await proofOf(await createDpop(), URL_1);
  assert(iat! >= before && iat! <= Date.now() / 1000);
});

Deno.test("createProof() creates a new jti each time", async () => {
  const dpop = await createDpop({ now: () => 0 });
  const claims = await Promise.all(
    Array.from({ length: 50 }, () => proofOf(dpop, URL_1)),
  );
  assertEquals(new Set(claims.map(({ jti }) => jti)).size, 50);
  // RFC 9449, section 4.2: at least 96 bits of randomness.
  for (const { jti } of claims) assertMatch(jti!, /^.{16,}$/);
});

Deno.test("createHeaders() returns the proof, and the access token if there is one", async () => {
  const dpop = await createDpop();
  const request = { method: "GET", url: URL_1 };
  for (const accessToken of [undefined, ""]) {
    const bare = await dpop.createHeaders({ ...request, accessToken });
    assertEquals(Object.keys(bare), ["DPoP"]);
    assertFalse("ath" in decodeJwt(bare.DPoP!));
  }
  // The example of RFC 9449, section 7.1.
  const accessToken = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
  const hash = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo";
  const headers = await dpop.createHeaders({ ...request, accessToken });
  const DPoP = headers.DPoP!;
  assertEquals(headers, { DPoP, Authorization: `DPoP ${accessToken}` });
  const { payload } = await jwtVerify(DPoP, EmbeddedJWK);
  assertEquals(payload.ath, hash);
  assertFalse(JSON.stringify(payload).includes(accessToken));
});

Deno.test("noteResponse() stores the last nonce of each origin", async () => {
  const dpop = await createDpop();
  const nonceAt = async (url: string) => (await proofOf(dpop, url)).nonce;
  assertEquals(await nonceAt(URL_1), undefined);

  dpop.noteResponse(URL_1, withNonce("n1"));
  assertEquals(await nonceAt("https://api.example/other?q"), "n1");
  assertEquals(await nonceAt("HTTPS://API.EXAMPLE:443/"), "n1");
  const others = "http://api.example https://api.example:8443 " +
    "https://as.example https://www.api.example";
  for (const origin of others.split(" ")) {
    assertEquals(await nonceAt(`${origin}/mcp`), undefined, origin);
  }

  const token = new URL("https://as.example/token");
  dpop.noteResponse(token, respond(400, { "dpop-nonce": "n2" }));
  dpop.noteResponse(URL_1, withNonce("n3"));
  dpop.noteResponse(URL_1, respond(200, {}));
  assertEquals(await nonceAt(URL_1), "n3");
  assertEquals(await nonceAt("https://as.example/"), "n2");
  const other = await createDpop();
  assertEquals((await proofOf(other, URL_1)).nonce, undefined);
});

Deno.test("noteResponse() keeps the nonces of the last 100 origins", async () => {
  const dpop = await createDpop();
  const urls = Array.from({ length: 101 }, (_, n) => `https://h${n}.example/`);
  // The first origin responds again, so that the second is the oldest at the end.
  for (const url of [...urls.slice(0, 100), urls[0]!, urls[100]!]) {
    dpop.noteResponse(url, withNonce(url));
  }
  for (const [index, url] of urls.entries()) {
    const expected = index === 1 ? undefined : url;
    assertEquals((await proofOf(dpop, url)).nonce, expected, url);
  }
});

Deno.test("noteResponse() returns true if a resource requires its nonce", async () => {
  const dpop = await createDpop();
  const required = 'DPoP error="use_dpop_nonce", error_description="Use it"';
  const rows: [
    status: number,
    challenge: string,
    isRequired: boolean,
    nonce?: string,
  ][] = [
    [401, required, true],
    [401, `Bearer, ${required}`, true],
    [401, `DPoP algs="ES256", ${required}`, true],
    [401, required.replace("DPoP", "dpop"), true],
    [401, "", false],
    [401, "DPoP", false],
    [401, 'DPoP error="invalid_token"', false],
    [401, 'Bearer error="use_dpop_nonce"', false],
    [200, required, false],
    [403, required, false],
    [401, required, false, ""],
  ];
  for (const [status, challenge, isRequired, nonce = "n"] of rows) {
    const headers = { "DPoP-Nonce": nonce, "WWW-Authenticate": challenge };
    const response = respond(status, headers);
    assertEquals(dpop.noteResponse(URL_1, response), isRequired, challenge);
  }
  const response = respond(401, { "WWW-Authenticate": required });
  assertEquals(dpop.noteResponse(URL_1, response), false);
});

Deno.test("createProof(), createHeaders() and noteResponse() reject unusable URLs", async () => {
  const dpop = await createDpop();
  const urls: unknown[] = [
    ...[undefined, 1, "", "mcp", "//x", "https://", "ftp://api.example/"],
    ...["https://u:hunter2@api.example/", "https://hunter2@api.example/"],
  ];
  for (const url of urls.map(untyped)) {
    const rows = [
      () => dpop.createProof({ method: "GET", url }),
      () => dpop.createHeaders({ method: "GET", url }),
      // deno-lint-ignore require-await
      async () => dpop.noteResponse(url, withNonce("n")),
    ];
    await eachRowInTurn(rows, async (call) => {
      const error = await assertInvalidArgument(call, "url");
      assertFalse(error.message.includes("hunter2"));
    });
  }
});

Deno.test("createProof() rejects a missing method", async () => {
  const dpop = await createDpop();
  for (const method of [undefined, null, "", 1].map(untyped)) {
    const call = () => dpop.createProof({ method, url: URL_1 });
    await assertInvalidArgument(call, "method");
  }
});

Deno.test("createProof() writes the method as fetch sends it", async () => {
  const dpop = await createDpop();
  const htmOf = async (method: string) =>
    decodeJwt(await dpop.createProof({ method, url: URL_1 })).htm;
  for (const method of ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]) {
    assertEquals(await htmOf(method), method);
  }
  // Runtimes differ.
  for (const method of ["get", "Post", "patch", "PATCH", "query", "getx"]) {
    const request = new Request(URL_1, { method });
    assertEquals(await htmOf(method), request.method);
  }
  // fetch refuses to send it.
  assertEquals(await htmOf("TRACE"), "TRACE");
});
