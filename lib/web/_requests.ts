/** What the requests of browsers are, and where users may be sent. */

import { parseHttpUrl, parseUrl } from "../core/_url.ts";
import type { IWebRequest } from "./web_sign_in_options.ts";

/** A path that is longer is not kept: a cookie has 4,096 characters. */
const MAX_PATH_CHARACTERS = 1_000;

/** Where a browser shows the response of a request that a user makes. */
const SHOWN = ["document", "iframe", "frame"];

/**
 * Checks whether the user opens a page. Frameworks and browsers load pages in advance,
 * and scripts and images of any site request URLs: no user follows their redirects. The
 * `fetch` of Node sends `Sec-Fetch-Mode` too, but not this field.
 */
export function isNavigation({ method, headers }: IWebRequest): boolean {
  const destination = headers.get("Sec-Fetch-Dest");
  const purpose = headers.get("Sec-Purpose") ?? headers.get("Purpose") ?? "";
  return method !== "HEAD" && !purpose.includes("prefetch") &&
    (destination === null || SHOWN.includes(destination));
}

/**
 * Checks whether another origin may have caused a request that changes something. A
 * request with neither header field is not of a browser that is in use.
 */
export function isForeign({ headers }: IWebRequest, own: string): boolean {
  const site = headers.get("Sec-Fetch-Site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("Origin");
  return origin !== null && origin !== own;
}

/** Returns the URL of a request, as browsers see it: a proxy may change the origin. */
export function urlOf({ url }: IWebRequest, origin: string): URL {
  const { pathname, search } = parseUrl(url, origin) ?? new URL(origin);
  const own = new URL(origin);
  own.pathname = pathname;
  own.search = search;
  return own;
}

/** Returns a path of the site; undefined for anything that may lead elsewhere. */
export function pathOf(
  path: string | null | undefined,
  origin: string,
): string | undefined {
  if (!path || path.length > MAX_PATH_CHARACTERS) return undefined;
  // `blob:https://app.example/` has the origin of the site too.
  const url = parseHttpUrl(parseUrl(path, origin));
  return url?.origin === origin
    ? url.pathname + url.search + url.hash
    : undefined;
}
