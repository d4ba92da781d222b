import { checkIdToken } from "../token/id_token.ts";
import type { Token } from "../token/token.ts";
import type { Grant } from "./_new_session.ts";

export interface ExpectedIdToken
  extends Pick<Grant, "issuer" | "client" | "scopes"> {
  readonly nonce?: string | undefined;
  /** In seconds since the Unix epoch. */
  readonly earliestAuthTime?: number | undefined;
  readonly optionalIdToken?: boolean | undefined;
}

export function earliestAuthTimeOf(
  { max_age }: Readonly<Record<string, string>>,
  now: () => number,
): number | undefined {
  const maxAge = Number(max_age || NaN);
  return maxAge >= 0 ? Math.floor(now() / 1000) - maxAge : undefined;
}

/**
 * Checks the ID token of a token response, and returns the token. A failed check fails
 * the sign-in, or omits an ID token that the caller has not requested.
 */
export async function withCheckedIdToken(
  token: Token,
  expected: ExpectedIdToken,
  now: () => number,
): Promise<Token> {
  const { id_token, ...rest } = token;
  // A server that is not an OpenID provider ignores the scope.
  if (id_token === undefined || !expected.scopes.includes("openid")) {
    return token;
  }
  const { issuer, client, nonce, earliestAuthTime } = expected;
  try {
    await checkIdToken(id_token, {
      issuer,
      clientId: client?.client_id ?? "",
      nonce,
      // The user may take any time between the authentication and the consent.
      maxAge: earliestAuthTime === undefined
        ? undefined
        : now() / 1000 - earliestAuthTime,
      accessToken: token.access_token,
      now,
    });
    return token;
  } catch (error) {
    if (!expected.optionalIdToken) throw error;
    return rest;
  }
}
