import { errorCodeOf, type Members, stringMember } from "../core/_members.ts";
import { printableWithout } from "../core/_quote.ts";
import { isWebUrl } from "../core/_url.ts";
import type { OAuthClientErrorDetails } from "../core/errors.ts";
import { joined, literal, type Message, words } from "../http/_error.ts";

/** Returns the members that an error may repeat. */
export function errorMembers(
  members: Members,
  secrets: readonly string[],
): Pick<
  OAuthClientErrorDetails,
  "error" | "error_description" | "error_uri"
> {
  const clean = (name: string) =>
    printableWithout(secrets, stringMember(members, name)) || undefined;
  const error_uri = clean("error_uri");
  const error = errorCodeOf(members.error);
  // A code such as `invalid_grant` is needed for the next step, even if a secret equals
  // it.
  const isWord = error !== undefined && /^[a-z_]+$/.test(error);
  return {
    error: isWord ? error : printableWithout(secrets, error),
    error_description: clean("error_description"),
    error_uri: error_uri && isWebUrl(error_uri) ? error_uri : undefined,
  };
}

/** Returns the error code and description for a message, after a string. */
export function errorWords(
  { error, error_description }: OAuthClientErrorDetails,
  before = "",
): Message {
  const parts = [
    ...(error ? [literal(error)] : []),
    ...(error_description ? [error_description.trimEnd()] : []),
  ];
  return words`${literal(parts.length > 0 ? before : "")}${
    joined(parts, ": ")
  }`;
}
