import { assertRejects } from "@std/assert";
import { jwtVerify } from "jose";
import { createDpop, OAuthClientError } from "../../../mod.ts";
import {
  assertInvalidArgument,
  assertRejectsCode,
} from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { pairOf, rsa, rsaPair } from "../../support/keys.ts";

const P256 = { name: "ECDSA", namedCurve: "P-256" };

Deno.test("createDpop() rejects anything but a pair of signing keys", async () => {
  const { privateKey, publicKey } = await pairOf(P256);
  const ecdh = await crypto.subtle.generateKey(
    { name: "ECDH", namedCurve: "P-256" },
    false,
    ["deriveBits"],
  );
  const hmac = await crypto.subtle.generateKey(
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  const other = await pairOf(P256);
  const p384 = await pairOf({ ...P256, namedCurve: "P-384" });
  const ed25519 = await pairOf({ name: "Ed25519" });
  const sha1 = await rsaPair(rsa("RSASSA-PKCS1-v1_5", "SHA-1"));
  const nonExtractable = await crypto.subtle.importKey(
    "jwk",
    await crypto.subtle.exportKey("jwk", publicKey),
    P256,
    false,
    ["verify"],
  );
  const oaep = await rsaPair(
    { name: "RSA-OAEP", hash: "SHA-256" },
    false,
    ["decrypt", "encrypt"],
  );
  for (
    const keyPair of [
      {},
      { privateKey },
      { publicKey },
      { privateKey: publicKey, publicKey: privateKey },
      { privateKey, publicKey: privateKey },
      { privateKey: publicKey, publicKey },
      { privateKey: hmac, publicKey: hmac },
      { privateKey: { type: "secret", usages: ["sign"] }, publicKey },
      ecdh,
      oaep,
      // Keys of different pairs and algorithms, and a non-extractable public key.
      { privateKey, publicKey: other.publicKey },
      { privateKey, publicKey: p384.publicKey },
      { privateKey, publicKey: ed25519.publicKey },
      { privateKey: ed25519.privateKey, publicKey },
      { privateKey, publicKey: nonExtractable },
      // JOSE has no algorithm with SHA-1.
      { privateKey, publicKey: sha1.publicKey },
    ]
  ) {
    await assertRejectsCode(
      () => createDpop({ keyPair: keyPair as CryptoKeyPair }),
      "invalid_argument",
      "keyPair must be a pair of CryptoKeys for signing",
    );
  }
});

Deno.test("createDpop() accepts a public key without the usage verify", async () => {
  const { privateKey, publicKey } = await pairOf(P256);
  const unusable = await crypto.subtle.importKey(
    "jwk",
    { ...await crypto.subtle.exportKey("jwk", publicKey), key_ops: [] },
    P256,
    true,
    [],
  );
  const dpop = await createDpop({
    keyPair: { privateKey, publicKey: unusable },
  });
  const proof = await dpop.createProof({
    method: "GET",
    url: "https://api.example/mcp",
  });
  await jwtVerify(proof, publicKey);
  const { privateKey: other } = await pairOf({ name: "Ed25519" });
  await assertRejects(
    () => createDpop({ keyPair: { privateKey: other, publicKey: unusable } }),
    OAuthClientError,
    "keyPair must be a pair",
  );
});

Deno.test("createDpop() rejects options that are not an object", async () => {
  for (const options of [1, "x"]) {
    await assertInvalidArgument(() => createDpop(untyped(options)), "options");
  }
});
