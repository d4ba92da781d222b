import { signJwt } from "../../../lib/client/_jws.ts";
import { ec, rsa } from "../../support/keys.ts";
import { assertRejectsCode } from "../../support/fixtures.ts";

// What it signs is verified by the tests of privateKeyJwt() and createDpop().
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
