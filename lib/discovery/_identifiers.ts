import { isSameIssuer, withoutSlash } from "../core/_issuer.ts";
import { parseUrl } from "../core/_url.ts";
import { resourceMetadataUrls } from "./metadata_urls.ts";

/** A resource identifier is an http or https URL without a fragment. */
function parseResource(resource: string): URL | undefined {
  // The URL parser repairs other characters, backslashes and a missing `//`.
  const isClean = /^https?:\/\/[^/]/i.test(resource) &&
    /^[\x21-\x7e]+$/.test(resource) && !/[\\#]/.test(resource);
  const url = isClean ? parseUrl(resource) : undefined;
  return url && !url.username && !url.password ? url : undefined;
}

/**
 * Returns the well-known URL of a resource that is a parent path of the target. A
 * parent's document counts at this URL only. At another URL, a tenant could obtain
 * tokens for the whole host.
 */
export function parentUrlOf(resource: string, target: URL): string | undefined {
  const url = parseResource(resource);
  const isParent = url?.origin === target.origin && !url.search &&
    `${target.pathname}/`.startsWith(`${withoutSlash(url.pathname)}/`);
  return isParent ? resourceMetadataUrls(url)[0] : undefined;
}

/**
 * Checks whether a document's `resource` matches the target (RFC 9728, section 3.3),
 * except for one final slash. Unless the match is `exact`, a parent path also matches
 * if the document is at its well-known URL.
 */
export function coversTarget(
  resource: string,
  target: URL,
  { metadataUrl, match }: {
    readonly metadataUrl: string;
    readonly match: "parent" | "exact";
  },
): boolean {
  if (resource === identifierOf(target)) return true;
  const url = parseResource(resource);
  if (url?.origin !== target.origin) return false;
  if (url.pathname + url.search === target.pathname + target.search) {
    return true;
  }
  if (match === "exact" || url.search) return false;
  const isSlashOnly = !target.search &&
    withoutSlash(url.pathname) === withoutSlash(target.pathname);
  const parentUrl = parentUrlOf(resource, target);
  return isSlashOnly || (parentUrl !== undefined &&
    withoutSlash(parseUrl(metadataUrl)?.href ?? "") ===
      withoutSlash(parentUrl));
}

/**
 * Checks whether only the scheme differs: behind a proxy that ends TLS, a program sees
 * http unless the proxy forwards the scheme.
 */
export function lacksTls(resource: string, target: URL): boolean {
  const url = parseResource(resource);
  return target.protocol === "https:" && url?.protocol === "http:" &&
    url.hostname === target.hostname &&
    `${target.pathname}/`.startsWith(`${withoutSlash(url.pathname)}/`);
}

/** Returns an identifier without a fragment, and without a slash for an empty path. */
export function identifierOf(url: URL): string {
  const path = url.pathname === "/" ? "" : url.pathname;
  return url.origin + path + url.search;
}

export function responseIssuerOf(
  issuer: string,
  named: string,
  trustedIssuers: Readonly<Record<string, string>> = {},
): string {
  const [, trusted = issuer] =
    Object.entries(trustedIssuers).find(([name]) =>
      isSameIssuer(name, named) || name === issuer
    ) ?? [];
  return trusted;
}
