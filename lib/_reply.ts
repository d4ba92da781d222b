/** Reading a reply, as JSON or as text for a message. */

import {
  type IOAuthClientErrorDetails,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "./errors.ts";
import { readBytes } from "./_stream.ts";
import type { IFetchResponse } from "./request_options.ts";

const MAX_QUOTED_CHARACTERS = 2_000;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });
const HALF_PAIR = /[\ud800-\udbff]$/;
const SECRETS = ["client_secret", "registration_access_token"];
const SECRET_IN_TEXT =
  /((?:client_secret|registration_access_token)\\"\s*:\s*\\")[^"\\]*/gi;

/** A reply whose body is still to be read. */
export interface IReply {
  readonly status: number;
  readonly ok: boolean;
  /** The value of a header field. */
  header(name: string): string | undefined;
  /** The body as JSON; undefined when it is anything else. */
  json(): Promise<unknown>;
  /** The body as text; fails as the reading does. */
  content(): Promise<string>;
  /** The body as text; undefined when it cannot be read. */
  body(): Promise<string | undefined>;
  /** The body as text; the status text when it cannot be read. */
  text(): Promise<string>;
  /** An error that tells of this reply, in the words given. */
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
      (name, member) =>
        SECRETS.includes(name.toLowerCase()) ? "[redacted]" : member,
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
      typeof content === "string" ? content : strictUtf8.decode(content),
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
  const seconds = Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** A header field of a reply, whose headers may be anything. */
export function headerOf(
  { headers }: IFetchResponse,
  name: string,
): string | undefined {
  return typeof headers?.get === "function"
    ? headers.get(name) ?? undefined
    : undefined;
}

/** Closes the connection of a reply that is not going to be read. */
export async function discard({ body }: IFetchResponse): Promise<void> {
  try {
    await (body as ReadableStream | null | undefined)?.cancel?.();
  } catch {
    // Somebody else reads it, or it has broken off: nothing is left to close.
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
  { maxBytes, signal, refusedRedirect }: IReading,
): IReply {
  const { status } = response;
  const error: IReply["error"] = (code, message, details) =>
    new OAuthClientError(refusedRedirect?.code ?? code, message, {
      url,
      status,
      retryAfter: parseRetryAfter(headerOf(response, "retry-after")),
      ...(refusedRedirect && { cause: refusedRedirect }),
      ...details,
    });
  const tooLarge = () =>
    error(
      "response_too_large",
      `The reply of ${quoteServerText(url)} is larger than ${maxBytes} bytes`,
    );

  const readStream = async (): Promise<Uint8Array | undefined> => {
    const declared = Number(headerOf(response, "content-length"));
    if (declared > maxBytes) {
      discard(response);
      throw tooLarge();
    }
    const stream = streamOf(response);
    if (!stream) return undefined;
    let bytes: Uint8Array | undefined;
    try {
      bytes = await readBytes(stream, maxBytes, signal, declared);
    } catch (cause) {
      throw error(
        "network_error",
        `The reply of ${quoteServerText(url)} broke off`,
        { cause },
      );
    }
    if (!bytes) throw tooLarge();
    return bytes;
  };
  let reading: Promise<Uint8Array | string | undefined> | undefined;
  const read = () =>
    reading ??= (async () =>
      await readStream() ?? String(await response.text()))();
  const content = async () => {
    const bytes = await read();
    return typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes);
  };
  const body = () => content().catch(() => undefined);

  return {
    status,
    ok: response.ok ?? (status >= 200 && status < 300),
    content,
    body,
    text: async () => await body() ?? String(response.statusText ?? ""),
    header: (name) => headerOf(response, name),
    async json() {
      // A minimal reply of a caller's fetch may have one method or both.
      if (response.body === undefined) {
        try {
          return await response.json();
        } catch {
          // The text is left.
        }
      }
      let content: Uint8Array | string | undefined;
      try {
        content = await read();
      } catch (failure) {
        if (failure instanceof OAuthClientError) throw failure;
        return undefined;
      }
      return parseJson(content ?? "");
    },
    error,
  };
}
