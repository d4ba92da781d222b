/**
 * The only file that calls `fetch`: one request with its redirects, under one
 * clock and one limit on the body.
 */

import {
  parseHttpUrl,
  requireArgument,
  requireObject,
  requireTextMembers,
} from "../core/_arguments.ts";
import {
  discard,
  headerOf,
  type IReply,
  openReply,
  quoteServerText,
  quoteThrown,
} from "./_response.ts";
import { type Redact, redactorOf } from "./_redact.ts";
import { parseUrl, withoutCredentials } from "../core/_url.ts";
import { OAuthClientError, type OAuthClientErrorCode } from "../core/errors.ts";
import type {
  IFetchInit,
  IFetchResponse,
  IRequestOptions,
  RequestPurpose,
} from "./request_options.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 1_048_576;

/** The longest wait that a timer holds; a longer one would end at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** A request as this library makes it. */
export interface IRequest {
  url: string;
  purpose: RequestPurpose;
  headers: Record<string, string>;
  /** A request with a body is a `POST`, one without is a `GET`. */
  body?: string;
}

/** Fails unless HTTP can carry the field: the runtimes' errors show the value. */
function requireField(name: string, value: string): void {
  const isToken = /^[\w!#$%&'*+\-.^`|~]+$/.test(name);
  requireArgument(isToken, "The name of a header field", "a token");
  requireArgument(
    // Fetch takes off what stands around it.
    // deno-lint-ignore no-control-regex
    !/[^\x01-\xff]|[\r\n]/.test(value.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "")),
    `The header field ${name}`,
    "a line of characters up to U+00FF",
  );
}

