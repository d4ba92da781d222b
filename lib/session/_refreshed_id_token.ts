import { readClaims } from "../core/_jwt.ts";
import { OAuthClientError } from "../core/errors.ts";
import { checkIdToken, type CheckIdTokenOptions } from "../token/id_token.ts";

/** Ignores the order of audiences. */
function comparable(claim: unknown): string {
  return JSON.stringify([claim].flat().sort());
}

/**
 * Checks the ID token of a refresh, and compares it with the session's ID token (OpenID
 * Connect Core 1.0, section 12.2).
 */
export async function checkRefreshedIdToken(
  idToken: string,
  earlier: string | undefined,
  { clientId, accessToken, now }: Omit<CheckIdTokenOptions, "issuer">,
): Promise<void> {
  const original = readClaims(earlier);
  const issuer = original?.iss;
  // A server may return the same ID token again, even if it has expired.
  if (!original || !issuer || idToken === earlier) return;
  const expected = { issuer, clientId, accessToken, now };
  const claims = await checkIdToken(idToken, expected);
  for (const name of ["sub", "aud", "auth_time", "nonce"]) {
    const [before, after] = [original[name], claims[name]];
    // Most servers omit nonce, and some auth_time.
    const isComparable = before !== undefined && after !== undefined;
    if (isComparable && comparable(before) !== comparable(after)) {
      const message = `Invalid ID token: its ${name} has changed in a refresh`;
      throw new OAuthClientError("invalid_id_token", message);
    }
  }
}
