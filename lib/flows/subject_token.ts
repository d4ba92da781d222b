/**
 * The token of a user, which an identity provider exchanges.
 *
 * @module
 */

import { readClaims } from "../core/_jwt.ts";
import { stepUpParameters } from "../core/_step_up.ts";
import { TOKEN_TYPE_ID_TOKEN } from "../core/constants.ts";
import { isOAuthClientError } from "../core/errors.ts";

/**
 * The argument of {@linkcode ICrossAppFlowOptions.getSubjectToken}.
 *
 * @category Flows
 */
export interface ISubjectTokenRequest {
  /**
   * The token that the function has just returned, if it cannot be used because it has
   * expired, or because the identity provider requires another authentication of the
   * user.
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
 * A token of the user from the identity provider.
 *
 * @category Flows
 */
export interface ISubjectToken {
  /** The token. */
  token: string;
  /**
   * Its token type identifier, such as {@linkcode TOKEN_TYPE_REFRESH_TOKEN} or
   * {@linkcode TOKEN_TYPE_SAML2}.
   *
   * @default {TOKEN_TYPE_ID_TOKEN}
   */
  type?: string | undefined;
}

/** Checks whether a token is an ID token that has expired. */
export function hasExpired(
  { token, type }: Required<ISubjectToken>,
  now: () => number,
): boolean {
  if (type !== TOKEN_TYPE_ID_TOKEN) return false;
  // A token without readable claims is left to the identity provider.
  const { exp } = readClaims(token) ?? {};
  return typeof exp === "number" && exp <= now() / 1000;
}

/** Returns the authentication that an identity provider requires (RFC 9470, section 3). */
export function requiredAuthenticationOf(
  error: unknown,
): Pick<ISubjectTokenRequest, "acrValues" | "maxAge"> | undefined {
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
