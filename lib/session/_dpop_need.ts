import { DPOP } from "../core/_hints.ts";
import { type ChallengeHeaders, findChallenges } from "../core/challenge.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import { errorOf, words } from "../http/_error.ts";
import type { GrantContext } from "../token/_grant_context.ts";

/**
 * Fails if a resource requires bound tokens (RFC 9449) and there is no key. Otherwise a
 * user would sign in for a token that the resource rejects.
 *
 * @param headers The resource's response: all its challenges may use the scheme `DPoP`.
 */
export function requireDpop(
  context: GrantContext,
  { resource, resourceMetadata }: Partial<AuthorizationContext>,
  headers?: ChallengeHeaders,
): void {
  const { dpop_bound_access_tokens_required } = resourceMetadata ?? {};
  const challenges = headers ? findChallenges(headers) : [];
  const isRequired = dpop_bound_access_tokens_required === true ||
    (challenges.length > 0 &&
      challenges.every(({ scheme }) => /^dpop$/i.test(scheme)));
  if (!isRequired || context.dpop) return;
  const message = words`The resource ${{
    url: resource ?? "",
  }} requires tokens that are bound to a key by DPoP${[DPOP]}`;
  throw errorOf(context, "unsupported", message);
}
