/** Secrets of a request, and taking them out of what a server says back. */

const MAX_DEPTH = 20;
/** Shorter ones would be found in any text, and keep nothing secret. */
const MIN_LENGTH = 4;
/** Of a longer one so many characters are looked for, and what follows goes too. */
const MAX_LENGTH = 64;
const SECRET_PARAMETERS = [
  "actor_token",
  "assertion",
  "client_assertion",
  "client_secret",
  "code",
  "code_verifier",
  "device_code",
  "password",
  "refresh_token",
  "software_statement",
  "subject_token",
];
const SECRET_HEADER = /auth|cookie|dpop|key|secret|session|signature|token/i;
const HTML_NAMES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** What a header field must keep to itself. */
function secretsInHeader(name: string, value: string): string[] {
  if (/cookie/i.test(name)) {
    return value.split(";").map((pair) => pair.replace(/^[^=]*=/, ""));
  }
  if (!/authorization$/i.test(name)) return [value];
  const credentials = value.trim().replace(/^\S+\s+/, "");
  return [credentials, ...secretsInBasic(credentials)];
}

/** The secret of `Basic` credentials, as it was before either encoding. */
function secretsInBasic(credentials: string): string[] {
  try {
    const bytes = Uint8Array.from(atob(credentials), (c) => c.charCodeAt(0));
    const secret = new TextDecoder().decode(bytes).replace(/^[^:]*:?/, "");
    return [secret, ...new URLSearchParams(`=${secret}`).values()];
  } catch {
    // Not `Basic`.
    return [];
  }
}

/** The members of a body, which is a form or, in a registration, JSON. */
function membersOf(body: string): [name: string, value: unknown][] {
  return body.startsWith("{")
    ? Object.entries(JSON.parse(body))
    : [...new URLSearchParams(body)];
}

/** The value in base64, alone and with the characters of the other alphabet. */
function inBase64(secret: string): string[] {
  try {
    const base64 = btoa(secret).replace(/=+$/, "");
    return [base64, base64.replaceAll("+", "-").replaceAll("/", "_")];
  } catch {
    // It has characters beyond Latin-1.
    return [];
  }
}

/** A pattern for this text and no other. */
const literal = (text: string) => text.replace(/[^\w\s]/g, "\\$&");

const hex = (code: number, digits: number) =>
  code.toString(16).padStart(digits, "0");

/** A character in all that it may come back as: plain, or escaped somehow. */
function charPattern(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const units = char.split("").map((unit) =>
    `\\\\{1,4}u${hex(unit.charCodeAt(0), 4)}`
  );
  const bytes = [...new TextEncoder().encode(char)]
    .map((byte) => `%${hex(byte, 2)}`);
  const forms = [
    `\\\\{0,4}${literal(char)}`,
    units.join(""),
    bytes.join(""),
    `&#0{0,4}${code};`,
    `&#x0{0,4}${hex(code, 1)};`,
    ...(char === " " ? ["\\+"] : []),
    ...(char in HTML_NAMES ? [HTML_NAMES[char]] : []),
  ];
  return `(?:${forms.join("|")})`;
}

/**
 * A secret with backslashes in its usual spellings. Between its own and those of
 * escapes a search by characters would try them all, without an end.
 */
function asWritten(secret: string): string {
  const json = JSON.stringify(secret).slice(1, -1);
  const form = new URLSearchParams({ "": secret });
  const spellings = [
    JSON.stringify(json).slice(1, -1),
    json,
    secret,
    form.toString().slice(1),
    encodeURIComponent(form.get("") ?? ""),
  ];
  return spellings.map(literal).join("|");
}

/**
 * A short word by itself, for it may stand in a longer one, such as an error code.
 * A letter that ends an escape is no part of it.
 */
function asWord(pattern: string): string {
  const isAfterEscape = "(?<=\\\\[nrt]|%[\\da-f]{2}|\\\\u[\\da-f]{4})";
  return `(?:(?<![a-z_])|${isAfterEscape})${pattern}(?![a-z_])`;
}

/**
 * Finds all that a request must keep to itself, however it is encoded; undefined
 * when that is nothing.
 */
function patternOf(
  headers: Readonly<Record<string, string>>,
  body: string,
): RegExp | undefined {
  const inHeaders = Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([name, value]) => secretsInHeader(name, value));
  const inBody = membersOf(body)
    .filter(([name]) => SECRET_PARAMETERS.includes(name))
    .map(([, value]) => String(value));
  const patterns = [...inHeaders, ...inBody]
    .filter((secret) => secret.length >= MIN_LENGTH)
    .flatMap((secret) => [secret, ...inBase64(secret)])
    // One may begin with another.
    .sort((a, b) => b.length - a.length)
    .map((secret) => {
      if (secret.includes("\\")) return asWritten(secret);
      const start = [...secret.slice(0, MAX_LENGTH)].map(charPattern).join("");
      if (secret.length > MAX_LENGTH) return `${start}[\\w\\-.~+/=%\\\\]*`;
      return /^[a-z_]{1,15}$/i.test(secret) ? asWord(start) : start;
    });
  return patterns.length > 0
    ? new RegExp([...new Set(patterns)].join("|"), "gi")
    : undefined;
}

/** Takes a request's secrets out of a value, of the texts within it too. */
export type Redact = <T>(value: T) => T;

/**
 * Makes the function that takes out what these header fields and this body must
 * keep to themselves. What is nested too deep is left out.
 */
export function redactorOf(
  headers: Readonly<Record<string, string>>,
  body = "",
): Redact {
  // Most requests succeed, and then nobody asks.
  let search: { pattern: RegExp | undefined } | undefined;
  const redact = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) return "[left out]";
    if (typeof value === "string" || typeof value === "number") {
      search ??= { pattern: patternOf(headers, body) };
      if (!search.pattern) return value;
      const text = String(value).replace(search.pattern, "[redacted]");
      return text === String(value) ? value : text;
    }
    if (typeof value !== "object" || value === null) return value;
    return Array.isArray(value)
      ? value.map((member) => redact(member, depth + 1))
      : Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          redact(name, depth),
          redact(member, depth + 1),
        ]),
      );
  };
  return (value) => redact(value, 0) as typeof value;
}
