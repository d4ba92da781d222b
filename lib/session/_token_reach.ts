/** Which URLs a token may be sent to. */

import { parseHttpUrl } from "../core/_url.ts";

/**
 * Checks whether a URL is a resource or below its path: same origin, and the path
 * ends or goes on with a slash where that of the resource ends. A resource with a
 * query has no URLs below it.
 */
export function reaches(resource: string | URL, url: string | URL): boolean {
  const from = parseHttpUrl(resource);
  const to = parseHttpUrl(url);
  if (!from || !to || from.origin !== to.origin) return false;
  if (from.search) {
    return from.pathname === to.pathname && from.search === to.search;
  }
  return `${to.pathname}/`.startsWith(`${from.pathname.replace(/\/$/, "")}/`);
}
