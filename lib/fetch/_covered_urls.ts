/** Which URLs a token may be sent to. */

import { parseHttpUrl } from "../core/_url.ts";

const MAX_DECODINGS = 3;

/**
 * Checks whether a server may see a dot segment in a path, because it decodes the path
 * again, accepts a backslash as separator, or removes parameters (RFC 3986, sections
 * 3.3 and 7.3).
 */
function hasDotSegment(path: string): boolean {
  if (!/[.%]/.test(path)) return false;
  let decoded = path;
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings++) {
    if (/(^|[/\\])\.\.?([;/\\]|$)/.test(decoded)) return true;
    decoded = decoded.replace(
      /%([0-7][\da-f])/gi,
      (_, hex) => String.fromCharCode(parseInt(hex, 16)),
    );
  }
  return false;
}

/**
 * Checks whether a URL is a resource or below its path: the origin is the same, and the
 * path is the path of the resource, or continues it after a slash, without a segment
 * that may lead out of it. A resource with a query has no URLs below it.
 */
export function reaches(resource: string | URL, url: string | URL): boolean {
  const from = parseHttpUrl(resource);
  const to = parseHttpUrl(url);
  if (!from || !to || from.origin !== to.origin) return false;
  if (from.search) {
    return from.pathname === to.pathname && from.search === to.search;
  }
  const base = from.pathname.replace(/\/$/, "");
  if (!`${to.pathname}/`.startsWith(`${base}/`)) return false;
  return base === "" || !hasDotSegment(to.pathname.slice(base.length));
}

/** Checks whether a URL is one of several resources, or below one of them. */
export function isCovered(
  url: string | URL,
  resources: readonly (string | URL)[],
): boolean {
  return resources.some((resource) => reaches(resource, url));
}
