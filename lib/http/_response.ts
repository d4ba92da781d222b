/** A response whose body has been read. */

import type {
  OAuthClientError,
  OAuthClientErrorCode,
  OAuthClientErrorDetails,
} from "../core/errors.ts";
import type { Context } from "./_context.ts";
import { errorOf, type Message, words } from "./_error.ts";
import type { FetchResponse } from "./request_options.ts";
import { readBytes } from "./_stream.ts";

/** A response that was read to its end. */
export interface IResponse {
  /** URL of the request. */
  readonly url: string;
  /** URL of the response, after redirects. */
  readonly finalUrl: string;
  readonly status: number;
  readonly ok: boolean;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  /** The body as JSON; undefined if it is not JSON. */
  readonly json?: unknown;
  /** The body as text; undefined if a caller's `fetch` returned JSON only. */
  readonly text?: string;
  /** Why the body is missing, or why a redirect was not followed. */
  readonly failure?: OAuthClientError;
  /** Reads the text of a response that was read by `json()`, for a message. */
  readonly readText?: () => Promise<string>;
}

/** How a response is read. */
export interface Reading extends Pick<IResponse, "url" | "finalUrl"> {
  readonly signal: AbortSignal;
  /** Whether the response has the expected status. */
  readonly isExpected: boolean;
}

type Body = Pick<IResponse, "json" | "text">;

/** The media type of a form. */
export const FORM = "application/x-www-form-urlencoded";
const utf8 = /* @__PURE__ */ new TextDecoder();
const strictUtf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true });

/**
 * Returns a header field; the `headers` of a minimal response may differ or be absent.
 */
export function fieldOf(
  headers: FetchResponse["headers"],
  name: string,
): string | null {
  return headers?.get?.(name) ?? null;
}

/** Checks whether a response holds a form, by its media type. */
export function isForm({ headers }: Pick<FetchResponse, "headers">): boolean {
  const type = fieldOf(headers, "Content-Type") ?? "";
  return type.toLowerCase().startsWith(FORM);
}

/** Checks whether a status is 2xx, by `ok` where a caller's `fetch` sets it. */
export function isOk({ status, ok }: FetchResponse): boolean {
  return ok ?? (status >= 200 && status < 300);
}

/** Parses JSON; returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Decodes a body. It is JSON only if it is UTF-8. A byte order mark before it is
 * ignored (RFC 8259, section 8.1).
 */
function decode(bytes: Uint8Array): Body {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { text: utf8.decode(bytes) };
  }
  return { text, json: parseJson(text) };
}

/** How much of a body is read that is not needed, and for how long. */
const SHORT_BYTES = 16_384;
const SHORT_MS = 1_000;

/**
 * Ends a response whose body is not needed. A short body is read, which nothing waits for:
 * a body that is cancelled before it has arrived closes its connection, and the next
 * request needs a new one.
 */
export function discard(response: FetchResponse): void {
  const stream = response.body as ReadableStream<Uint8Array> | null | undefined;
  if (typeof stream?.cancel !== "function") return;
  const ended = hasKnownLength(response)
    ? readBytes(stream, SHORT_BYTES, AbortSignal.timeout(SHORT_MS))
    : stream.cancel();
  // A body that is locked or has failed has no connection left to close.
  ended.catch(() => {});
}

/** Returns the `Date` of a response in seconds since the Unix epoch. */
export function dateOf(headers: IResponse["headers"]): number | undefined {
  const value = headers.get("Date") ?? "";
  // Date.parse makes a date of almost any string with a digit in it.
  const time = / \d\d:\d\d:\d\d GMT$/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time / 1000;
}

/** The delay of a timer that is much longer overflows, so that it fires at once. */
const DAY_SECONDS = 86_400;

/**
 * Returns seconds from `Retry-After` (RFC 9110, section 10.2.3), a day at most. A date is
 * compared with the `Date` of the response, as the clock of this machine may be another
 * one.
 */
