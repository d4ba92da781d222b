import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertNotEquals,
  assertRejects,
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
import { createDpop, type IDpop } from "../../../mod.ts";
import { assertInvalidArgument } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { ec, type Generation, pairOf, rsa } from "../../support/keys.ts";

const URL_1 = "https://api.example/mcp";

// A key of each type. The tests of privateKeyJwt() have every algorithm.
const ALGORITHMS: [alg: string, generation: Generation][] = [
  ["ES256", ec("P-256")],
  ["EdDSA", { name: "Ed25519" }],
  ["RS256", rsa("RSASSA-PKCS1-v1_5", "SHA-256")],
  ["PS512", rsa("RSA-PSS", "SHA-512")],
];

const proofOf = async (dpop: IDpop, url: string) =>
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
    const { jwk } = protectedHeader;
    for (const name of ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]) {
      assertFalse(name in jwk!, name);
    }
    const expected = await exportJWK(keyPair.publicKey);
    assertEquals(jwk, expected);
    assertEquals(dpop.thumbprint, await calculateJwkThumbprint(expected));
  });
}

Deno.test("createDpop() generates a non-extractable P-256 pair", async () => {
  const generated: CryptoKeyPair[] = [];
  const original = crypto.subtle.generateKey.bind(crypto.subtle);
  using _stub = stub(
    crypto.subtle,
    "generateKey",
    (async (...args: Parameters<typeof original>) => {
      const pair = await original(...args);
      generated.push(pair as unknown as CryptoKeyPair);
      return pair;
    }) as unknown as typeof crypto.subtle.generateKey,
  );
  const [one, two] = [await createDpop(), await createDpop()];
  assertEquals(generated.length, 2);
  assertNotEquals(one.thumbprint, two.thumbprint);
  for (const { privateKey } of generated) {
    assertFalse(privateKey.extractable);
    assertEquals(privateKey.usages, ["sign"]);
    await assertRejects(() => crypto.subtle.exportKey("pkcs8", privateKey));
  }
  const proof = await one.createProof({ method: "GET", url: URL_1 });
  const { alg, jwk } = decodeProtectedHeader(proof);
  assertEquals([alg, jwk?.kty, jwk?.crv], ["ES256", "EC", "P-256"]);
});

Deno.test("createProof() contains the method, and the URL without query and fragment", async () => {
  const dpop = await createDpop();
  for (
    const [url, htu] of [
      [URL_1, URL_1],
      ["https://api.example", "https://api.example/"],
      ["https://api.example/a?b=c#d", "https://api.example/a"],
      ["https://api.example/a?", "https://api.example/a"],
      ["https://api.example/a#", "https://api.example/a"],
      ["https://api.example/a#?b", "https://api.example/a"],
      ["HTTPS://API.Example:443/A%20b/", "https://api.example/A%20b/"],
      ["http://127.0.0.1:8080/x?y", "http://127.0.0.1:8080/x"],
    ] as const
  ) {
    for (const method of ["GET", "POST", "DELETE"]) {
      const claims = decodeJwt(await dpop.createProof({ method, url }));
      assertEquals(Object.keys(claims).sort(), ["htm", "htu", "iat", "jti"]);
      assertEquals([claims.htm, claims.htu], [method, htu], url);
    }
  }
});

Deno.test("createProof() accepts a URL and leaves it unchanged", async () => {
  const dpop = await createDpop();
  const url = new URL("https://api.example/a?b=c#d");
  const { htu } = decodeJwt(await dpop.createProof({ method: "GET", url }));
  assertEquals(htu, "https://api.example/a");
  assertEquals(url.href, "https://api.example/a?b=c#d");
});

Deno.test("createProof() hashes the access token as in RFC 9449, section 7.1", async () => {
  const dpop = await createDpop();
  const accessToken = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
  const request = { method: "GET", url: URL_1, accessToken };
  const proof = await dpop.createProof(request);
  assertEquals(
    decodeJwt(proof).ath,
    "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo",
  );
  assertFalse(atob(proof.split(".")[1]!).includes(accessToken));
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
  const bare = await dpop.createHeaders({ method: "GET", url: URL_1 });
  assertEquals(Object.keys(bare), ["DPoP"]);
  assertFalse("ath" in decodeJwt(bare.DPoP!));
  const accessToken = "t0ken";
  const headers = await dpop.createHeaders({
    method: "GET",
    url: URL_1,
    accessToken,
  });
  assertEquals(headers.Authorization, "DPoP t0ken");
  assertEquals(Object.keys(headers), ["DPoP", "Authorization"]);
  const { payload } = await jwtVerify(headers.DPoP!, EmbeddedJWK);
  assertEquals(payload.ath, "tGwJZ3NDJh8LQ5pHJCIiXjojDJwJTWqxZ2LiA2tZcFM");
  assertEquals(new Headers(headers).get("dpop"), headers.DPoP);
});

