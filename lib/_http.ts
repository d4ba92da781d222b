/** The only file that calls `fetch`: one request with its redirects. */

import {
  isHttpUrl,
  requireArgument,
  requireObject,
  requireTextMembers,
} from "./_arguments.ts";
import { discard, type IReply, openReply, quoteServerText } from "./_reply.ts";
import { OAuthClientError } from "./errors.ts";
import type {
  IFetchInit,
  IFetchResponse,
  IRequestOptions,
} from "./request_options.ts";

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** A request as this library makes it. */
export interface IRequest {
  url: string;
  headers: Record<string, string>;
  /** A request with a body is a `POST`, one without is a `GET`. */
  body?: string;
}

/** Joins header fields; of two with the same name the later value wins. */
export function mergeHeaders(
  ...sources: (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const merged = new Map<string, [name: string, value: string]>();
  for (const source of sources) {
    requireTextMembers("headers", source);
    for (const [name, value] of Object.entries(source ?? {})) {
      const key = name.toLowerCase();
      merged.set(key, [merged.get(key)?.[0] ?? name, value]);
    }
  }
  return Object.fromEntries(merged.values());
}

/** One call of `fetch`, its reply checked for being one. */
async function callFetch(
  url: string,
  init: IFetchInit,
  { fetch, signal }: IRequestOptions,
): Promise<IFetchResponse> {
  // Some runtimes' fetch reads data: and file: as well, and servers name these
  // addresses.
  if (!isHttpUrl(url)) {
    throw new OAuthClientError(
      "url_refused",
      `Request to ${
        quoteServerText(url.replace(/^(\w+:\/\/)?.*@/s, "$1"))
      } not made: ` +
        "expected an http or https URL without credentials",
    );
  }
  let response: IFetchResponse | undefined;
  let cause: unknown = "no response";
  try {
    response = await (fetch ? fetch(url, init) : globalThis.fetch(url, init));
  } catch (failure) {
    cause = failure;
  }
  if (signal?.aborted && response) discard(response);
  signal?.throwIfAborted();
  if ((response?.status ?? response?.ok) === undefined) {
    // Some runtimes tell in the cause what went wrong, and only there.
    const reason = (cause as Error | undefined)?.cause;
    const problem = reason instanceof Error
      ? `${cause} (${reason.message})`
      : cause;
    throw new OAuthClientError(
      "network_error",
      `Request to ${url} failed: ${quoteServerText(String(problem))}`,
      { url, cause },
    );
  }
  return response!;
}

/** Where a redirect leads on within its origin; nothing in any other case. */
function redirectTarget(
  url: string,
  { status, headers }: IFetchResponse,
): string | undefined {
  const location = REDIRECT_STATUSES.includes(status) &&
    headers?.get("location");
  if (!location || !URL.canParse(location, url)) return undefined;
  const target = new URL(location, url);
  return target.origin === new URL(url).origin ? target.href : undefined;
}

/**
 * Makes a request and hands its reply to `read`. A `GET` follows a few redirects
 * within its origin, a `POST` none, so that headers meant for one origin reach
 * no other; any other redirect is a reply like the rest. An abort ends it all at
 * once, with the caller's reason.
 *
 * @throws {OAuthClientError} `network_error`, `url_refused`.
 */
export async function exchange<T>(
  { url, headers, body }: IRequest,
  options: IRequestOptions,
  read: (reply: IReply) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  const isGet = body === undefined;
  const run = async () => {
    for (let hops = 0, address = url;; hops++) {
      const init: IFetchInit = {
        method: isGet ? "GET" : "POST",
        headers: { ...headers },
        redirect: "manual",
        ...(signal && { signal }),
        ...(!isGet && { body }),
      };
      const response = await callFetch(address, init, options);
      const target = isGet && hops < MAX_REDIRECTS &&
        redirectTarget(address, response);
      if (!target) return await read(openReply(url, response));
      discard(response);
      address = target;
    }
  };
  if (!signal) return await run();
  signal.throwIfAborted();
  const done = new AbortController();
  // A caller's fetch may ignore the signal, so its promise is no end alone.
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), {
      signal: done.signal,
    })
  );
  try {
    return await Promise.race([aborted, run()]);
  } finally {
    done.abort();
  }
}

/** Checks what every network call takes; nothing is taken for no options. */
export function requireOptions<T extends IRequestOptions>(
  options: T | undefined,
): T {
  // Every member is optional, so an empty object is one of any of these types.
  const given = requireObject("options", options ?? {} as T);
  requireArgument(
    typeof (given.fetch ?? fetch) === "function",
    "options.fetch",
    "a function",
  );
  requireArgument(
    typeof (given.signal ?? AbortSignal.prototype).throwIfAborted ===
      "function",
    "options.signal",
    "an AbortSignal",
  );
  return given;
}
