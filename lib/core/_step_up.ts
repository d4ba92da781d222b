import type { IAuthenticationChallenge } from "./types.ts";

/**
 * Returns the authorization parameters that a challenge with
 * `insufficient_user_authentication` requires (RFC 9470, sections 3 and 4). Omits an
 * empty `acr_values`, and a `max_age` that is not 1 to 9 digits.
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
