/** Reading a reply, as JSON or as text for a message. */

import {
  type IOAuthClientErrorDetails,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import type { Redact } from "./_redact.ts";
import { readBytes } from "./_stream.ts";
import { webUrl } from "../core/_url.ts";
import type { IFetchResponse } from "./request_options.ts";

const MAX_QUOTED_CHARACTERS = 2_000;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });
const HALF_PAIR = /[\ud800-\udbff]$/;
// What a server gives out in a registration, by whatever name.
const SECRET_NAME = /^(client_?secret|registration_?access_?token)$/i;
const SECRET_IN_TEXT =
  /((?:client_?secret|registration_?access_?token)(?:\\*")?\s*[:=]\s*(?:\\*")?)(?:\\+[^"\\]|[^"\\&\s])+/gi;

/** A reply whose body is still to be read. */
export interface IReply {
  readonly status: number;
  readonly ok: boolean;
  /** The value of a header field. */
  header(name: string): string | undefined;
  /** The body as JSON; undefined when it is anything else. */
  json(): Promise<unknown>;
  /** The body as text, undefined when it is not UTF-8; fails as the reading does. */
  content(): Promise<string | undefined>;
  /** The body as text; undefined when it cannot be read. */
  body(): Promise<string | undefined>;
  /** The body as text; the status text when it cannot be read. */
  text(): Promise<string>;
  /** A text for a message, without the request's secrets. */
  quote(text: string): string;
  /** A value as JSON for a message, without the request's secrets. */
  quoteJson(value: unknown): string;
  /** An error that tells of this reply, without the request's secrets. */
  error(
    code: OAuthClientErrorCode,
    message: string,
    details?: IOAuthClientErrorDetails,
  ): OAuthClientError;
}

