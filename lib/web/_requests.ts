/** Which browser requests a site acts on, and where it may redirect users. */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import { parseHttpUrl, parseUrl } from "../core/_url.ts";
import type { HeadersLike, WebRequest } from "./web_sign_in_options.ts";

/** A request of Node has its fields in an object. */
export function requireFields(headers: HeadersLike): HeadersLike {
  requireArgument(
    typeof headers?.get === "function",
    "request",
    "a Request: pass webRequestOf(request)",
  );
  return headers;
}

/** Destinations of responses that a browser shows to a user. */
const SHOWN = ["document", "iframe", "frame"];

/**
 * Checks whether the user opens a page. Frameworks and browsers load pages in advance,
 * and any site's scripts and images request URLs: no user follows their redirects.
 * Node's `fetch` sends `Sec-Fetch-Mode` too, but not this field.
 */
export function isNavigation({ method, headers }: WebRequest): boolean {
  const destination = requireFields(headers).get("Sec-Fetch-Dest");
  const purpose = headers.get("Sec-Purpose") ?? headers.get("Purpose") ?? "";
  return method !== "HEAD" && !purpose.includes("prefetch") &&
    (destination === null || SHOWN.includes(destination));
}

/**
 * Checks whether another origin, or an unknown one, may have caused a request that
 * changes something. Another host of the same site counts too.
 */
export function isForeign({ headers }: WebRequest, origin: string): boolean {
  const site = requireFields(headers).get("Sec-Fetch-Site");
  return site === null
    ? headers.get("Origin") !== origin
    : site !== "same-origin" && site !== "none";
}

/** Returns a request's URL as browsers see it: a proxy may change the origin. */
export function requestedUrl(request: WebRequest, origin: string): URL {
  const { url, headers } = requireObject("request", request);
  requireFields(headers);
  const ofSite = new URL(origin);
  // Node passes `//evil.example/` as a path of the site.
  const whole = url.startsWith("/") ? origin + url : url;
  const { pathname, search } = parseUrl(whole) ?? ofSite;
  ofSite.pathname = pathname;
  ofSite.search = search;
  return ofSite;
}

/** Returns a path of the site; undefined for anything else. */
export function pathOf(
  path: string | null | undefined,
  origin: string,
): string | undefined {
  // `blob:https://app.example/` is on the site's origin too.
  const url = path ? parseHttpUrl(parseUrl(path, origin)) : undefined;
  return url?.origin === origin
    ? url.pathname + url.search + url.hash
    : undefined;
}
