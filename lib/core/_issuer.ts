/**
 * Issuer identifiers: which are the same, and which credentials may be sent to them.
 */

import { quoteUrl } from "./_url.ts";
import { OAuthClientError } from "./errors.ts";

/** Removes one slash at the end. */
export function withoutSlash(text: string): string {
  return text.endsWith("/") ? text.slice(0, -1) : text;
}

/**
 * Checks whether an issuer is ASCII without a query or fragment (RFC 8414, section 2).
 */
export function isIssuer(issuer: string): boolean {
  return /^[\x21-\x7e]+$/.test(issuer) && !/[?#]/.test(issuer);
}

/**
 * Checks whether two issuers are the same except for one slash at the end: their
 * well-known URL is the same.
 */
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
      `sent to issuer ${quoteUrl(issuer)}`,
  );
}
