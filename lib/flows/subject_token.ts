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
   * The token that the function has just returned, if it has expired, or the identity
   * provider requires another authentication. Only {@linkcode crossAppFlow} sets it.
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
  /** The token, in the form that a token request sends. */
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

/** Checks the result of a caller's function. */
export function subjectTokenOf(
  name: string,
  given: string | SubjectToken,
  defaultType: string,
): { token: string; type: string } {
  const { token, type = defaultType }: Partial<SubjectToken> =
    typeof given === "string" ? { token: given } : given ?? {};
  // Tokens contain no whitespace; an Authorization header does.
  requireArgument(
    typeof token === "string" && /^\S+$/.test(token),
    `The result of ${name}`,
    "a token, without `Bearer`",
  );
  return { token, type };
}

/** Checks for an expired ID token. */
export function hasExpired(
  { token, type }: Required<SubjectToken>,
  now: () => number,
): boolean {
  return type === TOKEN_TYPE_ID_TOKEN && isOver(token, now);
}

/** Checks for an expired JWT. */
export function isOver(token: string, now: () => number): boolean {
  // The server decides about a token without readable claims.
  const { exp } = readClaims(token) ?? {};
  return typeof exp === "number" && exp <= now() / 1000;
}

/**
 * Returns the authentication that an identity provider requires (RFC 9470, section 3).
 */
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
