/** For how long a server may put a request off, by `Retry-After`. */

import type { OAuthClientError } from "./errors.ts";

/** The longest time that a server can put a request off, in seconds. */
export const LONGEST_SECONDS = 3_600;

/** Returns for how many seconds a response puts the same request off. */
export function putOffSeconds(
  { status = 0, retryAfterSeconds = 0 }: OAuthClientError,
): number {
  // RFC 6585, section 4; RFC 9110, section 15.6.4.
  return [429, 503].includes(status)
    ? Math.min(retryAfterSeconds, LONGEST_SECONDS)
    : 0;
}
