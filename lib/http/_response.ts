/** A response whose body has been read. */

import {
  type IOAuthClientErrorDetails,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import { isWebUrl, quoteUrl } from "../core/_url.ts";
import type { IFetchResponse } from "./request_options.ts";
import { readBytes } from "./_stream.ts";

/** A finished response. Nothing of it is left to be read. */
export interface IResponse {
  /** URL of the request. */
  readonly url: string;
  /** URL of the response, after redirects. */
  readonly finalUrl?: string;
  readonly status: number;
  readonly ok: boolean;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  /** The body as JSON; undefined if it is anything else. */
  readonly json?: unknown;
  /** The body as text; undefined if a caller's `fetch` gave JSON alone. */
  readonly text?: string;
  /** Why the body is missing, or why a redirect was not followed. */
  readonly failure?: OAuthClientError;
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
const strictUtf8 = /* @__PURE__ */ new TextDecoder("utf-8", {
  fatal: true,
  // A byte order mark is left to `parseJson`, so that only one is removed.
  ignoreBOM: true,
});

/** Returns a header field; a minimal response may have other headers or none. */
export function fieldOf(
  headers: IFetchResponse["headers"],
  name: string,
): string | null {
  return typeof headers?.get === "function" ? headers.get(name) : null;
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

/** Parses JSON; a byte order mark before it is ignored (RFC 8259, section 8.1). */
function parseJson(body: string): Body {
  const text = body.replace(/^\ufeff/, "");
  try {
    return { text, json: JSON.parse(text) };
  } catch {
    return { text };
  }
}

function decode(bytes: Uint8Array): Body {
  try {
    return parseJson(strictUtf8.decode(bytes));
  } catch {
    // Not UTF-8, hence not JSON, but it may be readable in a message.
    return { text: utf8.decode(bytes) };
  }
}

/** Closes the connection of a response whose body is not needed. */
export function discard({ body }: IFetchResponse): void {
  const stream = body as Partial<ReadableStream> | null | undefined;
  // A body that is locked or has failed has no connection left to close.
  if (typeof stream?.cancel === "function") stream.cancel().catch(() => {});
}

/** Returns seconds from `Retry-After` (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  // Date.parse makes a date of almost any string with a digit in it.
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(value)) return undefined;
  // The asctime form has no time zone, and is in UTC like the others.
  const date = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  const seconds = Math.ceil((date - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Creates an error about a response. */
export function responseError(
  { url, status, headers }: Pick<IResponse, "url" | "status" | "headers">,
  code: OAuthClientErrorCode,
  message: string,
  details: IOAuthClientErrorDetails = {},
): OAuthClientError {
  const { error_uri = "" } = details;
  return new OAuthClientError(code, message, {
    url,
    status,
    retryAfter: parseRetryAfter(headers.get("Retry-After")),
    ...details,
    error_uri: isWebUrl(error_uri) ? error_uri : undefined,
  });
}

/**
 * Checks whether a body can be no larger than its `Content-Length`: `fetch` made the
 * response (`basic`), HTTP framing keeps the length, and nothing is decompressed.
 * A `cors` response does not expose all of these header fields.
 */
function hasKnownLength(response: IFetchResponse): response is Response {
  const { type, headers } = response;
  return response instanceof Response && type === "basic" &&
    Boolean(headers?.get("Content-Length")) &&
    !headers?.get("Content-Encoding") && !headers?.get("Transfer-Encoding");
}

/** Reads a body that is a stream, up to the limit. */
async function readStream(
  stream: ReadableStream<Uint8Array>,
  declaredBytes: number,
  { maxBytes, signal }: IReading,
): Promise<Body | undefined> {
  const bytes = await readBytes(stream, maxBytes, signal, declaredBytes);
  return bytes && decode(bytes);
}

/** Reads a body; returns undefined if it is larger than the limit. */
async function readBody(
  response: IFetchResponse,
  reading: IReading,
): Promise<Body | undefined> {
  const { headers, body, bodyUsed } = response;
  const declaredBytes = Number(fieldOf(headers, "Content-Length") ?? 0);
  if (declaredBytes > reading.maxBytes) {
    discard(response);
    return undefined;
  }
  const stream = body as ReadableStream<Uint8Array> | null | undefined;
  if (typeof stream?.getReader === "function" && !bodyUsed && !stream.locked) {
    // One read in place of many halves the time that the body takes.
    if (hasKnownLength(response)) {
      const bytes = await response.arrayBuffer();
      return bytes.byteLength > reading.maxBytes
        ? undefined
        : decode(new Uint8Array(bytes));
    }
    return await readStream(stream, declaredBytes, reading);
  }
  // A minimal response of a caller's fetch is read by one of its methods, once.
  if (body === undefined && reading.isExpected && !isForm(response)) {
    return { json: await response.json() };
  }
  const text = String(await response.text());
  return text.length > reading.maxBytes ? undefined : parseJson(text);
}

/** Reads a response to its end. A body that cannot be read is a `failure`. */
export async function readResponse(
  url: string,
  response: IFetchResponse,
  reading: IReading,
): Promise<IResponse> {
  const { status, statusText, headers } = response;
  const head = {
    url,
    status,
    ok: isOk(response),
    statusText: statusText ?? "",
    headers: { get: (name: string) => fieldOf(headers, name) },
  };
  const fail = (code: OAuthClientErrorCode, problem: string, cause?: unknown) =>
    responseError(head, code, `Response of ${quoteUrl(url)} ${problem}`, {
      cause,
    });
  try {
    const body = await readBody(response, reading);
    if (body) return { ...head, ...body };
    const problem = `is larger than ${reading.maxBytes} bytes`;
    return { ...head, failure: fail("response_too_large", problem) };
  } catch (cause) {
    reading.signal.throwIfAborted();
    // A minimal response whose body is not JSON.
    return cause instanceof SyntaxError
      ? { ...head, failure: fail("invalid_response", "is not JSON", cause) }
      : {
        ...head,
        failure: fail("network_error", "cannot be read to its end", cause),
      };
  }
}
