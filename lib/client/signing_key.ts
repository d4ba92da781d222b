import { requireArgument } from "../core/_arguments.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { WebCryptoKey } from "../core/types.ts";

/**
 * A private key as a JWK (RFC 7517), for ECDSA, Ed25519 or RSA.
 *
 * @category Clients
 */
export interface PrivateJwk {
  /** Key type: `EC`, `OKP` or `RSA`. */
  kty?: string | undefined;
  /** Signature algorithm, such as `PS256`; selects how an RSA key is used. */
  alg?: string | undefined;
  /** Identifier of the key. */
  kid?: string | undefined;
  /** Intended use; `sig`, if any. */
  use?: string | undefined;
  /** Intended operations; a list must include `sign`. */
  key_ops?: string[] | undefined;
  /** Curve of an `EC` or `OKP` key. */
  crv?: string | undefined;
  /** X coordinate, or public key of an `OKP` key. */
  x?: string | undefined;
  /** Y coordinate. */
  y?: string | undefined;
  /** Private key, or private exponent of an `RSA` key. */
  d?: string | undefined;
  /** Modulus. */
  n?: string | undefined;
  /** Public exponent. */
  e?: string | undefined;
  /** First prime factor. */
  p?: string | undefined;
  /** Second prime factor. */
  q?: string | undefined;
  /** First factor CRT exponent. */
  dp?: string | undefined;
  /** Second factor CRT exponent. */
  dq?: string | undefined;
  /** First CRT coefficient. */
  qi?: string | undefined;
}

/**
 * A private key for signing: a `CryptoKey`, a JWK, or PKCS #8 in PEM.
 *
 * @category Clients
 */
export type SigningKey = WebCryptoKey | PrivateJwk | string;

/** Returns undefined if the JWK is not for signing. */
function importParametersOf(
  { kty, crv = "", alg, d }: PrivateJwk,
): ImportParameters | undefined {
  if (typeof d !== "string") return undefined;
  if (kty === "RSA") {
    // Servers should support RS256 (RFC 8414, section 2).
    const [, kind, bits] = /^([RP])S(256|384|512)$/.exec(alg ?? "RS256") ?? [];
    const name = kind === "P" ? "RSA-PSS" : "RSASSA-PKCS1-v1_5";
    return bits === undefined ? undefined : { name, hash: `SHA-${bits}` };
  }
  if (kty === "EC") {
    const bits = /^P-(256|384|521)$/.exec(crv)?.[1];
    // ES512 is for the curve P-521 (RFC 7518, section 3.4).
    const expected = `ES${bits === "521" ? "512" : bits}`;
    return bits !== undefined && (alg ?? expected) === expected
      ? { name: "ECDSA", namedCurve: crv }
      : undefined;
  }
  // RFC 9864, section 2.2, names EdDSA with this curve `Ed25519`.
  return kty === "OKP" && crv === "Ed25519" &&
      /^(EdDSA|Ed25519)$/.test(alg ?? "EdDSA")
    ? { name: "Ed25519" }
    : undefined;
}

type ImportParameters =
  | RsaHashedImportParams
  | EcKeyImportParams
  | Algorithm;

/**
 * Object identifiers in PKCS #8, DER-encoded in hexadecimal (RFC 5480, RFC 8017, RFC
 * 8410), and how to import such a key.
 */
const PKCS8_KEYS: readonly [oid: string, parameters: ImportParameters][] = [
  ["2a8648ce3d030107", { name: "ECDSA", namedCurve: "P-256" }],
  ["2b81040022", { name: "ECDSA", namedCurve: "P-384" }],
  ["2b81040023", { name: "ECDSA", namedCurve: "P-521" }],
  ["2b6570", { name: "Ed25519" }],
];
const RSA_KEY = "2a864886f70d010101";
/** The algorithm is in the first bytes of a key. */
const ALGORITHM_BYTES = 32;

function pkcs8ParametersOf(
  der: Uint8Array,
  alg: string | undefined,
): ImportParameters | undefined {
  const start = Array.from(
    der.subarray(0, ALGORITHM_BYTES),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
  return start.includes(RSA_KEY)
    ? importParametersOf({ kty: "RSA", d: "", alg })
    : PKCS8_KEYS.find(([oid]) => start.includes(oid))?.[1];
}

/** Decodes PKCS #8 in PEM (RFC 7468, section 10). */
function decodePem(pem: string): Uint8Array<ArrayBuffer> | undefined {
  const [, base64] =
    /^\s*-----BEGIN PRIVATE KEY-----([\sA-Za-z\d+/=]+)-----END PRIVATE KEY-----\s*$/
      .exec(pem) ?? [];
  try {
    return base64 === undefined
      ? undefined
      : Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

async function imported(
  importing: Promise<WebCryptoKey>,
): Promise<WebCryptoKey> {
  try {
    return await importing;
  } catch (cause) {
    throw new OAuthClientError(
      "invalid_argument",
      "key must be a private key that this runtime can import for signing",
      { cause },
    );
  }
}

/**
 * Returns a function that imports a key at its first call; undefined if it is not a
 * key.
 */
function importOf(
  key: PrivateJwk | string,
  alg: string | undefined,
): (() => Promise<WebCryptoKey>) | undefined {
  const subtle = subtleCrypto();
  if (typeof key === "string") {
    const der = decodePem(key);
    const parameters = der && pkcs8ParametersOf(der, alg);
    return der && parameters &&
      (() =>
        imported(subtle.importKey("pkcs8", der, parameters, false, ["sign"])));
  }
  const parameters = importParametersOf(key);
  // Runtimes differ in the `alg` that they accept for Ed25519.
  const { alg: _, ...jwk } = key;
  return parameters && (() =>
    imported(
      subtle.importKey("jwk", jwk as JsonWebKey, parameters, false, ["sign"]),
    ));
}

/**
 * Returns a function that imports a checked key at its first call. `alg` is for an RSA
 * key in PEM, which does not contain its algorithm.
 */
export function requireSigningKey(
  key: SigningKey,
  alg: string | undefined,
): () => Promise<WebCryptoKey> {
  const expected =
    "a private CryptoKey for signing, a private JWK, or PKCS #8 " +
    'in PEM ("-----BEGIN PRIVATE KEY-----")';
  const isObject = typeof key === "object" && key !== null;
  if (isObject && "usages" in key) {
    const isPrivate = key.type === "private" && key.usages.includes("sign");
    requireArgument(isPrivate, "key", expected);
    return () => Promise.resolve(key);
  }
  const load = isObject || typeof key === "string"
    ? importOf(key, alg)
    : undefined;
  requireArgument(load !== undefined, "key", expected);
  let loading: Promise<WebCryptoKey> | undefined;
  return () => loading ??= load();
}
