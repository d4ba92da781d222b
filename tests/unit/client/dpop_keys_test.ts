/** DPoP takes a private key that signs with an algorithm of JOSE, and nothing else. */

import { jwtVerify } from "jose";
import { createDpop } from "../../../mod.ts";
import { assertInvalidArgument, pinRejected } from "../../support/fixtures.ts";
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

Deno.test("createDpop() rejects anything but a private key for signing and an extractable public key", async () => {
  const { privateKey, publicKey } = await pairOf(P256);
  const { subtle } = crypto;
  const ecdhOf = { name: "ECDH", namedCurve: "P-256" };
  const ecdh = await subtle.generateKey(ecdhOf, false, ["deriveBits"]);
  const hmacOf = { name: "HMAC", hash: "SHA-256" };
  const hmac = await subtle.generateKey(hmacOf, false, ["sign", "verify"]);
  const rows = [
    {},
    { privateKey },
    { publicKey },
    { privateKey: publicKey, publicKey: privateKey },
    { privateKey, publicKey: privateKey },
    { privateKey: publicKey, publicKey },
    { privateKey: hmac, publicKey: hmac },
    { privateKey: { type: "secret", usages: ["sign"] }, publicKey },
    ecdh,
    { privateKey, publicKey: await imported(publicKey, false, ["verify"]) },
  ];
  for (const keyPair of rows) {
    const options = { keyPair: keyPair as CryptoKeyPair };
    await pinRejected(() => createDpop(options), "invalid_argument");
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

Deno.test("createProof() rejects a key without an algorithm of JOSE", async () => {
  const keyPair = await rsaPair(rsa("RSASSA-PKCS1-v1_5", "SHA-1"));
  const dpop = await createDpop({ keyPair });
  await assertInvalidArgument(
    () => dpop.createProof({ method: "GET", url: "https://api.example/" }),
    "key",
  );
});

Deno.test("createDpop() rejects options that are not an object", async () => {
  for (const options of [1, "x"]) {
    await assertInvalidArgument(() => createDpop(untyped(options)), "options");
  }
});
