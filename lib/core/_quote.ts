/** How server text and caught values are put into messages. */

import type { OAuthClientErrorReason } from "./errors.ts";

/** The most characters of a string that a message quotes. */
const MAX_CHARACTERS = 2_000;
/** Control and bidi characters, except tabs and line feeds. */
const CONTROL_OR_BIDI =
  // deno-lint-ignore no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
// Members of a registration response that hold credentials (RFC 7591, 7592).
const CREDENTIAL_MEMBER = /^(client_secret|registration_access_token)$/;

/** Cuts a string to 2,000 characters. */
export function cut(text: string, mark = ""): string {
  return text.length > MAX_CHARACTERS
    ? text.slice(0, MAX_CHARACTERS) + mark
    : text;
}

/** Quotes server text: cut, with U+FFFD for control and bidi characters. */
export function quote(text: string): string {
  return cut(text, "…").replace(CONTROL_OR_BIDI, "\ufffd");
}

/**
 * Removes control and bidi characters from text that is meant for a person. A line
 * break or a tab becomes a space.
 */
export function printable(text: string): string {
  return text.replace(/[\t\r\n]+/g, " ").replace(CONTROL_OR_BIDI, "");
}

/** Quotes a value as JSON, without the credentials of a registration. */
export function quoteJson(value: unknown): string {
  try {
    return quote(
      JSON.stringify(
        value,
        (name, member) => CREDENTIAL_MEMBER.test(name) ? "[redacted]" : member,
      ) ?? "no JSON",
    );
  } catch {
    // JSON.parse accepts deeper nesting than JSON.stringify.
    return "JSON nested too deeply";
  }
}

/**
 * How runtimes name a reason: Node and Bun in a code, at the end of the text, Deno in
 * its message. No URL contains any of it, as there are no spaces in URLs.
 */
const REASONS: readonly [reason: OAuthClientErrorReason, pattern: RegExp][] = [
  // Certificates first, as their messages quote names that a server chooses.
  [
    "certificate_expired",
    /: CERT_HAS_EXPIRED$|peer certificate: (certificate )?expired/i,
  ],
  ["certificate", /: \w*(CERT|VERIFY)\w*$|peer certificate/],
  // The number is that of Windows, whose messages are in the user's language.
  ["connection_refused", /: connection ?refused|: ECONNREF|os error 10061/i],
  ["host_not_found", /: ENOTFOUND|: EAI_AGAIN|: dns error/],
];

/**
 * Describes what `fetch` threw for a message, its reason first where that is known.
 * Nothing else reads the messages of a runtime.
 */
export function describeThrown(
  thrown: unknown,
): { text: string; reason: OAuthClientErrorReason | undefined } {
  const { code, cause } = Object(thrown) as { code?: unknown; cause?: unknown };
  const text = [String(thrown), code, cause, Object(cause).code]
    .filter((part) => part !== undefined).map(String).join(": ");
  const [reason] = REASONS.find(([, pattern]) => pattern.test(text)) ?? [];
  return {
    text: quote(reason ? `${reason.replaceAll("_", " ")} (${text})` : text),
    reason,
  };
}
