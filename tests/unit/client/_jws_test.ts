import { assert, assertEquals, assertRejects } from "@std/assert";
import { decodeBase64Url } from "@std/encoding/base64url";
import { compactVerify, decodeProtectedHeader, errors } from "jose";
import { signJwt, verifies } from "../../../lib/client/_jws.ts";
import { ec, generate, type Generation, rsa } from "../../support/keys.ts";
import { assertRejectsCode } from "../../support/fixtures.ts";

const ALGORITHMS: [alg: string, generation: Generation][] = [
  ["ES256", ec("P-256")],
  ["ES384", ec("P-384")],
  ["ES512", ec("P-521")],
  ["EdDSA", { name: "Ed25519" }],
  ["RS256", rsa("RSASSA-PKCS1-v1_5", "SHA-256")],
  ["RS384", rsa("RSASSA-PKCS1-v1_5", "SHA-384")],
  ["RS512", rsa("RSASSA-PKCS1-v1_5", "SHA-512")],
  ["PS256", rsa("RSA-PSS", "SHA-256")],
  ["PS384", rsa("RSA-PSS", "SHA-384")],
  ["PS512", rsa("RSA-PSS", "SHA-512")],
];

for (const [alg, generation] of ALGORITHMS) {
  Deno.test(`signJwt() signs with ${alg} so that jose verifies it`, async () => {
    const { privateKey, publicKey } = await generate(generation);
    const claims = { sub: "\u00fc\u{1f600}", n: 1, list: ["a"] };
    const jwt = await signJwt({ typ: "x+jwt", kid: "k" }, claims, privateKey);
    const { payload, protectedHeader } = await compactVerify(jwt, publicKey, {
      algorithms: [alg],
    });
    assertEquals(protectedHeader, { typ: "x+jwt", kid: "k", alg });
    assertEquals(JSON.parse(new TextDecoder().decode(payload)), claims);
  });
}

Deno.test("signJwt() makes a signature over this content by this key", async () => {
  const { privateKey, publicKey } = await generate(ec("P-256"));
  const other = await generate(ec("P-256"));
  const jwt = await signJwt({}, { a: 1 }, privateKey);
  const [header, , signature] = jwt.split(".");
  const forged = `${header}.${
    btoa('{"a":2}').replaceAll("=", "")
  }.${signature}`;
  await compactVerify(jwt, publicKey);
  await assertRejects(
    () => compactVerify(forged, publicKey),
    errors.JWSSignatureVerificationFailed,
  );
  await assertRejects(
    () => compactVerify(jwt, other.publicKey),
    errors.JWSSignatureVerificationFailed,
  );
  // RFC 7518, section 3.4: R and S concatenated, not ASN.1.
  assertEquals(decodeBase64Url(signature!).length, 64);
});

Deno.test("signJwt() derives alg from the key and not from the header", async () => {
  const { privateKey } = await generate(ec("P-384"));
  const jwt = await signJwt({ alg: "none", typ: "JWT" }, {}, privateKey);
  assertEquals(decodeProtectedHeader(jwt), { alg: "ES384", typ: "JWT" });
});

Deno.test("signJwt() writes three base64url parts without padding", async () => {
  const { privateKey } = await generate(ec("P-256"));
  for (const text of ["", "a", "aa", "aaa", "??>>"]) {
    const jwt = await signJwt({ text }, { text }, privateKey);
    assert(/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt), jwt);
  }
});

Deno.test("signJwt() rejects keys of other algorithms", async () => {
  const rows: [{ name: string }, KeyUsage[]][] = [
    [{ ...rsa("HMAC", "SHA-256") }, ["sign", "verify"]],
    [{ ...rsa("RSA-OAEP", "SHA-256") }, ["encrypt", "decrypt"]],
    [{ ...ec("P-256"), name: "ECDH" }, ["deriveBits"]],
    [{ name: "X25519" }, ["deriveBits"]],
    // JOSE has no algorithm with SHA-1 (RFC 7518, section 3.1).
    [rsa("RSASSA-PKCS1-v1_5", "SHA-1"), ["sign", "verify"]],
    [rsa("RSA-PSS", "SHA-1"), ["sign", "verify"]],
  ];
  for (const [algorithm, usages] of rows) {
    const made = await crypto.subtle.generateKey(algorithm, false, usages);
    const key = "privateKey" in made ? made.privateKey : made;
    await assertRejectsCode(
      () => signJwt({}, {}, key as CryptoKey),
      "invalid_argument",
      "key must be for signing with ECDSA, Ed25519, or RSA with SHA-2, not " +
        algorithm.name,
    );
  }
});

Deno.test("verifies() accepts only the public key of the pair that signed", async () => {
  const pairs = new Map<string, CryptoKeyPair>();
  for (const [alg, generation] of ALGORITHMS) {
    pairs.set(alg, await generate(generation));
  }
  for (const [signer, { privateKey, publicKey }] of pairs) {
    const jwt = await signJwt({}, { a: 1 }, privateKey);
    for (const [alg, other] of pairs) {
      assertEquals(await verifies(jwt, other.publicKey), alg === signer, alg);
    }
    assertEquals(await verifies(`x${jwt}`, publicKey), false);
  }
  const [one, two] = [
    await generate(ec("P-256")),
    await generate(ec("P-256")),
  ];
  const jwt = await signJwt({}, {}, one.privateKey);
  assertEquals(await verifies(jwt, one.publicKey), true);
  assertEquals(await verifies(jwt, two.publicKey), false);
  assertEquals(await verifies(jwt, one.privateKey), false);
});
