/** Whether the ID token of a refresh is for the user who has signed in. */

import { decodeJwt } from "../core/_jwt.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationJWTClaims } from "../core/types.ts";
import { checkIdToken, type ICheckIdTokenOptions } from "../token/id_token.ts";

/** Returns the claims of an ID token; undefined if there is none that can be read. */
function claimsOf(
  idToken: string | undefined,
): IAuthorizationJWTClaims | undefined {
  try {
    const { claims } = decodeJwt(idToken ?? "");
    return typeof claims.iss === "string" ? claims : undefined;
  } catch {
    return undefined; // Not a JWT, or encrypted.
  }
}

/** Returns a claim as a string; the order of audiences does not matter. */
function comparable(claim: unknown): string {
  return JSON.stringify([claim].flat().sort());
}

/**
 * Checks the ID token of a refresh, and compares it with that of the session (OpenID
 * Connect Core 1.0, section 12.2).
 */
export async function checkRefreshedIdToken(
  idToken: string,
  earlier: string | undefined,
  options: Omit<ICheckIdTokenOptions, "issuer">,
): Promise<void> {
  const original = claimsOf(earlier);
  // A server may return the same one again, which may have expired.
  if (!original || idToken === earlier) return;
  const { clientId, accessToken, now } = options;
  const { iss: issuer } = original;
  const claims = await checkIdToken(idToken, {
    issuer,
    clientId,
    accessToken,
    now,
  });
  for (const name of ["sub", "aud", "auth_time", "nonce"]) {
    const isOptional = name === "auth_time" || name === "nonce";
    const isAbsent = claims[name] === undefined || original[name] === undefined;
    const isSame = comparable(claims[name]) === comparable(original[name]);
    if (isSame || (isOptional && isAbsent)) continue;
    throw new OAuthClientError(
      "invalid_id_token",
      `Invalid ID token: its ${name} is not that of the ID token of the session`,
    );
  }
}