/** Joins header fields; of two with the same name the later value wins. */
export function mergeHeaders(
  ...sources: (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const merged = new Map<string, [name: string, value: string]>();
  for (const source of sources) {
    requireTextMembers("headers", source);
    for (const [name, value] of Object.entries(source ?? {})) {
      requireField(name, value);
      const key = name.toLowerCase();
      merged.set(key, [merged.get(key)?.[0] ?? name, value]);
    }
  }
  return Object.fromEntries(merged.values());
}

function failure(
  code: OAuthClientErrorCode,
  url: string,
  problem: string,
  cause?: unknown,
): OAuthClientError {
  const message = `Request to ${quoteServerText(url)} ${problem}`;
  return new OAuthClientError(code, message, {
    url,
    ...(cause !== undefined && { cause }),
  });
}

/** An address as a URL; fails unless a request can be made to it. */
function requireAddress(address: string): URL {
  // Some runtimes' fetch reads data: and file: as well, and servers name these
  // addresses.
  const url = parseHttpUrl(address);
  if (url) return url;
  const shown = quoteServerText(withoutCredentials(address));
  throw new OAuthClientError(
    "url_refused",
    `Request to ${shown} not made: expected an http or https URL without ` +
      "credentials",
  );
}

/** Fails unless the caller lets a request be made to this address. */
async function requirePermission(
  url: string,
  purpose: RequestPurpose,
  allowUrl: NonNullable<IRequestOptions["allowUrl"]>,
): Promise<void> {
  let isAllowed: unknown;
  try {
    isAllowed = await allowUrl(new URL(url), purpose);
  } catch (cause) {
    throw failure("url_refused", url, "not made: allowUrl failed", cause);
  }
  if (isAllowed !== true) {
    throw failure("url_refused", url, "not made: refused by allowUrl");
  }
}

/** One call of `fetch`, its reply checked for being one. */
async function callFetch(
  url: string,
  init: IFetchInit,
  signal: AbortSignal,
  { fetch }: IRequestOptions,
  redact: Redact,
): Promise<IFetchResponse> {
  let response: IFetchResponse | undefined;
  let isReply = false;
  let cause: unknown = "no response";
  try {
    response = await (fetch ? fetch(url, init) : globalThis.fetch(url, init));
    isReply = (response?.status ?? response?.ok) !== undefined;
  } catch (thrown) {
    cause = thrown;
  }
  if (signal.aborted && response) discard(response);
  signal.throwIfAborted();
  if (response && isReply) return response;
  const problem = `failed: ${redact(quoteThrown(cause))}`;
  throw failure("network_error", url, problem, cause);
}

/**
 * What a reply says of going elsewhere: the address where a `GET` goes on, the
 * reason why a redirect is not followed, or nothing.
 */
function judgeRedirect(
  url: string,
  { origin }: URL,
  response: IFetchResponse,
  hops: number,
  method: string,
): string | OAuthClientError | undefined {
  const refused = (problem: string) =>
    failure("redirect_refused", url, problem);
  if (response.type === "opaqueredirect") {
    return refused("was redirected, and this runtime does not tell where");
  }
  // A caller's fetch may follow redirects by itself, whatever it is told.
  const { url: answeredBy } = response;
  const answered = answeredBy === url
    ? origin
    : parseUrl(String(answeredBy))?.origin ?? origin;
  if (answered !== origin) {
    discard(response);
    throw refused(`was answered by another origin, ${answered}`);
  }
  const location = REDIRECT_STATUSES.includes(response.status)
    ? headerOf(response, "location")
    : undefined;
  if (!location) return undefined;
  if (method !== "GET") {
    return refused(`was redirected, and a ${method} is not repeated elsewhere`);
  }
  if (hops === MAX_REDIRECTS) {
    return refused(`was redirected more than ${MAX_REDIRECTS} times`);
  }
  const target = parseUrl(location, url);
  if (!target) return refused("was redirected to no URL");
  return target.origin === origin
    ? target.href
    : refused(`was redirected to another origin, ${target.origin}`);
}

/** The same for a reply whose members may fail when they are looked at. */
function redirectOf(
  ...asked: Parameters<typeof judgeRedirect>
): ReturnType<typeof judgeRedirect> {
  try {
    return judgeRedirect(...asked);
  } catch (thrown) {
    throw thrown instanceof OAuthClientError
      ? thrown
      : failure("network_error", asked[0], "got no reply to read", thrown);
  }
}

/** Runs a task until it is done, time is up, or the caller aborts. */
function underClock<T>(
  url: string,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: IRequestOptions,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    // A caller's fetch may ignore its signal, so its promise alone is no end.
    const end = (reason: unknown) => {
      stop();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = () => end(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    if (timeoutMs <= LONGEST_TIMER_MS) {
      timer = setTimeout(() => {
        const problem = `got no complete reply within ${timeoutMs} ms`;
        end(failure("timeout", url, problem));
      }, timeoutMs);
    }
    task(controller.signal).finally(stop).then(resolve, reject);
  });
}

/**
 * Makes a request and hands its reply to `read`, all under one clock. A `GET`
 * follows a few redirects within its origin, a `POST` none, so that headers meant
 * for one origin reach no other; the reply of a redirect that is not followed is
 * handed on with the reason. An abort ends it all at once.
 *
 * @throws {OAuthClientError} `network_error`, `timeout`, `url_refused`,
 * `redirect_refused`, and from reading `response_too_large`.
 */
export async function exchange<T>(
  { url, purpose, headers, body }: IRequest,
  options: IRequestOptions,
  read: (reply: IReply) => Promise<T>,
): Promise<T> {
  const { allowUrl, maxBytes = DEFAULT_MAX_BYTES } = options;
  const redact = redactorOf(headers, body);
  return await underClock(url, options, async (signal) => {
    const method = body === undefined ? "GET" : "POST";
    for (let hops = 0, address = url;; hops++) {
      const target = requireAddress(address);
      if (allowUrl) await requirePermission(address, purpose, allowUrl);
      signal.throwIfAborted();
      const init = {
        method,
        headers: { ...headers },
        redirect: "manual" as const,
        signal,
        ...(body !== undefined && { body }),
      };
      const response = await callFetch(
        address,
        init,
        signal,
        options,
        redact,
      );
      const redirect = redirectOf(address, target, response, hops, method);
      if (typeof redirect !== "string") {
        const reading = {
          maxBytes,
          signal,
          redact,
          refusedRedirect: redirect,
        };
        return await read(openReply(url, response, reading));
      }
      discard(response);
      address = redirect;
    }
  });
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
  requireArgument(
    typeof (given.allowUrl ?? fetch) === "function",
    "options.allowUrl",
    "a function",
  );
  for (const name of ["timeoutMs", "maxBytes"] as const) {
    const limit = given[name];
    requireArgument(
      limit === undefined || (typeof limit === "number" && limit > 0),
      `options.${name}`,
      "a positive number",
    );
  }
  return given;
}