/** Server text for a message: control characters shown, length limited. */
export function quoteServerText(text: string): string {
  const cut = text.length > MAX_QUOTED_CHARACTERS
    ? text.slice(0, MAX_QUOTED_CHARACTERS).replace(HALF_PAIR, "") + "…"
    : text;
  return cut.replace(
    // deno-lint-ignore no-control-regex
    /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g,
    (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/** What somebody threw, which may refuse to be made a text. */
export function quoteThrown(thrown: unknown): string {
  try {
    const { cause } = thrown as Error ?? {};
    // Some runtimes tell in the cause what went wrong, and only there.
    const reason = cause instanceof Error ? ` (${cause.message})` : "";
    return quoteServerText(String(thrown) + reason);
  } catch {
    return "something that is no error was thrown";
  }
}

/** A value as JSON for a message, secrets that a server may send left out. */
export function quoteJson(value: unknown): string {
  try {
    const text = JSON.stringify(
      value,
      (name, member) => SECRET_NAME.test(name) ? "[redacted]" : member,
    ) ?? "no JSON";
    // Some servers put their JSON into a text.
    return quoteServerText(text.replace(SECRET_IN_TEXT, "$1[redacted]"));
  } catch {
    // Deep enough nesting overflows the stack here, though it was parsed.
    return "JSON nested too deep";
  }
}

/**
 * The value of a JSON text; undefined when it is anything else, or not UTF-8. A
 * byte order mark before the text is passed over (RFC 8259, section 8.1).
 */
export function parseJson(content: string | Uint8Array): unknown {
  try {
    return JSON.parse(
      typeof content === "string"
        ? content.replace(/^\ufeff/, "")
        : strictUtf8.decode(content),
    );
  } catch {
    return undefined;
  }
}

/** The value without those members that are `null`, which servers send for none. */
export function withoutNulls(body: unknown): unknown {
  return typeof body === "object" && body !== null && !Array.isArray(body) &&
      Object.values(body).includes(null)
    ? Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== null),
    )
    : body;
}

/** Seconds of `Retry-After` (RFC 9110, section 10.2.3); undefined for rubbish. */
function parseRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  // The parser of dates makes something of nearly every text with a digit in it.
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(value)) return undefined;
  // The form of asctime() names no zone, and means this one as the others do.
  const date = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  const seconds = Math.ceil((date - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** A header field of a reply, whose headers may be anything. */
export function headerOf(
  { headers }: IFetchResponse,
  name: string,
): string | undefined {
  const value: unknown = typeof headers?.get === "function"
    ? headers.get(name)
    : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Closes the connection of a reply that is not going to be read. */
export async function discard(response: IFetchResponse): Promise<void> {
  try {
    await (response.body as ReadableStream | null | undefined)?.cancel?.();
  } catch {
    // Somebody else reads it, or it has broken off: nothing is left to close.
  }
}

/** Whether a reply has nothing but its methods to be read by. */
function lacksBody(response: IFetchResponse): boolean {
  try {
    return response.body === undefined;
  } catch {
    // Reading will meet it again, and tell.
    return false;
  }
}

/** The body as a stream, where there is one that nobody has read from. */
function streamOf(
  { body, bodyUsed }: IFetchResponse,
): ReadableStream<Uint8Array> | undefined {
  const stream = body as ReadableStream<Uint8Array> | null | undefined;
  return typeof stream?.getReader === "function" && !stream.locked && !bodyUsed
    ? stream
    : undefined;
}

/** How a reply is to be read. */
export interface IReading {
  /** Most bytes of the body. */
  maxBytes: number;
  /** Ends the reading. */
  signal: AbortSignal;
  /** Takes out the request's secrets, if it has any. */
  redact?: Redact | undefined;
  /** Why a redirect was not followed, if this is one. */
  refusedRedirect?: OAuthClientError | undefined;
}

/**
 * Prepares the reading of a reply. A stream is read once, and counted; a minimal
 * reply of a caller's fetch is read through its own `text()` and `json()`.
 */
export function openReply(
  url: string,
  response: IFetchResponse,
  { maxBytes, signal, redact = (value) => value, refusedRedirect }: IReading,
): IReply {
  const { status } = response;
  const error: IReply["error"] = (code, message, details = {}) =>
    new OAuthClientError(refusedRedirect?.code ?? code, redact(message), {
      url,
      status,
      retryAfter: parseRetryAfter(headerOf(response, "retry-after")),
      ...(refusedRedirect && { cause: refusedRedirect }),
      ...details,
      error: redact(details.error),
      error_description: redact(details.error_description),
      error_uri: webUrl(redact(details.error_uri)),
      errorResponse: redact(details.errorResponse),
    });
  const brokeOff = (cause: unknown) =>
    error(
      "network_error",
      `The reply of ${quoteServerText(url)} broke off`,
      { cause },
    );
  const tooLarge = () =>
    error(
      "response_too_large",
      `The reply of ${quoteServerText(url)} is larger than ${maxBytes} bytes`,
    );

  const declaredBytes = (): number => {
    const declared = Number(headerOf(response, "content-length"));
    if (declared <= maxBytes || Number.isNaN(declared)) return declared;
    discard(response);
    throw tooLarge();
  };

  const readStream = async (): Promise<Uint8Array | undefined> => {
    const declared = declaredBytes();
    const stream = streamOf(response);
    if (!stream) return undefined;
    let bytes: Uint8Array | undefined;
    try {
      bytes = await readBytes(stream, maxBytes, signal, declared);
    } catch (cause) {
      throw brokeOff(cause);
    }
    if (!bytes) throw tooLarge();
    return bytes;
  };
  /** Whether a minimal reply has given its body to its own `json()`. */
  let isRead = false;
  let reading: Promise<Uint8Array | string> | undefined;
  const read = () =>
    reading ??= (async () => {
      const bytes = await readStream();
      if (bytes) return bytes;
      const text = String(await response.text());
      // What was not counted on the way is at least not read any further.
      if (text.length > maxBytes) throw tooLarge();
      return text;
    })();
  const body = async () => {
    try {
      const bytes = await read();
      return typeof bytes === "string"
        ? bytes
        : new TextDecoder().decode(bytes);
    } catch {
      return undefined;
    }
  };

  return {
    status,
    ok: response.ok ?? (status >= 200 && status < 300),
    body,
    text: async () => {
      const { statusText } = response;
      return await body() ?? (typeof statusText === "string" ? statusText : "");
    },
    header: (name) => headerOf(response, name),
    quote: (text) => quoteServerText(redact(text)),
    quoteJson: (value) => quoteJson(redact(value)),
    async content() {
      let content: Uint8Array | string;
      try {
        content = await read();
      } catch (failure) {
        if (failure instanceof OAuthClientError) throw failure;
        // Of what has no text, or gave it to json(), there is none to lose.
        if (isRead || typeof response.text !== "function") return undefined;
        throw brokeOff(failure);
      }
      if (typeof content === "string") return content;
      try {
        return strictUtf8.decode(content);
      } catch {
        return undefined;
      }
    },
    async json() {
      // A minimal reply of a caller's fetch may have one method or both.
      if (lacksBody(response)) {
        declaredBytes();
        try {
          const value = await response.json();
          isRead = true;
          return value;
        } catch (failure) {
          // It was read, and is no JSON; otherwise the text is left.
          isRead = failure instanceof SyntaxError;
        }
      }
      try {
        return parseJson(await read());
      } catch (failure) {
        if (failure instanceof OAuthClientError) throw failure;
        return undefined;
      }
    },
    error,
  };
}
