import {
  requireArgument,
  requireHttpUrl,
  requireNames,
  requireObject,
  requireString,
} from "../core/_arguments.ts";
import { parseHttpUrl, parseUrl } from "../core/_url.ts";
import { reaches } from "../fetch/policy/_covered_urls.ts";
import { forwardedBody, requireUnread } from "./_forwarded_body.ts";
import {
  requestFields,
  requireFieldNames,
  responseFields,
} from "./_forwarded_fields.ts";
import { requestedUrl } from "./_requests.ts";
import { respondWith } from "./_responses.ts";
import type {
  ForwardRequestOptions,
  WebRequest,
} from "./web_sign_in_options.ts";

/** Methods that `fetch` does not send, or that reveal the fields with the token. */
const REFUSED_METHODS = /^(CONNECT|TRACE|TRACK)$/i;

/** The destination of a path's requests. */
export interface Route {
  readonly target: URL;
  readonly url: URL;
  readonly path: string;
  readonly others: readonly string[];
  /** Origin of the site, if known. */
  readonly origin: string | undefined;
}

/** The used part of a `fetch`. */
type Call = (url: URL, init: RequestInit) => Promise<Response>;

/** Responds in place of the API. */
function refusal(status: number, body: string): Response {
  return respondWith(status, { "Content-Type": "text/plain" }, { body });
}

/** The options of `forward` and `forwardRequest`. */
export const FORWARD_NAMES: readonly string[] = ["path", "url", "headers"];

/** Returns undefined if the request is for another path. */
export function routeOf(
  request: WebRequest,
  { path, url: given, headers }: ForwardRequestOptions,
  origin?: string,
): Route | undefined {
  const anyOrigin = origin ?? "http://localhost";
  const base = requireString("path", path).replace(/\/$/, "");
  const isPath = base === "" || parseUrl(base, anyOrigin)?.pathname === base;
  requireArgument(isPath, "path", "a path, such as /api");
  const url = requireHttpUrl("url", given);
  const isPlain = !url.search && !url.hash;
  requireArgument(isPlain, "url", "without a query or a fragment");
  const others = requireFieldNames(headers);
  const { pathname, search } = requestedUrl(request, anyOrigin);
  if (!`${pathname}/`.startsWith(`${base}/`)) return undefined;
  const target = new URL(url);
  // Members of a URL: `//evil.example/` stays a path.
  target.pathname = url.pathname.replace(/\/$/, "") +
    pathname.slice(base.length);
  target.search = search;
  requireUnread(request);
  return { target, url, path: base, others, origin };
}

/** Returns the response to a request that is not forwarded. */
export function refusalOf(
  { method, headers }: WebRequest,
  { target, url }: Route,
): Response | undefined {
  if (REFUSED_METHODS.test(method)) {
    return refusal(405, "Not forwarded");
  }
  if (headers.get("Upgrade") !== null) {
    return refusal(501, "Not forwarded");
  }
  return reaches(url, target) ? undefined : outside();
}

/** Responds to a request outside of the API. */
export function outside(): Response {
  return refusal(404, "Not below the URL of the API");
}

export async function send(
  request: WebRequest,
  api: Call,
  { target, others }: Route,
): Promise<{ response: Response; isStream: boolean }> {
  const { method, headers, signal } = request;
  const sent = await forwardedBody(request).catch(() => undefined);
  if (!sent) {
    const response = refusal(400, "The body has not arrived");
    return { response, isStream: false };
  }
  const { body, isStream, length } = sent;
  const fields = requestFields(headers, others);
  if (length !== undefined) fields["content-length"] = `${length}`;
  const init: RequestInit & { duplex?: "half" } = {
    method,
    headers: fields,
    redirect: "manual",
    ...body && { body },
    ...isStream && { duplex: "half" },
    ...signal && { signal },
  };
  return { response: await api(target, init), isStream };
}

export function forwarded(
  { status, headers, body }: Response,
  request: WebRequest,
  { target, url, path, others, origin }: Route,
): Response {
  const moved = (location: string) => {
    const to = parseHttpUrl(parseUrl(location, target.href));
    if (!to) return undefined;
    if (!reaches(url, to)) {
      // A browser would repeat the request as a page of the site.
      return to.origin === origin ? undefined : to.href;
    }
    const rest = to.pathname.slice(url.pathname.replace(/\/$/, "").length);
    // Alone, `//evil.example/` would be another site.
    const place = `${path}${rest}` || "/";
    return place.startsWith("//") ? undefined : place + to.search + to.hash;
  };
  const destination = request.headers.get("Sec-Fetch-Dest");
  const fields = responseFields(headers, { others, destination, moved });
  return respondWith(status, fields, { body });
}

/**
 * Forwards a request to an API. **It does not check who sends the request, and every
 * sender acts as the user.** So check the sender first. For the pages of a site, use
 * {@linkcode WebSignIn.forward}, which does.
 *
 * Use it for programs that must not receive the token, such as a coding agent in a
 * sandbox, or an SDK that takes a base URL and a key. `docs/forward.md` in the package
 * lists which header fields, bodies and redirects are forwarded.
 *
 * @param request The request.
 * @param api The `fetch` of the API.
 * @param options The URL that the path stands for.
 * @returns The response; undefined for another path. Rejects as `api` does.
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid, or the request's
 * body was read before.
 * @see RFC 9110, section 7.6; RFC 10017, section 6.1.
 *
 * @example A server on loopback for one program
 * ```ts
 * import type { AuthorizedFetch } from "@oauth-helper/client";
 * import { forwardRequest } from "@oauth-helper/client/web";
 *
 * export const handlerOf =
 *   (api: AuthorizedFetch, key: string) => async (request: Request) =>
 *     request.headers.get("Authorization") !== `Bearer ${key}`
 *       ? new Response(null, { status: 403 })
 *       : await forwardRequest(request, api, {
 *         path: "/notes",
 *         url: "https://api.example/notes",
 *       });
 * ```
 */
export async function forwardRequest(
  request: WebRequest,
  api: (url: URL, init: RequestInit) => Promise<Response>,
  options: ForwardRequestOptions,
): Promise<Response | undefined> {
  const { path, url, headers } = requireObject("options", options);
  requireNames(options, FORWARD_NAMES, "forwardRequest");
  const route = routeOf(request, { path, url, headers });
  if (!route) return undefined;
  const refused = refusalOf(request, route);
  if (refused) return refused;
  const { response } = await send(request, api, route);
  return forwarded(response, request, route);
}
