import type { OAuthClientError } from "./errors.ts";

/** The longest delay that a server can impose, in seconds. */
export const LONGEST_SECONDS = 3_600;

/** Returns how long to delay the same request, in seconds. */
export function putOffSeconds(
  { status = 0, retryAfterSeconds = 0 }: OAuthClientError,
): number {
  // RFC 6585, section 4; RFC 9110, section 15.6.4.
  return [429, 503].includes(status)
    ? Math.min(retryAfterSeconds, LONGEST_SECONDS)
    : 0;
}
