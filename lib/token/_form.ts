/** Form bodies (RFC 6749, appendix B). */

import { requireTexts } from "../core/_arguments.ts";
import { AUTH_SCOPE_SEPARATOR } from "../core/constants.ts";

/** A form with the members that have a value, in the order given. */
export function formOf(
  members: [string, string | undefined][],
): URLSearchParams {
  return new URLSearchParams(
    members.filter((member): member is [string, string] => Boolean(member[1])),
  );
}

/** Scope values as the `scope` parameter has them. */
export function joinScopes(scopes: readonly string[]): string {
  return requireTexts("scopes", scopes).join(AUTH_SCOPE_SEPARATOR);
}
