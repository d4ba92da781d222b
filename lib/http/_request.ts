/** One OAuth request with its redirects: the only file that calls `fetch` for them. */

import {
  invalidArgument,
  optionalFunction,
  requireObject,
  requireStringMembers,
} from "../core/_arguments.ts";
import { quoteThrown } from "../core/_quote.ts";
import {
  type IUrlRules,
  parseHttpUrl,
  parseUrl,
  quoteUrl,
  requireSafeUrl,
} from "../core/_url.ts";
import { OAuthClientError, type OAuthClientErrorCode } from "../core/errors.ts";
import { underClock } from "./_clock.ts";
import { redact, secretsOf } from "./_redact.ts";
import {
  discard,
  fieldOf,
  type IResponse,
  isOk,
  readResponse,
  responseError,
} from "./_response.ts";
import type {
  IFetchResponse,
  IRequestOptions,
  RequestPurpose,
} from "./request_options.ts";

const DEFAULT_MAX_BYTES = 1_048_576;
const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** A request of this library. */
export interface IRequest {
  readonly url: string;
  readonly purpose: RequestPurpose;
  /** Which URLs may be requested; http and https everywhere if undefined. */
  readonly rules?: IUrlRules | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** What errors must not repeat, beside the values of this request. */
  readonly secrets?: readonly string[] | undefined;
  /** A request with a body is a `POST`, one without is a `GET`. */
  readonly body?: string;
}

