/**
 * Step-up authentication (RFC 9470): a resource requires a more recent or a stronger
 * authentication of the user.
 *
 * @module
 */

import { requireObject } from "./_arguments.ts";
import type { IAuthenticationChallenge } from "./types.ts";

/** Parameters of an authorization request, from {@linkcode stepUpParameters}. */
export type StepUpParameters = {
  /** Authentication context classes, separated by spaces. */
  acr_values?: string;
  /** Seconds since the user's authentication, in decimal digits. */
  max_age?: string;
};

/**
 * Returns the parameters of the authorization request that a challenge with
 * `insufficient_user_authentication` requires. Pass them as `parameters`; a refresh
 * would be of no use.
 *
 * @param challenge From {@linkcode findChallenge}. Any other challenge, or none,
 * gives no parameters.
 * @returns The parameters that the challenge has, as strings. An empty `acr_values`
 * is left out, and a `max_age` that is not a number of seconds of at most 9 digits.
 * @throws {OAuthClientError} `invalid_argument`: `challenge` is not an object.
 * @see RFC 9470, sections 3 and 4; OpenID Connect Core 1.0, section 3.1.2.1.
 *
 * @example Have the user authenticate again
 * ```ts
 * import { findChallenges, stepUpParameters } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * function parametersFor(response: Response): Record<string, string> {
 *   return Object.assign({}, ...findChallenges(response).map(stepUpParameters));
 * }
 * const response = new Response(null, {
 *   status: 401,
 *   headers: {
 *     "WWW-Authenticate": 'Bearer error="insufficient_user_authentication", ' +
 *       'acr_values="phr", max_age="300"',
 *   },
 * });
 * assertEquals(parametersFor(response), { acr_values: "phr", max_age: "300" });
 * ```
 */
export function stepUpParameters(
  challenge: Pick<IAuthenticationChallenge, "params"> | undefined,
): StepUpParameters {
  const { error, acr_values, max_age = "" } =
    requireObject("challenge", challenge ?? { params: {} }).params;
  if (error !== "insufficient_user_authentication") return {};
  return {
    ...(acr_values?.trim() && { acr_values }),
    ...(/^\d{1,9}$/.test(max_age) && { max_age }),
  };
}
