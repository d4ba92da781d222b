/** The members of an error response (RFC 6749, section 5.2). */

import { errorCodeOf, type Members, stringMember } from "../core/_members.ts";
import { printableWithout } from "../core/_quote.ts";
import { isWebUrl } from "../core/_url.ts";
import type { IOAuthClientErrorDetails } from "../core/errors.ts";

/** Returns the members of an error response that an error may repeat. */
export function errorMembers(
  members: Members,
  secrets: readonly string[],
): Pick<
  IOAuthClientErrorDetails,
  "error" | "error_description" | "error_uri"
> {
  const clean = (name: string) =>
    printableWithout(secrets, stringMember(members, name)) || undefined;
  const error_uri = clean("error_uri");
  return {
    error: errorCodeOf(members.error),
    error_description: clean("error_description"),
    error_uri: error_uri && isWebUrl(error_uri) ? error_uri : undefined,
  };
}
