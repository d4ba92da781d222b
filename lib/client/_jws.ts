import { encodeBase64Url } from "../core/_base64.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { WebCryptoKey } from "../core/types.ts";

/** Returns the JOSE name of a key's algorithm, and its parameters for signing. */
function algorithmOf(
  key: WebCryptoKey,
): { alg: string; parameters: AlgorithmIdentifier | EcdsaParams } {
  const { name, namedCurve, hash } = key.algorithm as
    & KeyAlgorithm
    & { namedCurve?: string; hash?: { name: string } };
  // JOSE contains no algorithms with SHA-1 (RFC 7518, section 3.1).
  const bits = /^SHA-(256|384|512)$/.exec(hash?.name ?? "")?.[1];
  switch (`${name} ${namedCurve ?? bits ?? ""}`.trim()) {
    case "ECDSA P-256":
      return { alg: "ES256", parameters: { name, hash: "SHA-256" } };
    case "ECDSA P-384":
      return { alg: "ES384", parameters: { name, hash: "SHA-384" } };
    case "ECDSA P-521":
      return { alg: "ES512", parameters: { name, hash: "SHA-512" } };
    case "Ed25519":
      return { alg: "EdDSA", parameters: { name } };
    case `RSASSA-PKCS1-v1_5 ${bits}`:
      return { alg: `RS${bits}`, parameters: { name } };
    case `RSA-PSS ${bits}`: {
      const parameters = { name, saltLength: Number(bits) / 8 };
      return { alg: `PS${bits}`, parameters };
    }
  }
  throw new OAuthClientError(
    "invalid_argument",
    `key must be for signing with ECDSA, Ed25519, or RSA with SHA-2, not ${name}`,
  );
}

/** Signs a JWT. The key determines its `alg`. */
export async function signJwt(
  header: Record<string, unknown>,
  claims: Record<string, unknown>,
  key: WebCryptoKey,
): Promise<string> {
  const { alg, parameters } = algorithmOf(key);
  const input = [{ ...header, alg }, claims]
    .map((part) => encodeBase64Url(JSON.stringify(part))).join(".");
  const signature = await subtleCrypto().sign(
    parameters,
    key,
    new TextEncoder().encode(input),
  );
  return `${input}.${encodeBase64Url(new Uint8Array(signature))}`;
}