Deno.test("noteResponse() stores the last nonce of each origin", async () => {
  const dpop = await createDpop();
  const nonceAt = async (url: string) => (await proofOf(dpop, url)).nonce;
  assertEquals(await nonceAt(URL_1), undefined);

  dpop.noteResponse(URL_1, withNonce("n1"));
  assertEquals(await nonceAt("https://api.example/other?q"), "n1");
  assertEquals(await nonceAt("HTTPS://API.EXAMPLE:443/"), "n1");
  for (
    const url of [
      "http://api.example/mcp",
      "https://api.example:8443/mcp",
      "https://as.example/mcp",
      "https://www.api.example/mcp",
    ]
  ) assertEquals(await nonceAt(url), undefined, url);

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
  const hosts = Array.from(
    { length: 101 },
    (_, index) => `https://h${index}.example/`,
  );
  for (const url of hosts.slice(0, 100)) {
    dpop.noteResponse(url, withNonce(url));
  }
  // The first origin responds again, so that the second is now the oldest.
  dpop.noteResponse(hosts[0]!, withNonce(hosts[0]!));
  dpop.noteResponse(hosts[100]!, withNonce(hosts[100]!));
  for (const [index, url] of hosts.entries()) {
    const expected = index === 1 ? undefined : url;
    assertEquals((await proofOf(dpop, url)).nonce, expected, url);
  }
});

Deno.test("noteResponse() returns true if a resource requires its nonce", async () => {
  const dpop = await createDpop();
  const required = 'DPoP error="use_dpop_nonce", error_description="Use it"';
  const nonce = { "DPoP-Nonce": "n" };
  const rows: [status: number, challenge: string, expected: boolean][] = [
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
  ];
  for (const [status, challenge, expected] of rows) {
    const response = respond(status, {
      ...nonce,
      "WWW-Authenticate": challenge,
    });
    assertEquals(dpop.noteResponse(URL_1, response), expected, challenge);
  }
  const without: Record<string, string>[] = [{}, { "DPoP-Nonce": "" }];
  for (const headers of without) {
    const response = respond(401, { ...headers, "WWW-Authenticate": required });
    assertEquals(dpop.noteResponse(URL_1, response), false);
  }
});

Deno.test("createProof(), createHeaders() and noteResponse() reject unusable URLs", async () => {
  const dpop = await createDpop();
  const urls: unknown[] = [
    ...[undefined, 1, "", "mcp", "//x", "https://", "ftp://api.example/"],
    ...["https://u:hunter2@api.example/", "https://hunter2@api.example/"],
  ];
  for (const url of urls.map(untyped)) {
    for (
      const call of [
        () => dpop.createProof({ method: "GET", url }),
        () => dpop.createHeaders({ method: "GET", url }),
        // deno-lint-ignore require-await
        async () => dpop.noteResponse(url, withNonce("n")),
      ]
    ) {
      const error = await assertInvalidArgument(call, "url");
      assertFalse(error.message.includes("hunter2"));
    }
  }
});

Deno.test("createProof() rejects a missing method", async () => {
  const dpop = await createDpop();
  for (const method of [undefined, null, "", 1].map(untyped)) {
    await assertInvalidArgument(
      () => dpop.createProof({ method, url: URL_1 }),
      "method",
    );
  }
});

Deno.test("createProof() writes the method as fetch sends it", async () => {
  const dpop = await createDpop();
  for (const method of ["get", "Post", "PUT", "delete", "head", "options"]) {
    const proof = await dpop.createProof({ method, url: URL_1 });
    const request = new Request(URL_1, { method });
    assertEquals(decodeJwt(proof).htm, method.toUpperCase());
    assertEquals(decodeJwt(proof).htm, request.method);
  }
  // fetch leaves all others unchanged.
  for (const method of ["patch", "PATCH", "Query", "getx"]) {
    const proof = await dpop.createProof({ method, url: URL_1 });
    assertEquals(decodeJwt(proof).htm, method);
  }
});

Deno.test("createHeaders() treats an empty access token as absent", async () => {
  const dpop = await createDpop();
  const request = { method: "GET", url: URL_1, accessToken: "" };
  const headers = await dpop.createHeaders(request);
  assertEquals(Object.keys(headers), ["DPoP"]);
  assertFalse("ath" in decodeJwt(headers.DPoP!));
});
