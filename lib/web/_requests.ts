/** Which requests of browsers a site acts on, and where its users may be sent. */

import { parseHttpUrl, parseUrl } from "../core/_url.ts";
import type { WebRequest } from "./web_sign_in_options.ts";

/** Where a browser shows the response of a request that a user makes. */
const SHOWN = ["document", "iframe", "frame"];

/**
 * Checks whether the user opens a page. Frameworks and browsers load pages in advance,
 * and scripts and images of any site request URLs: no user follows their redirects. The
 * `fetch` of Node sends `Sec-Fetch-Mode` too, but not this field.
 */
export function isNavigation({ method, headers }: WebRequest): boolean {
  const destination = headers.get("Sec-Fetch-Dest");
  const purpose = headers.get("Sec-Purpose") ?? headers.get("Purpose") ?? "";
  return method !== "HEAD" && !purpose.includes("prefetch") &&
    (destination === null || SHOWN.includes(destination));
}

/**
 * Checks whether another origin may have caused a request that changes something: also
 * another host of the same site, and one that cannot be known.
 */
export function isForeign({ headers }: WebRequest, origin: string): boolean {
  const site = headers.get("Sec-Fetch-Site");
  return site === null
    ? headers.get("Origin") !== origin
    : site !== "same-origin" && site !== "none";
}

/** Returns the URL of a request, as browsers see it: a proxy may change the origin. */
export function requestedUrl({ url }: WebRequest, origin: string): URL {
  const ofSite = new URL(origin);
  // `//evil.example/` as a path, as Node has it, is a path of the site.
  const whole = url.startsWith("/") ? origin + url : url;
  const { pathname, search } = parseUrl(whole) ?? ofSite;
  ofSite.pathname = pathname;
  ofSite.search = search;
  return ofSite;
}

/** Returns a path of the site; undefined for anything that may lead elsewhere. */
export function pathOf(
  path: string | null | undefined,
  origin: string,
): string | undefined {
  // `blob:https://app.example/` has the origin of the site too.
  const url = path ? parseHttpUrl(parseUrl(path, origin)) : undefined;
  return url?.origin === origin
    ? url.pathname + url.search + url.hash
    : undefined;
}
