/**
 * The claims of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).
 *
 * @module
 */

import {
  optionalFunction,
  requireArgument,
  requireNonEmptyString,
  requireObject,
  requireStrings,
} from "../core/_arguments.ts";
import { encodeBase64Url } from "../core/_base64.ts";
import { decodeJwt } from "../core/_jwt.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationJWTClaims } from "../core/types.ts";

/** What {@linkcode checkIdToken} compares an ID token with. */
export interface ICheckIdTokenOptions {
  /** Issuer of the server whose token endpoint returned the ID token. */
  issuer: string;
  /** Identifier of the client. */
  clientId: string;
  /** The `nonce` of the authorization request, if it had one. */
  nonce?: string | undefined;
  /** The `max_age` of the authorization request, if it had one. */
  maxAgeSeconds?: number | undefined;
  /**
   * Authentication context classes, one of which is required: an array, or a string
   * that separates them by spaces, as in `acr_values`.
   */
  acrValues?: string | readonly string[] | undefined;
  /** The access token of the same response, to be compared with `at_hash`. */
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

/** Claims of an ID token that were checked. */
export interface IIdTokenClaims extends IAuthorizationJWTClaims {
  /** The client, alone or among others. */
  aud: string | string[];
  /** Expiry, in seconds since the Unix epoch. */
  exp: number;
  /** Time of issue, in seconds since the Unix epoch. */
  iat: number;
}

function invalidIdToken(problem: string): OAuthClientError {
  const message = `Invalid ID token: ${problem}`;
  return new OAuthClientError("invalid_id_token", message);
}

function decode(token: string): ReturnType<typeof decodeJwt> {
  try {
    return decodeJwt(token);
  } catch {
    throw invalidIdToken("it is not a signed JWT");
  }
}

/** Returns a claim that is a number; fails if there is none. */
function timeIn(claims: IAuthorizationJWTClaims, name: string): number {
  const value = claims[name];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw invalidIdToken(`its claim ${name} is missing or not a number`);
}

/** Fails unless the token was issued by the server to the client. */
function requireParties(
  { iss, sub, aud, azp }: IAuthorizationJWTClaims,
  { issuer, clientId }: ICheckIdTokenOptions,
): void {
  if (iss !== issuer) throw invalidIdToken("its iss is not the issuer");
  if (typeof sub !== "string" || sub === "") {
    throw invalidIdToken("its claim sub is missing or not a string");
  }
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(clientId)) {
    throw invalidIdToken("its aud does not contain the client");
  }
  // With several audiences, only azp says which one the token was issued to.
  const isOwn = azp === undefined ? audiences.length === 1 : azp === clientId;
  if (!isOwn) throw invalidIdToken("its azp is not the client");
}

/** Fails unless the token is valid now, and the user's authentication recent. */
function requireTimes(
  claims: IAuthorizationJWTClaims,
  { maxAgeSeconds, skewSeconds = 30, now = Date.now }: ICheckIdTokenOptions,
): void {
  const seconds = now() / 1000;
  const latest = seconds + skewSeconds;
  if (timeIn(claims, "exp") <= seconds - skewSeconds) {
    throw invalidIdToken("it has expired");
  }
  for (const name of ["iat", "nbf", "auth_time"]) {
    const isRequired = name === "iat" ||
      (name === "auth_time" && maxAgeSeconds !== undefined);
    if (!isRequired && claims[name] === undefined) continue;
    if (timeIn(claims, name) > latest) {
      throw invalidIdToken(`its ${name} is in the future (check the clock)`);
    }
  }
  if (maxAgeSeconds === undefined) return;
  if (seconds - timeIn(claims, "auth_time") > maxAgeSeconds + skewSeconds) {
    throw invalidIdToken("the user's authentication is older than max_age");
  }
}

/** Returns the hash of an algorithm; undefined if Web Crypto does not have it. */
function hashOf(alg: unknown): string | undefined {
  const name = String(alg);
  const bits = /^(?:HS|RS|PS|ES)(256|384|512)$/.exec(name)?.[1];
  if (bits !== undefined) return `SHA-${bits}`;
  // Ed25519 uses SHA-512 (RFC 8032, section 5.1); ES256K is in RFC 8812.
  if (name === "EdDSA" || name === "Ed25519") return "SHA-512";
  return name === "ES256K" ? "SHA-256" : undefined;
}

