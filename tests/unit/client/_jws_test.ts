import { signJwt } from "../../../lib/client/_jws.ts";
import { ec, rsa, rsaPair } from "../../support/keys.ts";
import { assertRejectsCode } from "../../support/fixtures.ts";

// What it signs is verified by the tests of privateKeyJwt() and createDpop().
Deno.test("signJwt() rejects keys of other algorithms", async () => {
  const secret = { name: "HMAC", hash: "SHA-256" };
  const ecdh = { ...ec("P-256"), name: "ECDH" };
  const keys: (CryptoKey | CryptoKeyPair)[] = await Promise.all([
    crypto.subtle.generateKey(secret, false, ["sign", "verify"]),
    crypto.subtle.generateKey(ecdh, false, ["deriveBits"]),
    crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"]),
    rsaPair(rsa("RSA-OAEP", "SHA-256"), false, ["decrypt", "encrypt"]),
    // JOSE has no algorithm with SHA-1 (RFC 7518, section 3.1).
    rsaPair(rsa("RSASSA-PKCS1-v1_5", "SHA-1")),
    rsaPair(rsa("RSA-PSS", "SHA-1")),
  ]) as (CryptoKey | CryptoKeyPair)[];
  for (const made of keys) {
    const key = "privateKey" in made ? made.privateKey : made;
    await assertRejectsCode(
      () => signJwt({}, {}, key),
      "invalid_argument",
      "key must be for signing with ECDSA, Ed25519, or RSA with SHA-2, not " +
        key.algorithm.name,
    );
  }
});