function retryAfterOf(
  headers: IResponse["headers"],
  now: () => number,
): number | undefined {
  const value = headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(value)) return Math.min(Number(value), DAY_SECONDS);
  if (!/ \d\d:\d\d:\d\d/.test(value)) return undefined;
  // The asctime form has no time zone, and is in UTC like the others.
  const time = Date.parse(value.replace(/( GMT)?$/, " GMT"));
  const seconds = Math.ceil(time / 1000 - (dateOf(headers) ?? now() / 1000));
  return Number.isNaN(seconds)
    ? undefined
    : Math.min(Math.max(0, seconds), DAY_SECONDS);
}

/** Creates an error about a response. */
export function responseError(
  context: Pick<Context, "sent" | "now">,
  { url, status, headers }: Pick<IResponse, "url" | "status" | "headers">,
  code: OAuthClientErrorCode,
  message: Message,
  details?: OAuthClientErrorDetails,
): OAuthClientError {
  return errorOf(context, code, message, {
    url,
    status,
    retryAfterSeconds: retryAfterOf(headers, context.now),
    ...details,
  });
}

/**
 * Checks whether a body cannot be longer than its `Content-Length`: `fetch` itself made the
 * response (`basic`), the framing of HTTP enforces the length (RFC 9112, section 6.3), and
 * nothing is decompressed. A response of another origin hides these header fields in a
 * browser, and its type is `cors`.
 */
function hasKnownLength(response: FetchResponse): response is Response {
  const { type, headers } = response;
  return type === "basic" && response instanceof Response &&
    /^\d+$/.test(fieldOf(headers, "Content-Length") ?? "") &&
    !fieldOf(headers, "Content-Encoding") &&
    !fieldOf(headers, "Transfer-Encoding");
}

/**
 * Reads the bytes of a body; returns undefined if they exceed the limit. Its
 * `Content-Length` is within the limit.
 */
async function readBody(
  response: FetchResponse,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const { body, bodyUsed } = response;
  const stream = body as ReadableStream<Uint8Array> | null | undefined;
  const isStream = typeof stream?.getReader === "function" && !bodyUsed &&
    !stream.locked;
  // One read takes half the time of a reader, which needs several.
  const isKnown = hasKnownLength(response);
  if (isStream && !isKnown) return await readBytes(stream, maxBytes, signal);
  const bytes = isKnown
    ? new Uint8Array(await response.arrayBuffer())
    : new TextEncoder().encode(await response.text());
  return bytes.length <= maxBytes ? bytes : undefined;
}

/** Reads a response to its end. A body that cannot be read sets `failure`. */
export async function readResponse(
  { url, finalUrl, isExpected, signal }: Reading,
  response: FetchResponse,
  context: Context,
): Promise<IResponse> {
  const { status, statusText = "", headers } = response;
  const { maxBytes } = context;
  const isReadAsJson = response.body === undefined && isExpected &&
    !isForm(response);
  const head: IResponse = {
    url,
    finalUrl,
    status,
    ok: isOk(response),
    statusText,
    headers: { get: (name: string) => fieldOf(headers, name) },
    ...(isReadAsJson && { readText: () => response.text() }),
  };
  const failed = (
    code: OAuthClientErrorCode,
    problem: Message,
    cause?: unknown,
  ): IResponse => {
    const message = words`Response of ${{ url }} ${problem}`;
    const failure = responseError(context, head, code, message, { cause });
    return { ...head, failure };
  };
  try {
    if (Number(fieldOf(headers, "Content-Length")) > maxBytes) {
      discard(response);
    } else if (isReadAsJson) {
      return { ...head, json: await response.json() };
    } else {
      const bytes = await readBody(response, maxBytes, signal);
      if (bytes) return { ...head, ...decode(bytes) };
    }
    const problem = words`is larger than ${maxBytes} bytes`;
    return failed("response_too_large", problem);
  } catch (cause) {
    signal.throwIfAborted();
    // A minimal response whose body is not JSON.
    return cause instanceof SyntaxError
      ? failed("invalid_response", words`is not JSON`, cause)
      : failed("network_error", words`cannot be read to its end`, cause);
  }
}
