/** The responses to browsers. */

import { escapeHtml } from "../core/_quote.ts";
import { isOAuthClientError } from "../core/errors.ts";

/** Nothing is loaded or cached, and no referrer has the code of a callback. */
const HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

function respond(
  status: number,
  headers: Readonly<Record<string, string>>,
  cookies: readonly string[] = [],
  body: string | null = null,
): Response {
  const response = new Response(body, {
    status,
    headers: { ...HEADERS, ...headers },
  });
  for (const cookie of cookies) response.headers.append("Set-Cookie", cookie);
  return response;
}

/** Redirects to a URL, and sets cookies. */
export function redirect(url: string, cookies?: readonly string[]): Response {
  return respond(303, { Location: url }, cookies);
}

/** Refuses a request of another method, or one that no user of the site has made. */
export function refuse(method?: "GET" | "POST"): Response {
  const type = { "Content-Type": "text/plain" };
  return method
    ? respond(405, { ...type, Allow: method }, [], `Only ${method} is allowed`)
    : respond(403, type, [], "This request is not from a user of this site");
}

const FAILED = "The sign-in has failed";

/** Returns what a user can be told about an error: a code of the protocol, or of ours. */
function problemOf(
  error: unknown,
): [status: number, title: string, code: string] {
  if (!isOAuthClientError(error)) return [500, FAILED, "error"];
  const { retryAfter } = error;
  const given = error.error ?? error.code;
  const code = /^[\w.-]{1,100}$/.test(given) ? given : error.code;
  if (error.code === "expired") return [400, "This sign-in has ended", code];
  if (given === "access_denied") return [403, "You have not signed in", code];
  return [retryAfter === undefined ? 502 : 503, FAILED, code];
}

/**
 * Returns a page about an error, without its message, which is for those who run the
 * site.
 */
export function page(
  error: unknown,
  loginUrl: string,
  homeUrl: string,
  cookies: readonly string[] = [],
): Response {
  const [status, title, code] = problemOf(error);
  const body = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<h1>${title}</h1>
<p><code>${code}</code></p>
<p><a href="${escapeHtml(loginUrl)}">Sign in again</a></p>
<p><a href="${escapeHtml(homeUrl)}">Home</a></p>
</html>
`;
  const headers: Record<string, string> = {
    "Content-Type": "text/html; charset=utf-8",
  };
  const seconds = isOAuthClientError(error) && error.retryAfter;
  if (status === 503) headers["Retry-After"] = `${seconds}`;
  return respond(status, headers, cookies, body);
}
