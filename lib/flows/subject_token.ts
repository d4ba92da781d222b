/**
 * The token of a user, which a server exchanges.
 *
 * @module
 */

import { requireArgument } from "../core/_arguments.ts";
import { readClaims } from "../core/_jwt.ts";
import { stepUpParameters } from "../core/_step_up.ts";
import { TOKEN_TYPE_ID_TOKEN } from "../core/constants.ts";
import { isOAuthClientError } from "../core/errors.ts";

/**
 * The argument of {@linkcode CrossAppFlowOptions.getSubjectToken} and
 * {@linkcode ExchangeFlowOptions.getSubjectToken}.
 *
 * @category Flows
 */
export interface SubjectTokenRequest {
  /**
   * The token that the function has just returned, if it cannot be used because it has
   * expired, or because the identity provider requires another authentication of the
   * user. Only {@linkcode crossAppFlow} sets it.
   */
  refusedToken?: string | undefined;
  /** The required authentication context classes (RFC 9470). */
  acrValues?: string | undefined;
  /** Seconds that may have passed since the user's authentication (RFC 9470). */
  maxAge?: number | undefined;
  /** Aborts when no caller waits for the session any more. */
  signal?: AbortSignal | undefined;
}

/**
 * A token that a server exchanges.
 *
 * @category Flows
 */
export interface SubjectToken {
  /** The token, as a token request sends it. */
  token: string;
  /**
   * Its token type identifier, such as {@linkcode TOKEN_TYPE_REFRESH_TOKEN} or
   * {@linkcode TOKEN_TYPE_SAML2}.
   *
   * @default {TOKEN_TYPE_ID_TOKEN} for {@linkcode crossAppFlow}, and
   * {@linkcode TOKEN_TYPE_ACCESS_TOKEN} for {@linkcode exchangeFlow}
   */
  type?: string | undefined;
}

/** Returns a token and its type, given the result of a function of the caller. */
export function subjectTokenOf(
  name: string,
  given: string | SubjectToken,
  defaultType: string,
): { token: string; type: string } {
  const { token, type = defaultType }: Partial<SubjectToken> =
    typeof given === "string" ? { token: given } : given ?? {};
  // No token has whitespace, but an Authorization header has.
  requireArgument(
    typeof token === "string" && /^\S+$/.test(token),
    `The result of ${name}`,
    "a token, without `Bearer`",
  );
  return { token, type };
}

/** Checks whether a token is an ID token that has expired. */
export function hasExpired(
  { token, type }: Required<SubjectToken>,
  now: () => number,
): boolean {
  return type === TOKEN_TYPE_ID_TOKEN && isOver(token, now);
}

/** Checks whether a token is a JWT that has expired. */
export function isOver(token: string, now: () => number): boolean {
  // A token without readable claims is left to the server.
  const { exp } = readClaims(token) ?? {};
  return typeof exp === "number" && exp <= now() / 1000;
}

/** Returns the authentication that an identity provider requires (RFC 9470, section 3). */
export function requiredAuthenticationOf(
  error: unknown,
): Pick<SubjectTokenRequest, "acrValues" | "maxAge"> | undefined {
  const code = "insufficient_user_authentication";
  if (!isOAuthClientError(error) || error.error !== code) return undefined;
  const { acr_values = "", max_age = "" } = error.errorResponse ?? {};
  const required = stepUpParameters({
    params: {
      error: code,
      acr_values: String(acr_values),
      max_age: String(max_age),
    },
  });
  return {
    ...(required.acr_values && { acrValues: required.acr_values }),
    ...(required.max_age && { maxAge: Number(required.max_age) }),
  };
}
