/** Reading a reply, as JSON or as text for a message. */

import {
  type IOAuthClientErrorDetails,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "./errors.ts";
import type { IFetchResponse } from "./request_options.ts";

const MAX_QUOTED_CHARACTERS = 2_000;
const HALF_PAIR = /[\ud800-\udbff]$/;
const SECRETS = ["client_secret", "registration_access_token"];

/** A reply whose body is still to be read. */
export interface IReply {
  readonly status: number;
  readonly ok: boolean;
  /** The value of a header field. */
  header(name: string): string | undefined;
  /** The body as JSON; undefined when it is anything else. */
  json(): Promise<unknown>;
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

/** A value as JSON for a message, secrets that a server may send left out. */
export function quoteJson(value: unknown): string {
  try {
    return quoteServerText(
      JSON.stringify(
        value,
        (name, member) => SECRETS.includes(name) ? "[redacted]" : member,
      ) ?? "no JSON",
    );
  } catch {
    // Deep enough nesting overflows the stack here, though it was parsed.
    return "JSON nested too deep";
  }
}

/** The value of a JSON text; undefined when it is anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Closes the connection of a reply that is not going to be read. */
export async function discard({ body }: IFetchResponse): Promise<void> {
  try {
    await (body as ReadableStream | null | undefined)?.cancel?.();
  } catch {
    // Somebody else reads it, or it has broken off: nothing is left to close.
  }
}

/** Prepares the reading of a reply; nothing is read twice. */
export function openReply(url: string, response: IFetchResponse): IReply {
  const { status } = response;
  let reading: Promise<string | undefined> | undefined;
  const body = () =>
    reading ??= (async () => String(await response.text()))()
      .catch(() => undefined);
  return {
    status,
    ok: response.ok ?? (status >= 200 && status < 300),
    body,
    text: async () => await body() ?? String(response.statusText ?? ""),
    header: (name) => response.headers?.get(name) ?? undefined,
    async json() {
      // A minimal reply of a caller's fetch may have one method or both.
      if (response.body === undefined) {
        try {
          return await response.json();
        } catch {
          // The text is left.
        }
      }
      return parseJson(await body() ?? "");
    },
    error: (code, message, details) =>
      new OAuthClientError(code, message, { url, status, ...details }),
  };
}
