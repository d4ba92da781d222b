import { stringsIn } from "../core/_members.ts";
import { withoutLoopbackPort } from "../core/_url.ts";
import type { AuthorizationRegistrationErrorType } from "../core/constants.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { KnownClient } from "../client/known_client.ts";

// The object with all codes would be part of each bundle.
const INVALID_REDIRECT_URI: AuthorizationRegistrationErrorType =
  "invalid_redirect_uri";

/**
 * Servers ignore the port of a loopback URI, because programs often cannot use the same
 * port again (RFC 8252, section 7.3).
 */
export function mayUse({ redirect_uris }: KnownClient, uri: string): boolean {
  const registered = stringsIn(redirect_uris)?.map(withoutLoopbackPort);
  return registered?.includes(withoutLoopbackPort(uri)) ?? true;
}

/**
 * Checks whether a server rejected a registration because of its redirect URI: by the
 * error code or, because many servers use one code for all members, by the description.
 */
export function isUriRefused(error: unknown): boolean {
  if (!isOAuthClientError(error) || error.request !== "registration") {
    return false;
  }
  const { error: code, error_description = "" } = error;
  return code === INVALID_REDIRECT_URI ||
    /redirect[ _-]?ur[il]/i.test(error_description);
}
