import { assertRejects } from "@std/assert";
import { jwtVerify } from "jose";
import { createDpop, OAuthClientError } from "../../../mod.ts";
import {
  assertInvalidArgument,
  assertRejectsCode,
} from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { generate } from "../../support/keys.ts";

const P256 = { name: "ECDSA", namedCurve: "P-256" };

Deno.test("createDpop() rejects anything but a pair of signing keys", async () => {
  const { privateKey, publicKey } = await generate(P256);
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
  const other = await generate(P256);
  const p384 = await generate({ ...P256, namedCurve: "P-384" });
  const ed25519 = await generate({ name: "Ed25519" });
  const nonExtractable = await crypto.subtle.importKey(
    "jwk",
    await crypto.subtle.exportKey("jwk", publicKey),
    P256,
    false,
    ["verify"],
  );
  const oaep = await crypto.subtle.generateKey(
    {
      name: "RSA-OAEP",
      hash: "SHA-256",
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    false,
    ["encrypt", "decrypt"],
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
  const { privateKey, publicKey } = await generate(P256);
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
  const { privateKey: other } = await generate({ name: "Ed25519" });
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
