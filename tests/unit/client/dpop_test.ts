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
import { createDpop, type IDpop, OAuthClientError } from "../../../mod.ts";

const URL_1 = "https://api.example/mcp";

const rsa = {
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const ALGORITHMS: [alg: string, generation: AlgorithmIdentifier][] = [
  ["ES256", { name: "ECDSA", namedCurve: "P-256" }],
  ["ES384", { name: "ECDSA", namedCurve: "P-384" }],
  ["ES512", { name: "ECDSA", namedCurve: "P-521" }],
  ["EdDSA", { name: "Ed25519" }],
  ["RS256", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", ...rsa }],
  ["RS384", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384", ...rsa }],
  ["RS512", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512", ...rsa }],
  ["PS256", { name: "RSA-PSS", hash: "SHA-256", ...rsa }],
  ["PS384", { name: "RSA-PSS", hash: "SHA-384", ...rsa }],
  ["PS512", { name: "RSA-PSS", hash: "SHA-512", ...rsa }],
] as [string, AlgorithmIdentifier][];

async function generate(
  algorithm: AlgorithmIdentifier,
  extractable = false,
): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(
    algorithm,
    extractable,
    ["sign", "verify"],
  ) as CryptoKeyPair;
}

const proofOf = async (dpop: IDpop, url: string) =>
  decodeJwt(await dpop.createProof({ method: "GET", url }));

const reply = (status: number, headers: Record<string, string>) =>
  new Response(null, { status, headers });

for (const [alg, algorithm] of ALGORITHMS) {
  Deno.test(`createDpop() proves by ${alg} with the public key alone in sight`, async () => {
    const keyPair = await generate(algorithm, true);
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

Deno.test("createDpop() makes a fresh non-extractable P-256 pair", async () => {
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

Deno.test("createProof() names method and address without query and fragment", async () => {
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

Deno.test("createProof() hashes the access token as RFC 9449, section 7.1, shows", async () => {
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

Deno.test("createProof() takes iat from the clock, in whole seconds", async () => {
  let time = 1_700_000_000_999;
  const dpop = await createDpop({ now: () => time });
  assertEquals((await proofOf(dpop, URL_1)).iat, 1_700_000_000);
  time += 1;
  assertEquals((await proofOf(dpop, URL_1)).iat, 1_700_000_001);

  const before = Math.floor(Date.now() / 1000);
  const { iat } = await proofOf(await createDpop(), URL_1);
  assert(iat! >= before && iat! <= Date.now() / 1000);
});

Deno.test("createProof() makes another jti each time", async () => {
  const dpop = await createDpop({ now: () => 0 });
  const claims = await Promise.all(
    Array.from({ length: 50 }, () => proofOf(dpop, URL_1)),
  );
  assertEquals(new Set(claims.map(({ jti }) => jti)).size, 50);
  // RFC 9449, section 4.2: at least 96 bits of randomness.
  for (const { jti } of claims) assertMatch(jti!, /^.{16,}$/);
});

Deno.test("createHeaders() adds the token that the proof is for", async () => {
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

Deno.test("noteReply() keeps the last nonce of each origin", async () => {
  const dpop = await createDpop();
  const nonceAt = async (url: string) => (await proofOf(dpop, url)).nonce;
  assertEquals(await nonceAt(URL_1), undefined);

  dpop.noteReply(URL_1, reply(200, { "DPoP-Nonce": "n1" }));
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

  dpop.noteReply(
    "https://as.example/token",
    reply(400, { "dpop-nonce": "n2" }),
  );
  dpop.noteReply(URL_1, reply(200, { "DPoP-Nonce": "n3" }));
  dpop.noteReply(URL_1, reply(200, {}));
  assertEquals(await nonceAt(URL_1), "n3");
  assertEquals(await nonceAt("https://as.example/"), "n2");
  const other = await createDpop();
  assertEquals((await proofOf(other, URL_1)).nonce, undefined);
});

Deno.test("noteReply() says when the request is to be made once more", async () => {
  const dpop = await createDpop();
  const asks = 'DPoP error="use_dpop_nonce", error_description="Use it"';
  const nonce = { "DPoP-Nonce": "n" };
  const rows: [status: number, Record<string, string>, expected: boolean][] = [
    [401, { ...nonce, "WWW-Authenticate": asks }, true],
    [401, { ...nonce, "WWW-Authenticate": `Bearer, ${asks}` }, true],
    [401, { ...nonce, "WWW-Authenticate": asks.replace("DPoP", "dpop") }, true],
    [401, { "WWW-Authenticate": asks }, false],
    [401, { "DPoP-Nonce": "", "WWW-Authenticate": asks }, false],
    [401, nonce, false],
    [401, { ...nonce, "WWW-Authenticate": "DPoP" }, false],
    [401, {
      ...nonce,
      "WWW-Authenticate": 'DPoP error="invalid_token"',
    }, false],
    [401, {
      ...nonce,
      "WWW-Authenticate": 'Bearer error="use_dpop_nonce"',
    }, false],
    [200, { ...nonce, "WWW-Authenticate": asks }, false],
    [403, { ...nonce, "WWW-Authenticate": asks }, false],
    [200, {}, false],
  ];
  for (const [status, headers, expected] of rows) {
    assertEquals(
      dpop.noteReply(URL_1, reply(status, headers)),
      expected,
      JSON.stringify([status, headers]),
    );
  }
});

Deno.test("createProof() refuses a URL with credentials, or what is no URL", async () => {
  const dpop = await createDpop();
  const refused = [
    "https://u:hunter2@api.example/",
    "https://hunter2@api.example/",
    "mcp",
    "//x",
    "https://",
    "ftp://api.example/",
  ];
  for (const url of refused) {
    const nonce = reply(200, { "DPoP-Nonce": "n" });
    for (
      const call of [
        () => dpop.createProof({ method: "GET", url }),
        () => dpop.createHeaders({ method: "GET", url }),
        // deno-lint-ignore require-await
        async () => dpop.noteReply(url, nonce),
      ]
    ) {
      const error = await assertRejects(
        call as () => Promise<unknown>,
        OAuthClientError,
        "url must be",
      );
      assertEquals(error.code, "invalid_argument");
      assertFalse(error.message.includes("hunter2"));
    }
  }
});

Deno.test("createProof() refuses a missing method", async () => {
  const dpop = await createDpop();
  for (const method of [undefined, null, "", 1]) {
    const error = await assertRejects(
      () => dpop.createProof({ method: method as string, url: URL_1 }),
      OAuthClientError,
      "method must be",
    );
    assertEquals(error.code, "invalid_argument");
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
  // The rest of them fetch leaves alone.
  for (const method of ["patch", "PATCH", "Query", "getx"]) {
    const proof = await dpop.createProof({ method, url: URL_1 });
    assertEquals(decodeJwt(proof).htm, method);
  }
});

Deno.test("createHeaders() takes an empty access token for none", async () => {
  const dpop = await createDpop();
  const request = { method: "GET", url: URL_1, accessToken: "" };
  const headers = await dpop.createHeaders(request);
  assertEquals(Object.keys(headers), ["DPoP"]);
  assertFalse("ath" in decodeJwt(headers.DPoP!));
});

Deno.test("createProof() refuses a missing address", async () => {
  const dpop = await createDpop();
  for (const url of [undefined, "", 1]) {
    const error = await assertRejects(
      () => dpop.createProof({ method: "GET", url: url as string }),
      OAuthClientError,
      "url must be",
    );
    assertEquals(error.code, "invalid_argument");
  }
});
