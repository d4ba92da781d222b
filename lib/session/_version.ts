/** The version of what stores keep. */

import { OAuthClientError } from "../core/errors.ts";

/**
 * Fails if a stored value is a session of another version. A value without a version is
 * no session of any version: other checks find that.
 */
export function requireVersion(
  { version }: { readonly version?: unknown },
  place: string,
): void {
  if (typeof version !== "number" || version === 1) return;
  throw new OAuthClientError(
    "invalid_session",
    `The session in ${place} has version ${version}, expected 1 (use the ` +
      "version of this library that wrote it)",
    { sessionVersion: version },
  );
}

/** Checks whether an error is of a session that another version of the library wrote. */
export function isOfOtherVersion(error: unknown): boolean {
  return (error as OAuthClientError | undefined)?.sessionVersion !== undefined;
}
