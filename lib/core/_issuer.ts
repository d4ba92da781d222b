/** Issuer identifiers: which are equal, and which credentials may be sent to them. */

import { quoteUrl } from "./_url.ts";
import { OAuthClientError } from "./errors.ts";

export function withoutSlash(text: string): string {
  return text.endsWith("/") ? text.slice(0, -1) : text;
}

/**
 * Checks whether an issuer is ASCII without a query or fragment (RFC 8414, section 2).
 */
export function isIssuer(issuer: string): boolean {
  return /^[\x21-\x7e]+$/.test(issuer) && !/[?#]/.test(issuer);
}

/** Ignores one slash at the end, because both well-known URLs are equal. */
export function isSameIssuer(a: string, b: string): boolean {
  return withoutSlash(a) === withoutSlash(b);
}

/**
 * Fails if a client is registered with another issuer; undefined matches any issuer.
 */
export function requireSameIssuer(
  registeredWith: string | undefined,
  issuer: string,
): void {
  if (registeredWith === undefined || isSameIssuer(registeredWith, issuer)) {
    return;
  }
  throw new OAuthClientError(
    "issuer_mismatch",
    `Client credentials for issuer ${quoteUrl(registeredWith)} must not be ` +
      `sent to issuer ${quoteUrl(issuer)} (if the client is registered ` +
      "at the second, set that as its issuer)",
  );
}
