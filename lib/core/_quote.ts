import type { NetworkReason } from "./errors.ts";

const MAX_CHARACTERS = 2_000;
const CONTROL_OR_BIDI =
  // deno-lint-ignore no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Members of a registration that hold credentials (RFC 7591 and 7592). */
export const CREDENTIAL_MEMBERS: readonly string[] = [
  "client_secret",
  "registration_access_token",
];

/** Shorter secrets would match by accident. */
export const MIN_SECRET_LENGTH = 8;

function cut(text: string): string {
  return text.slice(0, MAX_CHARACTERS);
}

/**
 * Finds a secret in text that was cut, and so may end within the secret. Returns -1 if
 * no part is a secret. Takes linear time, unlike `indexOf(secret)`.
 */
function indexOfSecret(text: string, secret: string, from = 0): number {
  const start = secret.slice(0, MIN_SECRET_LENGTH);
  let at = text.indexOf(start, from);
  while (at >= 0 && !secret.startsWith(text.slice(at, at + secret.length))) {
    at = text.indexOf(start, at + 1);
  }
  return at;
}

/**
 * Quotes server text for a log: cut, with `[redacted]` for secrets and U+FFFD for
 * control and bidi characters.
 */
export function quote(text: string, secrets: readonly string[] = []): string {
  let result = cut(text);
  let isCut = result.length < text.length;
  // The longest first, because one value may start with another.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    let at = indexOfSecret(result, secret);
    while (at >= 0) {
      const start = `${result.slice(0, at)}[redacted]`;
      result = start + result.slice(at + secret.length);
      at = indexOfSecret(result, secret, start.length);
    }
  }
  isCut ||= result.length > MAX_CHARACTERS;
  return cut(result).replace(CONTROL_OR_BIDI, "\ufffd") + (isCut ? "…" : "");
}

/**
 * Removes control and bidi characters from text for a user. Line breaks and tabs become
 * spaces.
 */
export function printable(text: string): string {
  // Most text is ASCII; one test is faster than two replacements.
  if (/^[ -~]*$/.test(text)) return text;
  return text.replace(/[\t\r\n]+/g, " ").replace(CONTROL_OR_BIDI, "");
}

/**
 * Returns text for a user, cut to 2,000 characters. Returns undefined if it contains a
 * sent secret, even one divided by invisible characters: the rest could be an encoding
 * of the secret.
 */
export function printableWithout(
  secrets: readonly string[],
  text: string | undefined,
): string | undefined {
  if (text === undefined) return undefined;
  const short = cut(text);
  const clean = printable(short);
  const isSecret = short.length >= MIN_SECRET_LENGTH &&
    secrets.some((secret) =>
      indexOfSecret(short, secret) >= 0 || indexOfSecret(clean, secret) >= 0
    );
  return isSecret ? undefined : clean;
}

export function quoteJson(
  value: unknown,
  secrets: readonly string[] = [],
): string {
  try {
    return quote(
      JSON.stringify(
        value,
        (name, member) =>
          CREDENTIAL_MEMBERS.includes(name) ? "[redacted]" : member,
      ) ?? "no JSON",
      secrets,
    );
  } catch {
    // JSON.parse accepts deeper nesting than JSON.stringify.
    return "JSON nested too deeply";
  }
}

/** Escapes control and bidi characters, so that a terminal may show the JSON. */
export function printableJson(value: unknown): string {
  const escape = (char: string) =>
    `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, 2).replace(CONTROL_OR_BIDI, escape);
}

/** Escapes text, so that server text cannot become markup. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/**
 * Node and Bun put a code at the end of the text, Deno writes a message. URLs contain
 * no spaces, so none matches by accident.
 */
const REASONS: readonly [reason: NetworkReason, pattern: RegExp][] = [
  // Certificates first, because their messages contain names that a server chooses.
  [
    "certificate_expired",
    /: CERT_HAS_EXPIRED$|peer certificate: (certificate )?expired/i,
  ],
  ["certificate", /: \w*(CERT|VERIFY)\w*$|peer certificate/],
  // Windows writes messages in the user's language, so the number counts.
  ["connection_refused", /: connection ?refused|: ECONNREF|os error 10061/i],
  ["host_not_found", /: ENOTFOUND|: EAI_AGAIN|: dns error/],
];

/** The fix for a proxy's own certificates in Node, Bun and Deno. */
function certificateHint(reason: string): string {
  return reason === "certificate"
    ? " (set NODE_EXTRA_CA_CERTS or DENO_CERT)"
    : "";
}

/**
 * Describes an error that `fetch` threw: the reason first, if known. No other function
 * reads a runtime's messages.
 */
export function describeThrown(
  thrown: unknown,
): { text: string; reason: NetworkReason | undefined } {
  const { code, cause } = Object(thrown) as { code?: unknown; cause?: unknown };
  const text = [String(thrown), code, cause, Object(cause).code]
    .filter((part) => part !== undefined).map(String).join(": ");
  const [reason] = REASONS.find(([, pattern]) => pattern.test(text)) ?? [];
  return {
    text: reason
      ? `${reason.replaceAll("_", " ")} (${text})${certificateHint(reason)}`
      : text,
    reason,
  };
}

/** Texts of runtimes for a request without a response, in addition to the reasons. */
const UNANSWERED =
  /fetch failed|to fetch|Load failed|ECONNRESET|connection lost/;

/**
 * Checks whether `fetch` threw because there was no response. Excludes argument errors
 * and certificates, which no retry changes.
 */
export function isUnanswered(thrown: unknown): boolean {
  const { text, reason } = describeThrown(thrown);
  return reason === undefined
    ? UNANSWERED.test(text)
    : !reason.startsWith("certificate");
}

export function isRedirectError(thrown: unknown): boolean {
  return describeThrown(thrown).text.includes("unexpected redirect");
}

const REASON_WORDS: Readonly<
  Record<NetworkReason, readonly [before: string, after: string]>
> = {
  host_not_found: ["The host name of ", " is unknown"],
  connection_refused: ["Nothing listens at ", ""],
  certificate: ["The certificate of ", " is not accepted"],
  certificate_expired: ["The certificate of ", " has expired"],
};

/** Returns a sentence without its full stop. */
export function describeReason(
  reason: NetworkReason,
  host: string,
): string {
  return REASON_WORDS[reason].join(host) +
    certificateHint(reason);
}

/** Formats a duration in its largest unit, such as `5 minutes`. */
export function describeMs(ms: number): string {
  const units = [["minute", 60_000], ["second", 1_000]] as const;
  const [unit, size] = units.find(([, size]) => ms % size === 0) ?? ["ms", 1];
  const count = ms / size;
  return `${count} ${unit}${unit === "ms" || count === 1 ? "" : "s"}`;
}
