/** Whether a resource accepts only tokens that are bound to a key (RFC 9449). */

import type { IDpop } from "../client/dpop.ts";
import { quoteUrl } from "../core/_url.ts";
import { findChallenges, type IChallengeHeaders } from "../core/challenge.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";

/**
 * Fails if a resource requires bound tokens and there is no key, before a user signs in
 * for a token that the resource would refuse.
 *
 * @param headers The response of the resource: all its challenges may have the scheme
 * `DPoP`.
 */
export function requireDpop(
  { resource, resourceMetadata }: Partial<IAuthorizationContext>,
  dpop: IDpop | undefined,
  headers?: IChallengeHeaders,
): void {
  const { dpop_bound_access_tokens_required } = resourceMetadata ?? {};
  const challenges = headers ? findChallenges(headers) : [];
  const isRequired = dpop_bound_access_tokens_required === true ||
    (challenges.length > 0 &&
      challenges.every(({ scheme }) => /^dpop$/i.test(scheme)));
  if (!isRequired || dpop) return;
  const message = `The resource ${quoteUrl(resource ?? "")} requires tokens ` +
    "that are bound to a key by DPoP: set dpop";
  throw new OAuthClientError("unsupported", message);
}
