/**
 * Client authentication by a signed JWT (RFC 7523).
 *
 * @module
 */

import {
  requireArgument,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { WebCryptoKey } from "../core/types.ts";
import { signJwt } from "./_jws.ts";
import {
  type IClientAuthentication,
  type IClientAuthenticationOptions,
  publicClient,
} from "./authentication.ts";

const CLIENT_ASSERTION_TYPE =
  "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** What a client assertion is made for. */
export interface IAssertionAudience {
  /** Issuer identifier of the server: the recommended `aud` of the assertion. */
  issuer: string;
  /** URL of the token endpoint, which some servers expect as `aud`. */
  tokenEndpoint?: string | undefined;
  /** Aborts on timeout and when the caller's signal aborts. */
  signal?: AbortSignal | undefined;
}

/**
 * Returns a client that sends an assertion made elsewhere: the token of a workload
 * identity, or a JWT that a key management service signs.
 *
 * @param clientId Identifier of the client, not empty.
 * @param getJwt Returns the assertion. It is called for every request, since a
 * server accepts an assertion with a `jti` only once. What it throws is passed on.
 * @param options The issuer that the assertions are bound to.
 * @throws {OAuthClientError} `invalid_argument`: an argument is not valid, or
 * `clientId` is empty. A request fails with the same code if `getJwt` returns
 * anything but a non-empty string.
 * @see RFC 7521, section 4.2; RFC 7523, sections 2.2 and 3.
 *
 * @example Authenticate with the token of a workload
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   clientAssertion,
 *   fetchToken,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * // Replaces the file that the platform renews every hour.
 * const readWorkloadToken = () => Promise.resolve("eyJhbGciOiJSUzI1NiJ9.e30.c2ln");
 *
 * const { access_token } = await fetchToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   buildClientCredentialsBody(),
 *   {
 *     client: clientAssertion("c1", readWorkloadToken, {
 *       issuer: "https://as.example",
 *     }),
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         new URLSearchParams(body).get("client_assertion")?.startsWith("eyJ")
 *           ? Response.json({ access_token: "t0ken", token_type: "Bearer" })
 *           : Response.json({ error: "invalid_client" }, { status: 401 }),
 *       ),
 *   },
 * );
 * assertEquals(access_token, "t0ken");
 * ```
 */
export function clientAssertion(
  clientId: string,
  getJwt: (audience: IAssertionAudience) => string | Promise<string>,
  options?: IClientAuthenticationOptions,
): IClientAuthentication {
  const client = publicClient(clientId, options);
  requireArgument(typeof getJwt === "function", "getJwt", "a function");
  return {
    ...client,
    method: "private_key_jwt",
    async authenticate(request) {
      const { serverMetadata, signal } = request;
      const { issuer, token_endpoint: tokenEndpoint } = serverMetadata;
      const assertion = await getJwt({ issuer, tokenEndpoint, signal });
      requireNonEmptyString("The result of getJwt", assertion);
      await client.authenticate(request);
      request.body.set("client_assertion_type", CLIENT_ASSERTION_TYPE);
      request.body.set("client_assertion", assertion);
    },
  };
}

/** A private key as a JWK (RFC 7517), for ECDSA, Ed25519 or RSA. */
export interface IPrivateJwk {
  /** Key type: `EC`, `OKP` or `RSA`. */
  kty?: string | undefined;
  /** Signature algorithm, such as `PS256`; decides how an RSA key is used. */
  alg?: string | undefined;
  /** Identifier of the key. */
  kid?: string | undefined;
  /** Intended use; `sig`, if any. */
  use?: string | undefined;
  /** Intended operations; include `sign`, if there are any. */
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

/** Options of {@linkcode privateKeyJwt}. */
export interface IPrivateKeyJwtOptions extends IClientAuthenticationOptions {
  /** `kid` in the client's JWK Set; the `kid` of a JWK when absent. */
  keyId?: string | undefined;
  /** `aud` of the assertions; the issuer identifier of the server when absent. */
  audience?: string | undefined;
  /**
   * Lifetime of an assertion in seconds.
   *
   * @default {60}
   */
  lifetimeSeconds?: number | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/** Returns how a private JWK is imported; undefined if it is not for signing. */
function importParametersOf(
  { kty, crv = "", alg, d }: IPrivateJwk,
): RsaHashedImportParams | EcKeyImportParams | Algorithm | undefined {
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
  // RFC 9864, section 2.2, gives EdDSA with this curve a name of its own.
  return kty === "OKP" && crv === "Ed25519" &&
      /^(EdDSA|Ed25519)$/.test(alg ?? "EdDSA")
    ? { name: "Ed25519" }
    : undefined;
}

/** Checks a key; returns a function that imports it at its first call. */
function requireSigningKey(
  key: WebCryptoKey | IPrivateJwk,
): () => Promise<WebCryptoKey> {
  const expected = "a private CryptoKey for signing, or a private JWK of one";
  requireArgument(typeof key === "object" && key !== null, "key", expected);
  if ("usages" in key) {
    const isPrivate = key.type === "private" && key.usages.includes("sign");
    requireArgument(isPrivate, "key", expected);
    return () => Promise.resolve(key);
  }
  const parameters = importParametersOf(key);
  requireArgument(parameters !== undefined, "key", expected);
  // Runtimes differ in the `alg` that they accept for Ed25519.
  const { alg: _, ...jwk } = key;
  let imported: Promise<WebCryptoKey> | undefined;
  return () => imported ??= importJwk(jwk as JsonWebKey, parameters);
}

async function importJwk(
  jwk: JsonWebKey,
  parameters: RsaHashedImportParams | EcKeyImportParams | Algorithm,
): Promise<WebCryptoKey> {
  try {
    return await crypto.subtle.importKey("jwk", jwk, parameters, false, [
      "sign",
    ]);
  } catch (cause) {
    throw new OAuthClientError(
      "invalid_argument",
      "key must be a private JWK that this runtime can import for signing",
      { cause },
    );
  }
}

/**
 * Returns a client that signs a new assertion for every request.
 *
 * The algorithm follows from the key: ES256, ES384, ES512, EdDSA, RS256 to RS512 or
 * PS256 to PS512. A `CryptoKey` can and should be non-extractable. A JWK is imported
 * at the first request, and its `alg` decides how an RSA key is used (RS256 when
 * absent).
 *
 * @param clientId Identifier of the client, not empty.
 * @param key Private key for signing.
 * @param options The claims of the assertions, and the issuer that they are bound to.
 * @throws {OAuthClientError} `invalid_argument`: an argument is not valid,
 * `clientId` is empty, or the key is not a private key for one of these algorithms.
 * The first request fails with the same code if the JWK cannot be imported.
 * @see RFC 7523, sections 2.2 and 3; OpenID Connect Core 1.0, section 9.
 *
 * @example Request a token with a signed assertion
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   fetchToken,
 *   getClaimsFromJWT,
 *   privateKeyJwt,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { privateKey } = await crypto.subtle.generateKey(
 *   { name: "ECDSA", namedCurve: "P-256" },
 *   false,
 *   ["sign", "verify"],
 * );
 * const { access_token } = await fetchToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   buildClientCredentialsBody(),
 *   {
 *     client: privateKeyJwt("c1", privateKey, {
 *       keyId: "k1",
 *       issuer: "https://as.example",
 *     }),
 *     // Replaces the server, which would verify the signature as well.
 *     fetch: (_url, { body }) => {
 *       const assertion = new URLSearchParams(body).get("client_assertion") ?? "";
 *       return Promise.resolve(
 *         getClaimsFromJWT(assertion).aud === "https://as.example"
 *           ? Response.json({ access_token: "t0ken", token_type: "Bearer" })
 *           : Response.json({ error: "invalid_client" }, { status: 401 }),
 *       );
 *     },
 *   },
 * );
 * assertEquals(access_token, "t0ken");
 * ```
 */
export function privateKeyJwt(
  clientId: string,
  key: WebCryptoKey | IPrivateJwk,
  options?: IPrivateKeyJwtOptions,
): IClientAuthentication {
  const { issuer, audience, lifetimeSeconds = 60, now = Date.now, ...rest } =
    requireObject("options", options ?? {});
  requireArgument(
    Number.isFinite(lifetimeSeconds) && lifetimeSeconds > 0,
    "lifetimeSeconds",
    "a positive number of seconds",
  );
  const getKey = requireSigningKey(key);
  const kid = rest.keyId ?? ("kid" in key ? key.kid : undefined);
  const getJwt = async ({ issuer }: IAssertionAudience) => {
    const iat = Math.floor(now() / 1000);
    return await signJwt(
      { typ: "JWT", ...(kid && { kid }) },
      {
        iss: clientId,
        sub: clientId,
        aud: audience ?? issuer,
        jti: crypto.randomUUID(),
        iat,
        exp: iat + lifetimeSeconds,
      },
      await getKey(),
    );
  };
  return clientAssertion(clientId, getJwt, { issuer });
}
