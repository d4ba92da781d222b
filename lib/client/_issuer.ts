/** The issuer to which the credentials of a client are bound. */

import { quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";

/** Fails if a client is registered with another issuer; undefined is with any. */
export function requireSameIssuer(
  registeredWith: string | undefined,
  issuer: string,
): void {
  if (registeredWith === undefined || registeredWith === issuer) return;
  throw new OAuthClientError(
    "issuer_mismatch",
    `Client credentials for issuer ${quoteUrl(registeredWith)} must not be ` +
      `sent to issuer ${quoteUrl(issuer)}`,
  );
}