/** Fails if the token was issued with another access token. */
async function requireHash(
  atHash: unknown,
  alg: unknown,
  accessToken: string,
): Promise<void> {
  const hash = hashOf(alg);
  if (atHash === undefined || hash === undefined) return;
  const bytes = new TextEncoder().encode(accessToken);
  const digest = await crypto.subtle.digest(hash, bytes);
  const half = new Uint8Array(digest, 0, digest.byteLength / 2);
  if (encodeBase64Url(half) !== atHash) {
    throw invalidIdToken("its at_hash is not that of the access token");
  }
}

/** Checks the options, whose values are compared with those of the token. */
function requireOptions(options: ICheckIdTokenOptions): void {
  const { issuer, clientId, maxAgeSeconds, skewSeconds, now } = options;
  requireNonEmptyString("issuer", issuer);
  requireNonEmptyString("clientId", clientId);
  optionalFunction("now", now);
  for (
    const [name, value] of Object.entries({ maxAgeSeconds, skewSeconds })
  ) {
    requireArgument(
      value === undefined || (Number.isFinite(value) && value >= 0),
      name,
      "a number of seconds",
    );
  }
}

/**
 * Checks the claims of an ID token that a client received directly from the token
 * endpoint. {@linkcode finishAuthorization} does so by itself.
 *
 * - `iss` is the issuer; `aud` contains the client; `azp`, which is required with
 *   several audiences, is the client; `sub` is a string.
 * - `exp` is in the future, and `iat`, `nbf` and `auth_time` are not.
 * - `nonce` is that of the request, if `nonce` is given.
 * - `auth_time` is at most `maxAgeSeconds` ago, if that is given.
 * - `acr` is one of `acrValues`, if those are given.
 * - `at_hash` is that of `accessToken`, if both are present and the signature algorithm
 *   has a SHA-2 hash.
 *
 * **The signature is not verified.** OpenID Connect allows this for a token from the
 * token endpoint of the issuer, because TLS authenticates the server. A token that
 * came in any other way, for example from a browser, must be verified with a JOSE
 * library, as in the example. An encrypted ID token has to be decrypted first.
 *
 * @param token The `id_token` of the token response.
 * @param options What the claims are compared with.
 * @returns The claims.
 * @throws {OAuthClientError} `invalid_id_token`: the token is not a JWT, or a check
 * fails. `invalid_argument`: an argument has the wrong type, or is empty.
 * @see OpenID Connect Core 1.0, sections 2, 3.1.3.6 and 3.1.3.7 (point 6).
 *
 * @example Verify the signature as well, with `jose`
 * ```ts
 * import {
 *   checkIdToken,
 *   type ICheckIdTokenOptions,
 *   type IIdTokenClaims,
 * } from "@oauth-helper/client";
 * import { createRemoteJWKSet, jwtVerify } from "jose";
 *
 * export async function verifyIdToken(
 *   idToken: string,
 *   jwksUri: string,
 *   options: ICheckIdTokenOptions,
 * ): Promise<IIdTokenClaims> {
 *   // Keep the JWK Set, which caches the keys, for further tokens.
 *   const keys = createRemoteJWKSet(new URL(jwksUri));
 *   await jwtVerify(idToken, keys, { audience: options.clientId });
 *   return await checkIdToken(idToken, options);
 * }
 * ```
 */
export async function checkIdToken(
  token: string,
  options: ICheckIdTokenOptions,
): Promise<IIdTokenClaims> {
  requireOptions(requireObject("options", options));
  const { nonce, acrValues, accessToken } = options;
  const { header, claims } = decode(requireNonEmptyString("token", token));
  requireParties(claims, options);
  requireTimes(claims, options);
  if (nonce !== undefined && claims.nonce !== nonce) {
    throw invalidIdToken("its nonce is not that of the request");
  }
  if (acrValues !== undefined) {
    const allowed = typeof acrValues === "string"
      ? acrValues.split(" ").filter(Boolean)
      : requireStrings("acrValues", acrValues);
    if (claims.acr === undefined || !allowed.includes(claims.acr)) {
      throw invalidIdToken("its acr is not one of the required ones");
    }
  }
  if (accessToken !== undefined) {
    await requireHash(claims.at_hash, header.alg, accessToken);
  }
  return claims as IIdTokenClaims;
}
