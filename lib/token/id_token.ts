import { requireNonEmptyString, requireObject } from "../core/_arguments.ts";
import { encodeBase64Url } from "../core/_base64.ts";
import { hinted } from "../core/_hints.ts";
import { decodeJwt } from "../core/_jwt.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";
import type { Hint, OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationJWTClaims } from "../core/types.ts";

/** Options of {@linkcode checkIdToken}. */
export interface CheckIdTokenOptions {
  /** Issuer of the server whose token endpoint returned the ID token. */
  issuer: string;
  /** Identifier of the client. */
  clientId: string;
  /** The `nonce` of the authorization request. */
  nonce?: string | undefined;
  /** The `max_age` of the authorization request. */
  maxAge?: number | undefined;
  /**
   * Authentication context classes, one of which must be the `acr`: an array, or a
   * string separated by spaces, as in `acr_values`.
   */
  acrValues?: string | readonly string[] | undefined;
  /** The access token of the same response, which is compared with `at_hash`. */
  accessToken?: string | undefined;
  /**
   * Seconds by which the clocks of server and client may differ.
   *
   * @default {30}
   */
  skewSeconds?: number | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/**
 * The checked claims of an ID token.
 *
 * @category Messages of the protocol
 */
export interface IdTokenClaims extends IAuthorizationJWTClaims {
  /** The client, or several recipients including the client. */
  aud: string | string[];
  /** Expiry, in seconds since the Unix epoch. */
  exp: number;
  /** Time of issue, in seconds since the Unix epoch. */
  iat: number;
}

function invalidIdToken(
  problem: string,
  ...hints: readonly Hint[]
): OAuthClientError {
  const message = `Invalid ID token: ${problem}`;
  return hinted("invalid_id_token", message, hints);
}

function decode(token: string): ReturnType<typeof decodeJwt> {
  let jwt: ReturnType<typeof decodeJwt> | undefined;
  try {
    jwt = decodeJwt(token);
  } catch {
    // Treated as an unsigned token.
  }
  const { alg = "none" } = jwt?.header ?? {};
  // OpenID Connect Core 1.0, section 2.
  const isSigned = alg !== "none" && !token.endsWith(".");
  if (jwt && isSigned) return jwt;
  throw invalidIdToken("it is not a signed JWT");
}

/** Returns undefined if Web Crypto lacks the hash. */
function hashOf(alg: unknown): string | undefined {
  // Ed25519 uses SHA-512 (RFC 8032, section 5.1); ES256K is in RFC 8812.
  const match = /^(?:[EHPR]S(256|384|512)K?|EdDSA|Ed25519)$/.exec(String(alg));
  return match ? `SHA-${match[1] ?? 512}` : undefined;
}

/**
 * Checks the claims of an ID token that a client received directly from the token
 * endpoint. {@linkcode finishAuthorization} calls it.
 *
 * - There is a signature, and `alg` is not `none`.
 * - `iss` is the issuer; `aud` contains the client; `azp` is the client, and is
 *   required if there are several audiences; `sub` is a string.
 * - `exp` is in the future, and `iat`, `nbf` and `auth_time` are not.
 * - If set, `nonce` matches, `auth_time` is at most `maxAge` ago, and `acr` is one of
 *   `acrValues`.
 * - `at_hash` is the hash of `accessToken`, if both are present and the algorithm uses
 *   a SHA-2 hash.
 *
 * **The signature is not verified.** OpenID Connect allows this for a token from the
 * issuer's token endpoint, because TLS authenticates the server. Verify any other
 * token, for example from a browser, with a JOSE library, as in the example. Decrypt an
 * encrypted ID token first.
 *
 * @param token The `id_token` of the token response.
 * @param options The expected values.
 * @returns The claims.
 * @throws {OAuthClientError} `invalid_id_token`: the token is not a JWT, or a check
 * fails. `invalid_argument`: `token`, `issuer` or `clientId` is not a string, or is
 * empty.
 * @see OpenID Connect Core 1.0, sections 2, 3.1.3.6 and 3.1.3.7 (point 6).
 *
 * @example Verify the signature as well, with jose
 * ```ts
 * import {
 *   checkIdToken,
 *   type CheckIdTokenOptions,
 *   type IdTokenClaims,
 * } from "@oauth-helper/client";
 * import { createRemoteJWKSet, jwtVerify } from "jose";
 *
 * export async function verifyIdToken(
 *   idToken: string,
 *   jwksUri: string,
 *   options: CheckIdTokenOptions,
 * ): Promise<IdTokenClaims> {
 *   // Keep the JWK Set, which caches the keys, for other tokens.
 *   const keys = createRemoteJWKSet(new URL(jwksUri));
 *   await jwtVerify(idToken, keys, { audience: options.clientId });
 *   return await checkIdToken(idToken, options);
 * }
 * ```
 *
 * @category Messages of the protocol
 */
export async function checkIdToken(
  token: string,
  options: CheckIdTokenOptions,
): Promise<IdTokenClaims> {
  const { nonce, maxAge, acrValues, accessToken, ...given } = requireObject(
    "options",
    options,
  );
  const { skewSeconds = 30, now = Date.now } = given;
  const issuer = requireNonEmptyString("issuer", given.issuer);
  const clientId = requireNonEmptyString("clientId", given.clientId);
  const { header, claims } = decode(requireNonEmptyString("token", token));
  const check = (
    holds: boolean,
    problem: string,
    ...hints: readonly Hint[]
  ) => {
    if (!holds) throw invalidIdToken(problem, ...hints);
  };
  const timeOf = (name: string) => {
    const time = claims[name];
    check(
      Number.isFinite(time),
      `its claim ${name} is missing or not a number`,
    );
    return time as number;
  };

  const { sub, azp, acr, at_hash } = claims;
  check(claims.iss === issuer, "its iss is not the issuer");
  check(
    typeof sub === "string" && sub !== "",
    "its claim sub is missing or not a string",
  );
  const audiences: unknown[] = [claims.aud].flat();
  check(audiences.includes(clientId), "its aud does not contain the client");
  // With several audiences, only `azp` names the token's client.
  check(
    azp === undefined ? audiences.length === 1 : azp === clientId,
    "its azp is not the client",
  );

  // These comparisons fail if an option is NaN. A sum would append a string option.
  const seconds = now() / 1000;
  check(timeOf("exp") > seconds - skewSeconds, "it has expired");
  for (const name of ["iat", "nbf", "auth_time"]) {
    const isAbsent = name !== "iat" && claims[name] === undefined;
    check(
      isAbsent || timeOf(name) - skewSeconds <= seconds,
      `its ${name} is in the future (check the clock)`,
    );
  }
  check(
    maxAge === undefined ||
      seconds - timeOf("auth_time") - skewSeconds <= maxAge,
    "the user's authentication is older than max_age",
  );

  // Some servers' consent pages lose the nonce; a different nonce may be an attack.
  check(
    nonce === undefined || Boolean(claims.nonce),
    "it has no nonce, but the request had one",
    { option: "scopes", text: "omit openid from scopes" },
  );
  check(
    nonce === undefined || claims.nonce === nonce,
    "its nonce does not match the request",
  );
  const allowed: readonly unknown[] | undefined = typeof acrValues === "string"
    ? acrValues.split(" ")
    : acrValues;
  check(
    allowed === undefined || (Boolean(acr) && allowed.includes(acr)),
    "its acr is not one of the required ones",
  );
  const hash = hashOf(header.alg);
  if (accessToken !== undefined && at_hash !== undefined && hash) {
    const bytes = new TextEncoder().encode(accessToken);
    const digest = await subtleCrypto().digest(hash, bytes);
    const half = new Uint8Array(digest, 0, digest.byteLength / 2);
    check(
      encodeBase64Url(half) === at_hash,
      "its at_hash does not match the token",
    );
  }
  return claims as IdTokenClaims;
}
