import { jwtVerify } from "jose";
import { createDpop } from "../../../mod.ts";
import {
  assertInvalidArgument,
  assertRejectsCode,
} from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { ec, pairOf, rsa, rsaPair } from "../../support/keys.ts";

const P256 = ec("P-256");

/** A public key as another CryptoKey, with these usages. */
async function imported(
  key: CryptoKey,
  extractable: boolean,
  usages: KeyUsage[],
): Promise<CryptoKey> {
  const jwk = await crypto.subtle.exportKey("jwk", key);
  const { subtle } = crypto;
  const data = { ...jwk, key_ops: usages };
  return await subtle.importKey("jwk", data, P256, extractable, usages);
}

Deno.test("createDpop() rejects anything but a pair of signing keys", async () => {
  const { privateKey, publicKey } = await pairOf(P256);
  const { subtle } = crypto;
  const ecdhOf = { name: "ECDH", namedCurve: "P-256" };
  const ecdh = await subtle.generateKey(ecdhOf, false, ["deriveBits"]);
  const hmacOf = { name: "HMAC", hash: "SHA-256" };
  const hmac = await subtle.generateKey(hmacOf, false, ["sign", "verify"]);
  const other = await pairOf(P256);
  const p384 = await pairOf(ec("P-384"));
  const ed25519 = await pairOf({ name: "Ed25519" });
  const sha1 = await rsaPair(rsa("RSASSA-PKCS1-v1_5", "SHA-1"));
  const bare = await imported(publicKey, true, []);
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
      // Keys of different pairs and algorithms, and a non-extractable public key.
      { privateKey, publicKey: other.publicKey },
      { privateKey, publicKey: p384.publicKey },
      { privateKey, publicKey: ed25519.publicKey },
      { privateKey: ed25519.privateKey, publicKey },
      { privateKey, publicKey: await imported(publicKey, false, ["verify"]) },
      { privateKey: ed25519.privateKey, publicKey: bare },
      // JOSE has no algorithm with SHA-1.
      { privateKey, publicKey: sha1.publicKey },
    ]
  ) {
    const options = { keyPair: keyPair as CryptoKeyPair };
    await assertRejectsCode(
      () => createDpop(options),
      "invalid_argument",
      "keyPair must be a pair of CryptoKeys for signing",
    );
  }
});

Deno.test("createDpop() accepts a public key without the usage verify", async () => {
  const { privateKey, publicKey } = await pairOf(P256);
  const keyPair = {
    privateKey,
    publicKey: await imported(publicKey, true, []),
  };
  const dpop = await createDpop({ keyPair });
  const request = { method: "GET", url: "https://api.example/mcp" };
  await jwtVerify(await dpop.createProof(request), publicKey);
});

Deno.test("createDpop() rejects options that are not an object", async () => {
  for (const options of [1, "x"]) {
    await assertInvalidArgument(() => createDpop(untyped(options)), "options");
  }
});
