import { decodeJwt } from "./_jwt.ts";
import type { IAuthorizationJWTClaims } from "./types.ts";

/**
 * Returns the claims of a JWT without verifying its signature. Never use them for
 * access decisions: verify the token with a JOSE library such as `jose` first.
 *
 * Accepts both base64 alphabets, with or without padding. Times are in seconds since
 * the Unix epoch. Every claim is an own property, even `__proto__`.
 *
 * @param token Three parts separated by dots, without a `Bearer` prefix.
 * @throws {OAuthClientError} `invalid_jwt`: the token does not consist of three parts,
 * or its header or payload is not a JSON object in base64. The message quotes no part
 * of the token.
 * @see RFC 7519, section 7.2; RFC 7515, section 7.1.
 *
 * @example Greet the user of an ID token
 * ```ts
 * import { getClaimsFromJWT } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * function greet(idToken: string): string {
 *   const { name, preferred_username, sub } = getClaimsFromJWT(idToken);
 *   return `Hello ${name ?? preferred_username ?? sub}`;
 * }
 * const idToken = `${btoa('{"alg":"ES256"}')}.${btoa('{"name":"Ada"}')}.c2ln`;
 * assertEquals(greet(idToken), "Hello Ada");
 * ```
 *
 * @category Literal layer
 */
export function getClaimsFromJWT(token: string): IAuthorizationJWTClaims {
  return decodeJwt(token).claims;
}
