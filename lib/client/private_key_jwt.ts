import {
  requireArgument,
  requireNames,
  requireObject,
} from "../core/_arguments.ts";
import { parseUrl } from "../core/_url.ts";
import { signJwt } from "./_jws.ts";
import { requireSigningKey, type SigningKey } from "./signing_key.ts";
import type {
  ClientAuthentication,
  ClientAuthenticationOptions,
} from "./authentication.ts";
import { type AssertionAudience, clientAssertion } from "./client_assertion.ts";

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof PrivateKeyJwtOptions, true> = {
  issuer: true,
  keyId: true,
  claims: true,
  alg: true,
  audience: true,
  type: true,
  lifetimeSeconds: true,
  now: true,
};

/** Options of {@linkcode privateKeyJwt}. */
export interface PrivateKeyJwtOptions extends ClientAuthenticationOptions {
  /**
   * `kid` in the client's JWK Set; the `kid` of a JWK when absent. If `key` is a
   * function, omit it and return a JWK with its `kid`.
   */
  keyId?: string | undefined;
  /**
   * More claims, which some servers require. They cannot be `iss`, `sub`, `aud`, `exp`,
   * `iat` or `jti`.
   */
  claims?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Signature algorithm for an RSA key in PEM, such as `PS256`. A JWK contains its own
   * `alg`.
   *
   * @default {"RS256"}
   */
  alg?: string | undefined;
  /**
   * `aud` of the assertions: `issuer` for the server's issuer identifier, as
   * draft-ietf-oauth-rfc7523bis requires; `token_endpoint`, which older servers expect;
   * or any other string.
   *
   * @default {"issuer"}
   */
  audience?:
    | "issuer"
    | "token_endpoint"
    | (string & Record<never, never>)
    | undefined;
  /**
   * `typ` of the assertions. draft-ietf-oauth-rfc7523bis-07 requires servers to accept
   * `client-authentication+jwt`, and OpenIddict 7 accepts only that. Other servers
   * ignore the type, or accept only `JWT`.
   *
   * @default {"JWT"}
   */
  type?: string | undefined;
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

/** The claims that the library sets (RFC 7523, section 3). */
const OWN_CLAIMS = ["iss", "sub", "aud", "exp", "iat", "jti"];

function audienceOf(
  audience: string,
  { issuer, tokenEndpoint = issuer }: AssertionAudience,
): string {
  switch (audience) {
    case "issuer":
      return issuer;
    case "token_endpoint":
      return tokenEndpoint;
  }
  return audience;
}

/**
 * Returns a client that signs a new assertion for every request.
 *
 * The key determines the algorithm: ES256, ES384, ES512, EdDSA, RS256 to RS512 or PS256
 * to PS512. A `CryptoKey` should be non-extractable. A JWK, or PKCS #8 in PEM, is
 * imported at the first request; for an RSA key, `alg` selects the algorithm (RS256
 * when absent).
 *
 * Set `issuer`, because assertions are for one issuer. Only a client with a metadata
 * document needs none: each assertion is for the server that receives it.
 *
 * @param clientId Identifier of the client, not empty.
 * @param key Private key for signing, or a function that returns it for each assertion,
 * for key rotation.
 * @param options The claims of the assertions, and the issuer that the client is bound
 * to.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid or empty,
 * `issuer` is missing, or the key is not a private key for one of these algorithms. The
 * first request fails with the same code if the key cannot be imported.
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
 *
 * @category Clients
 */
export function privateKeyJwt(
  clientId: string,
  key: SigningKey | (() => SigningKey | Promise<SigningKey>),
  options?: PrivateKeyJwtOptions,
): ClientAuthentication {
  const { issuer, audience = "issuer", type = "JWT", alg, keyId, ...rest } =
    requireObject("options", options ?? {});
  // A misspelled keyId would omit the kid.
  requireNames(options ?? {}, Object.keys(OPTIONS), "privateKeyJwt");
  const { lifetimeSeconds = 60, now = Date.now, claims } = rest;
  const added = { ...requireObject("claims", claims ?? {}) };
  requireArgument(
    !OWN_CLAIMS.some((name) => name in added),
    "claims",
    `an object without ${OWN_CLAIMS.join(", ")}, which are set already`,
  );
  requireArgument(
    Number.isFinite(lifetimeSeconds) && lifetimeSeconds > 0,
    "lifetimeSeconds",
    "a positive number of seconds",
  );
  // The URL of a metadata document identifies the client at every server. An assertion
  // of `clientAssertion` could be for another audience.
  const isPortable = audience === "issuer" &&
    parseUrl(clientId)?.protocol === "https:";
  requireArgument(
    issuer !== undefined || isPortable,
    "options.issuer",
    "the issuer that the client is registered with, unless clientId is the URL " +
      'of a client metadata document and audience is "issuer"',
  );
  const readyOf = (given: SigningKey) => ({
    given,
    getKey: requireSigningKey(given, alg),
    kid: keyId ??
      (typeof given === "object" && "kid" in given ? given.kid : undefined),
  });
  let ready = typeof key === "function" ? undefined : readyOf(key);
  const getJwt = async (server: AssertionAudience) => {
    const given = typeof key === "function" ? await key() : key;
    // The same key is imported once.
    if (!ready || ready.given !== given) ready = readyOf(given);
    const { getKey, kid } = ready;
    const iat = Math.floor(now() / 1000);
    return await signJwt(
      { typ: type, ...(kid && { kid }) },
      {
        ...added,
        iss: clientId,
        sub: clientId,
        aud: audienceOf(audience, server),
        jti: crypto.randomUUID(),
        iat,
        exp: iat + lifetimeSeconds,
      },
      await getKey(),
    );
  };
  return {
    ...clientAssertion(clientId, getJwt, { issuer }),
    isPortable,
  };
}