const FIELD_NAME = /^[\w!#$%&'*+\-.^`|~]+$/;
// deno-lint-ignore no-control-regex
const FIELD_VALUE = /^[\x01-\xff]*$/;

/** Fails unless HTTP can carry the field: errors of runtimes show its value. */
function requireField(name: string, value: string): void {
  if (!FIELD_NAME.test(name)) {
    throw invalidArgument("The name of a header field", "a token");
  }
  // Fetch removes line breaks at the start and at the end.
  if (!FIELD_VALUE.test(value) || /[\r\n]/.test(value.trim())) {
    const expected = "a line of characters up to U+00FF";
    throw invalidArgument(`The header field ${name}`, expected);
  }
}

/** Merges header fields; of several with one name the last value is used. */
export function mergeHeaders(
  ...sources: (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const merged = new Map<string, [name: string, value: string]>();
  for (const source of sources) {
    const fields = requireStringMembers("headers", source);
    for (const [name, value] of Object.entries(fields)) {
      requireField(name, value);
      const key = name.toLowerCase();
      merged.set(key, [merged.get(key)?.[0] ?? name, value]);
    }
  }
  return Object.fromEntries(merged.values());
}

/** The error of a request. The URL of a redirect may repeat what was sent. */
function requestError(
  code: OAuthClientErrorCode,
  url: string,
  { headers, body, secrets: others = [] }: IRequest,
  problem: string,
  cause?: unknown,
): OAuthClientError {
  const secrets = [...others, ...secretsOf(headers, body)];
  const shown = redact(quoteUrl(url), secrets);
  const message = redact(`Request to ${shown} ${problem}`, secrets);
  return new OAuthClientError(code, message, { url: shown, cause });
}

/** Fails unless a request may be made to this URL; returns its origin. */
async function requirePermission(
  url: string,
  request: IRequest,
  { allowUrl }: IRequestOptions,
  signal: AbortSignal,
): Promise<string> {
  const { purpose, rules } = request;
  // Some runtimes' fetch reads data: and file: URLs too, which servers may name.
  const parsed = rules
    ? requireSafeUrl(`The URL of ${purpose.replaceAll("_", " ")}`, url, rules)
    : parseHttpUrl(url);
  if (!parsed) {
    const problem =
      "not made: expected an http or https URL without credentials";
    throw requestError("url_refused", url, request, problem);
  }
  if (!allowUrl) return parsed.origin;
  let isAllowed: unknown;
  try {
    isAllowed = await allowUrl(new URL(url), purpose);
  } catch (cause) {
    const problem = "not made: allowUrl failed";
    throw requestError("url_refused", url, request, problem, cause);
  }
  if (isAllowed !== true) {
    const problem = "not made: allowUrl did not return true";
    throw requestError("url_refused", url, request, problem);
  }
  signal.throwIfAborted();
  return parsed.origin;
}

/** Calls `fetch` once. */
async function callFetch(
  url: string,
  method: string,
  request: IRequest,
  { fetch }: IRequestOptions,
  signal: AbortSignal,
): Promise<IFetchResponse> {
  signal.throwIfAborted();
  const { headers, body } = request;
  const init = {
    method,
    headers: { ...headers },
    redirect: "manual" as const,
    signal,
    ...(body !== undefined && { body }),
  };
  let response: IFetchResponse | undefined;
  let cause: unknown = "no response";
  try {
    response = await (fetch ? fetch(url, init) : globalThis.fetch(url, init));
  } catch (thrown) {
    cause = thrown;
  }
  if (signal.aborted && response) discard(response);
  signal.throwIfAborted();
  if (response && (response.status ?? response.ok) !== undefined) {
    return response;
  }
  const problem = `failed: ${quoteThrown(cause)}`;
  throw requestError("network_error", url, request, problem, cause);
}

/**
 * Returns the URL that a redirect leads to, or the reason why it must not be
 * followed; neither if the response is not a redirect.
 */
function redirectOf(
  url: string,
  origin: string,
  { type, status, headers }: IFetchResponse,
  method: string,
  hops: number,
): { next?: string; problem?: string } {
  if (type === "opaqueredirect") {
    return {
      problem: "was redirected, and this runtime does not expose the new URL",
    };
  }
  if (!REDIRECT_STATUSES.includes(status)) return {};
  const location = fieldOf(headers, "Location");
  if (!location) return {};
  if (method !== "GET") {
    return { problem: `was redirected, which a ${method} does not follow` };
  }
  if (hops === MAX_REDIRECTS) {
    return { problem: `was redirected more than ${MAX_REDIRECTS} times` };
  }
  const target = parseUrl(location, url);
  if (!target) return { problem: "was redirected to an invalid URL" };
  if (target.origin !== origin) {
    return { problem: "was redirected to another origin" };
  }
  return { next: target.href };
}

/**
 * Makes a request and reads its response, under a timeout that has started. See
 * {@linkcode request}.
 */
export async function send(
  request: IRequest,
  options: IRequestOptions,
  signal: AbortSignal,
): Promise<IResponse> {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const method = request.body === undefined ? "GET" : "POST";
  let { url } = request;
  for (let hops = 0;; hops++) {
    const origin = await requirePermission(url, request, options, signal);
    const response = await callFetch(url, method, request, options, signal);
    // A caller's fetch may follow redirects in spite of `redirect: "manual"`.
    const finalUrl = (options.fetch && response.url) || url;
    if (finalUrl !== url && parseUrl(finalUrl)?.origin !== origin) {
      discard(response);
      const problem = "got a response from another origin";
      throw requestError("redirect_refused", url, request, problem);
    }
    const { next, problem } = redirectOf(url, origin, response, method, hops);
    if (next === undefined) {
      // Metadata comes with status 200, other responses with any 2xx.
      const isExpected = method === "GET"
        ? response.status === 200
        : isOk(response);
      const reading = { maxBytes, signal, isExpected };
      const read = await readResponse(request.url, response, reading);
      const finished = { ...read, finalUrl: url };
      if (problem === undefined) return finished;
      const { message } = requestError(
        "redirect_refused",
        url,
        request,
        problem,
      );
      const failure = responseError(finished, "redirect_refused", message);
      return { ...finished, failure };
    }
    discard(response);
    url = next;
  }
}

/**
 * Makes a request and returns its response, read to the end. A `GET` follows a
 * few redirects within its origin, a `POST` none, so that header fields for one
 * origin are not sent to another. A redirect that is not followed, and a body
 * that cannot be read, are a `failure` of the response.
 *
 * @throws {OAuthClientError} `network_error`, `timeout`, `url_refused`, and
 * `redirect_refused` if a caller's `fetch` followed a redirect elsewhere.
 */
export async function request(
  request: IRequest,
  options: IRequestOptions,
): Promise<IResponse> {
  return await underClock(
    request.url,
    options,
    (signal) => send(request, options, signal),
  );
}

/** Checks the options of a network call; undefined stands for none. */
export function requireOptions<T extends IRequestOptions>(
  options: T | undefined,
): T {
  // Every member is optional, so that an empty object is of any of these types.
  const given = requireObject("options", options ?? {} as T);
  optionalFunction("options.fetch", given.fetch);
  optionalFunction("options.allowUrl", given.allowUrl);
  const { signal } = given;
  if (signal && typeof signal.throwIfAborted !== "function") {
    throw invalidArgument("options.signal", "an AbortSignal");
  }
  for (const name of ["timeoutMs", "maxBytes"] as const) {
    const limit = given[name] ?? 1;
    if (typeof limit !== "number" || !(limit > 0)) {
      throw invalidArgument(`options.${name}`, "a positive number");
    }
  }
  return given;
}
