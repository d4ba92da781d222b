import type {
  OAuthClientError,
  OAuthClientErrorCode,
  OAuthClientErrorDetails,
} from "../core/errors.ts";
import type { Context } from "./_context.ts";
import { errorOf, type Message, words } from "./_error.ts";
import type { FetchResponse } from "./request_options.ts";
import { readBytes } from "./_stream.ts";

export interface IResponse {
  readonly url: string;
  readonly finalUrl: string;
  readonly status: number;
  readonly ok: boolean;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  readonly json?: unknown;
  /** The body as text; undefined if a caller's `fetch` returned JSON only. */
  readonly text?: string;
  /** Why the body is missing, or why a redirect was not followed. */
  readonly failure?: OAuthClientError;
  /** Reads the text after `json()`, for a message. */
  readonly readText?: () => Promise<string>;
}

export interface Reading extends Pick<IResponse, "url" | "finalUrl"> {
  readonly signal: AbortSignal;
  readonly isExpected: boolean;
}

type Body = Pick<IResponse, "json" | "text">;

export const FORM = "application/x-www-form-urlencoded";
const utf8 = /* @__PURE__ */ new TextDecoder();
const strictUtf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true });

/** Minimal responses may lack `headers`, or provide other ones. */
export function fieldOf(
  headers: FetchResponse["headers"],
  name: string,
): string | null {
  return headers?.get?.(name) ?? null;
}

export function isForm({ headers }: Pick<FetchResponse, "headers">): boolean {
  const type = fieldOf(headers, "Content-Type") ?? "";
  return type.toLowerCase().startsWith(FORM);
}

/** Uses `ok` if a caller's `fetch` sets it. */
export function isOk({ status, ok }: FetchResponse): boolean {
  return ok ?? (status >= 200 && status < 300);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only UTF-8 is JSON. Ignores a byte order mark (RFC 8259, section 8.1). */
function decode(bytes: Uint8Array): Body {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { text: utf8.decode(bytes) };
  }
  return { text, json: parseJson(text) };
}

/** How much of an unneeded body is read, and how long. */
const SHORT_BYTES = 16_384;
const SHORT_MS = 1_000;

/**
 * Reads a short body without waiting, so that the connection can be used again.
 * Canceling a body before it arrives closes its connection.
 */
export function discard(response: FetchResponse): void {
  const stream = response.body as ReadableStream<Uint8Array> | null | undefined;
  if (typeof stream?.cancel !== "function") return;
  const ended = hasKnownLength(response)
    ? readBytes(stream, SHORT_BYTES, AbortSignal.timeout(SHORT_MS))
    : stream.cancel();
  // A locked or failed body keeps no connection open.
  ended.catch(() => {});
}

/** In seconds since the Unix epoch. */
export function dateOf(headers: IResponse["headers"]): number | undefined {
  const value = headers.get("Date") ?? "";
  // `Date.parse` accepts almost any string with a digit.
  const time = / \d\d:\d\d:\d\d GMT$/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time / 1000;
}

/** Longer delays could overflow a timer, which then fires at once. */
const DAY_SECONDS = 86_400;

/**
 * Reads `Retry-After` in seconds (RFC 9110, section 10.2.3), at most a day. Dates are
 * relative to the response's `Date`, because this machine's clock may be wrong.
 */
function retryAfterOf(
  headers: IResponse["headers"],
  now: () => number,
): number | undefined {
  const value = headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(value)) return Math.min(Number(value), DAY_SECONDS);
  if (!/ \d\d:\d\d:\d\d/.test(value)) return undefined;
  // The asctime form is in UTC without naming it.
  const time = Date.parse(value.replace(/( GMT)?$/, " GMT"));
  const seconds = Math.ceil(time / 1000 - (dateOf(headers) ?? now() / 1000));
  return Number.isNaN(seconds)
    ? undefined
    : Math.min(Math.max(0, seconds), DAY_SECONDS);
}

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
 * Checks whether a body cannot exceed its `Content-Length`: `fetch` itself made the
 * response (`basic`), HTTP frames it (RFC 9112, section 6.3), and nothing is
 * decompressed. In browsers, responses of other origins hide these fields; their type
 * is `cors`.
 */
function hasKnownLength(response: FetchResponse): response is Response {
  const { type, headers } = response;
  return type === "basic" && response instanceof Response &&
    /^\d+$/.test(fieldOf(headers, "Content-Length") ?? "") &&
    !fieldOf(headers, "Content-Encoding") &&
    !fieldOf(headers, "Transfer-Encoding");
}

/**
 * Returns undefined for a body over the limit. Its `Content-Length` is within the
 * limit.
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
  // One read takes half the time of a reader.
  const isKnown = hasKnownLength(response);
  if (isStream && !isKnown) return await readBytes(stream, maxBytes, signal);
  const bytes = isKnown
    ? new Uint8Array(await response.arrayBuffer())
    : new TextEncoder().encode(await response.text());
  return bytes.length <= maxBytes ? bytes : undefined;
}

/** Reads a response to its end. An unreadable body sets `failure`. */
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
