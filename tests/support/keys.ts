/** Keys of every algorithm of JWS, for tests of what signs. */

export type Generation =
  | EcKeyGenParams
  | RsaHashedKeyGenParams
  | { name: "Ed25519" };

export const ec = (namedCurve: string): Generation => ({
  name: "ECDSA",
  namedCurve,
});
export const rsa = (name: string, hash: string): Generation => ({
  name,
  hash,
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
});

/** Generates a pair of signing keys. */
export async function generate(
  generation: Generation,
  extractable = false,
): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(
    generation,
    extractable,
    ["sign", "verify"],
  ) as CryptoKeyPair;
}
