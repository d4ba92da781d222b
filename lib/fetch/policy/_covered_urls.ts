import { parseHttpUrl } from "../../core/_url.ts";
import type { Sharing } from "../../flows/_sharing.ts";

const MAX_DECODINGS = 3;

/**
 * Checks whether a server may see a dot segment in a path, because it decodes the path
 * again, accepts backslashes, or removes parameters (RFC 3986, sections 3.3 and 7.3).
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
 * Checks whether a URL is at or below a resource: on the same origin, with the same
 * path or its continuation after a slash, without a segment that may leave it. A
 * resource with a query covers only itself.
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

export interface Covered<T extends string | URL> {
  /** The resource, then the URLs of `alsoFor`. */
  readonly covered: readonly [T, ...T[]];
  /** The APIs that share its sign-in: URLs below another API belong to that API. */
  readonly apis: Pick<Sharing, "isOf"> | undefined;
}

export function isCovered(
  url: string | URL,
  { covered, apis }: Covered<string | URL>,
): boolean {
  return covered.some((one) => reaches(one, url)) &&
    apis?.isOf(covered[0], url) !== false;
}

/** Checks whether a resource is a URL, or above it. */
export function isAbove(resource: string, url: string | URL): boolean {
  return resource === String(url) || reaches(resource, url);
}

/** Returns a URL's resource: an API may be below another one's path. */
export function nearest(
  resources: readonly string[],
  url: string | URL,
): string | undefined {
  return resources.filter((one) => isAbove(one, url))
    .sort((one, other) => other.length - one.length)[0];
}
