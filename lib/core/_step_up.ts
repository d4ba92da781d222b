/**
 * Step-up authentication (RFC 9470): a resource requires a more recent or a stronger
 * authentication of the user.
 */

import type { IAuthenticationChallenge } from "./types.ts";

/**
 * Returns the parameters of the authorization request that a challenge with
 * `insufficient_user_authentication` requires (RFC 9470, sections 3 and 4). An empty
 * `acr_values` is omitted, and so is a `max_age` that is not a number of seconds with
 * at most 9 digits.
 */
export function stepUpParameters(
  { params }: Pick<IAuthenticationChallenge, "params">,
): { acr_values?: string; max_age?: string } {
  const { error, acr_values, max_age = "" } = params;
  if (error !== "insufficient_user_authentication") return {};
  return {
    ...(acr_values?.trim() && { acr_values }),
    ...(/^\d{1,9}$/.test(max_age) && { max_age }),
  };
}
