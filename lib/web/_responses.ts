import { escapeHtml } from "../core/_quote.ts";
import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";

/** Nothing is loaded or cached, and no referrer contains a callback's code. */
const HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

export function respondWith(
  status: number,
  headers: Readonly<Record<string, string>>,
  { cookies = [], body = null }: {
    readonly cookies?: readonly string[] | undefined;
    readonly body?: BodyInit | null;
  },
): Response {
  const response = new Response(body, {
    status,
    headers: { ...HEADERS, ...headers },
  });
  for (const cookie of cookies) response.headers.append("Set-Cookie", cookie);
  return response;
}

export function redirect(url: string, cookies?: readonly string[]): Response {
  return respondWith(303, { Location: url }, { cookies });
}

/** Rejects another method, or a request that no user of the site has made. */
export function refuse(method?: "GET" | "POST"): Response {
  const type = { "Content-Type": "text/plain" };
  return method
    ? respondWith(405, { ...type, Allow: method }, {
      body: `Only ${method} is allowed`,
    })
    : respondWith(403, type, {
      body: "This request is not from a user of this site",
    });
}

/**
 * Passes on another server's response. Its other header fields could set cookies of the
 * site, or name an encoding that was decoded.
 */
export function passOn({ status, headers, body }: Response): Response {
  const type = headers.get("Content-Type");
  // The parts of a multipart body contain header fields.
  const given: Record<string, string> =
    type === null || /^\s*multipart\//i.test(type)
      ? {}
      : { "Content-Type": type };
  return respondWith(status, given, { body });
}

/** Responds to a script of the site, which can open `login`. */
export function tell(
  status: number,
  { code, login }: { code: string; login: string },
  headers?: Readonly<Record<string, string>>,
): Response {
  const type = { "Content-Type": "application/json" };
  const body = JSON.stringify({ code, login });
  return respondWith(status, { ...type, ...headers }, { body });
}

interface Problem {
  readonly status: number;
  readonly title: string;
  /** A code of the protocol or of this library. */
  readonly code: string;
}

function problemForUser(error: unknown, isOfSite: boolean): Problem {
  const isOurs = isOAuthClientError(error);
  const given = isOurs ? error.error ?? error.code : "error";
  const code = !isOurs || /^[\w.-]{1,100}$/.test(given) ? given : error.code;
  const failed = isOfSite
    ? "This page is not available now"
    : "The sign-in has failed";
  const [status, title = failed]: [number, string?] =
    adviceFor(error).action === "retry"
      ? [503]
      // A store failed.
      : !isOurs
      ? [isOfSite ? 503 : 500]
      : isOfSite
      ? [502]
      : error.code === "expired"
      ? [400, "This sign-in is no longer valid"]
      : given === "access_denied"
      ? [403, "You have not signed in"]
      : [502];
  return { status, title, code };
}

/** The links for a failed request's user, and the response's reader. */
export interface Offer {
  readonly login: string;
  readonly home: string;
  /** The failed page; undefined for a step of a sign-in. */
  readonly again?: string | undefined;
  readonly isForScript?: boolean | undefined;
}

/** When to try a page again, unless the server names a time. */
const RETRY_SECONDS = 10;

/** Returns a page without the error's message, which is for operators. */
export function page(
  error: unknown,
  { login, home, again, isForScript }: Offer,
  cookies: readonly string[] = [],
): Response {
  const { status, title, code } = problemForUser(error, again !== undefined);
  const { retryAfterSeconds = RETRY_SECONDS } = isOAuthClientError(error)
    ? error
    : {};
  const later = status === 503 && { "Retry-After": `${retryAfterSeconds}` };
  if (isForScript) return tell(status, { code, login }, { ...later });
  const link = (url: string, text: string) =>
    `<p><a href="${escapeHtml(url)}">${text}</a></p>\n`;
  const body = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<h1>${title}</h1>
<p><code>${code}</code></p>
${again === undefined ? "" : link(again, "Try again")}${
    link(login, "Sign in again")
  }${link(home, "Home")}</html>
`;
  const type = { "Content-Type": "text/html; charset=utf-8" };
  return respondWith(status, { ...type, ...later }, { cookies, body });
}
