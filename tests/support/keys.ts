/** Keys of every algorithm of JWS, for tests of what signs. */

import type { IPrivateJwk } from "../../mod.ts";

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

/**
 * The key of RFC 7515, appendix A.3.1, for a table of a whole file: generating one
 * there needs `await` at the top, which CommonJS does not have.
 */
export const PRIVATE_JWK: IPrivateJwk = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  d: "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
};

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
