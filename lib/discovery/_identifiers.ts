/** When two identifiers mean the same, and what identifies a resource. */

import { parseUrl } from "../core/_url.ts";

/** Whether a document about `resource` speaks of the target (RFC 9728, 3.3). */
export function coversTarget(
  resource: string,
  target: URL,
  match: "parent" | "exact",
): boolean {
  // The parser mends what is no identifier: blanks, backslashes, a missing `//`.
  if (!/^https?:\/\/[^\s\\/][^\s\\]*$/i.test(resource)) return false;
  const url = parseUrl(resource);
  if (url?.origin !== target.origin || url.username || url.password) {
    return false;
  }
  if (url.pathname + url.search === target.pathname + target.search) {
    return true;
  }
  const parent = url.pathname.replace(/\/$/, "");
  return match === "parent" && !url.search &&
    `${target.pathname}/`.startsWith(`${parent}/`);
}

/** Whether two issuers are the same, but for the slash of an empty path. */
export function isSameIssuer(a: string, b: string): boolean {
  const bare = (issuer: string) =>
    /^https?:\/\/[^/?#]+\/$/.test(issuer) ? issuer.slice(0, -1) : issuer;
  return bare(a) === bare(b);
}

/** The target's address as an identifier: no fragment, no slash for no path. */
export function canonicalResource(target: URL): string {
  const path = target.pathname === "/" ? "" : target.pathname;
  return target.origin + path + target.search;
}
