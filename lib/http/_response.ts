/** A response whose body has been read. */

import {
  type IOAuthClientErrorDetails,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import { quoteUrl } from "../core/_url.ts";
import type { IFetchResponse } from "./request_options.ts";
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

/** How a body is read. */
export interface IReading {
  readonly maxBytes: number;
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
  headers: IFetchResponse["headers"],
  name: string,
): string | null {
  return headers?.get?.(name) ?? null;
}

/** Checks whether a response holds a form, by its media type. */
export function isForm({ headers }: Pick<IFetchResponse, "headers">): boolean {
  const type = fieldOf(headers, "Content-Type") ?? "";
  return type.toLowerCase().startsWith(FORM);
}

/** Checks whether a status is 2xx, by `ok` where a caller's `fetch` sets it. */
export function isOk({ status, ok }: IFetchResponse): boolean {
  return ok ?? (status >= 200 && status < 300);
}

/** Parses JSON; returns undefined if the text is not JSON. */
function parseJson(text: string): unknown {
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
function decode(bytes: Uint8Array | ArrayBuffer): Body {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { text: utf8.decode(bytes) };
  }
  return { text, json: parseJson(text) };
}

/** Closes the connection of a response whose body is not needed. */
export function discard({ body }: IFetchResponse): void {
  const stream = body as Partial<ReadableStream> | null | undefined;
  // A body that is locked or has failed has no connection left to close.
  if (typeof stream?.cancel === "function") stream.cancel().catch(() => {});
}

/** Returns seconds from `Retry-After` (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string): number | undefined {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  // Date.parse makes a date of almost any string with a digit in it.
  if (!/ \d\d:\d\d:\d\d/.test(value)) return undefined;
  // The asctime form has no time zone, and is in UTC like the others.
  const time = Date.parse(value.replace(/( GMT)?$/, " GMT"));
  const seconds = Math.ceil((time - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Creates an error about a response. */
export function responseError(
  { url, status, headers }: Pick<IResponse, "url" | "status" | "headers">,
  code: OAuthClientErrorCode,
  message: string,
  details?: IOAuthClientErrorDetails,
): OAuthClientError {
  return new OAuthClientError(code, message, {
    url,
    status,
    retryAfter: parseRetryAfter(headers.get("Retry-After") ?? ""),
    ...details,
  });
}

/**
 * Checks whether a body cannot be larger than its `Content-Length`: `fetch` made the
 * response (`basic`), HTTP framing enforces the length, and nothing is decompressed. A
 * `cors` response does not expose all of these header fields.
 */
function hasKnownLength(
  response: IFetchResponse,
  declaredLength: string | null,
): response is Response {
  const { type, headers } = response;
  return !!declaredLength && response instanceof Response &&
    type === "basic" && !fieldOf(headers, "Content-Encoding") &&
    !fieldOf(headers, "Transfer-Encoding");
}

/** Starts to read the bytes of a body; undefined if they exceed the limit. */
function readBodyBytes(
  response: IFetchResponse,
  declaredLength: string | null,
  { maxBytes, signal }: IReading,
): Promise<Uint8Array | ArrayBuffer | string | undefined> {
  // One read in place of many halves the time that the body takes.
  if (hasKnownLength(response, declaredLength)) return response.arrayBuffer();
  const { body, bodyUsed } = response;
  const stream = body as ReadableStream<Uint8Array> | null | undefined;
  return typeof stream?.getReader === "function" && !bodyUsed && !stream.locked
    ? readBytes(stream, maxBytes, signal)
    : response.text();
}

/** Checks whether a response is read by `json()`; any other is read as text. */
function isReadAsJson(response: IFetchResponse, { isExpected }: IReading) {
  return response.body === undefined && isExpected && !isForm(response);
}

/** Reads a body; returns undefined if it is larger than the limit. */
async function readBody(
  response: IFetchResponse,
  reading: IReading,
): Promise<Body | undefined> {
  const { headers } = response;
  const declaredLength = fieldOf(headers, "Content-Length");
  if (Number(declaredLength) > reading.maxBytes) {
    discard(response);
    return undefined;
  }
  if (isReadAsJson(response, reading)) return { json: await response.json() };
  const read = await readBodyBytes(response, declaredLength, reading);
  if (read === undefined) return undefined;
  const bytes = typeof read === "string"
    ? new TextEncoder().encode(read)
    : read;
  return bytes.byteLength <= reading.maxBytes ? decode(bytes) : undefined;
}

type Head = Omit<IResponse, keyof Body | "failure">;

function failed(
  head: Head,
  code: OAuthClientErrorCode,
  problem: string,
  cause?: unknown,
): IResponse {
  const message = `Response of ${quoteUrl(head.url)} ${problem}`;
  return { ...head, failure: responseError(head, code, message, { cause }) };
}

/** Reads a response to its end. A body that cannot be read sets `failure`. */
export async function readResponse(
  url: string,
  finalUrl: string,
  response: IFetchResponse,
  reading: IReading,
): Promise<IResponse> {
  const { status, statusText = "", headers } = response;
  const head: Head = {
    url,
    finalUrl,
    status,
    ok: isOk(response),
    statusText,
    headers: { get: (name: string) => fieldOf(headers, name) },
    ...(isReadAsJson(response, reading) && { readText: () => response.text() }),
  };
  try {
    const body = await readBody(response, reading);
    if (body) return Object.assign(head, body);
    const problem = `is larger than ${reading.maxBytes} bytes`;
    return failed(head, "response_too_large", problem);
  } catch (cause) {
    reading.signal.throwIfAborted();
    // A minimal response whose body is not JSON.
    return cause instanceof SyntaxError
      ? failed(head, "invalid_response", "is not JSON", cause)
      : failed(head, "network_error", "cannot be read to its end", cause);
  }
}
