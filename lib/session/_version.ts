import { OAuthClientError } from "../core/errors.ts";

/**
 * Fails for a session of another version. Other checks find a value without a version.
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

export function isOfOtherVersion(error: unknown): boolean {
  return (error as OAuthClientError | undefined)?.sessionVersion !== undefined;
}
