/** What must be kept secret in errors: the values that a request has sent. */

import { decodeBase64String } from "../core/_base64.ts";
import { isMembers, type Members } from "../core/_members.ts";
import { cut, printable, quote } from "../core/_quote.ts";

/** Shorter values would match by accident. */
const MIN_LENGTH = 8;
const MAX_DEPTH = 4;
/** An error response with a larger body is not repeated as an object. */
const MAX_ERROR_RESPONSE_CHARACTERS = 16_384;

/** Parameters of a form, or members of a client registration, that are public. */
const PUBLIC_PARAMETER =
  /^(grant_type|scope|resource|client_id|redirect_uri|audience|\w+_type(_hint)?|client_name|client_uri|redirect_uris|grant_types|response_types|token_endpoint_auth_method|contacts|(logo|tos|policy|jwks)_uri|software_(id|version))$/;
/** Header fields that are public. */
const PUBLIC_HEADER =
  /^(accept(-.*)?|content-type|user-agent|mcp-protocol-version)$/i;
/** Members of a response that hold tokens. */
const TOKEN_MEMBER = /^(access|refresh|id)_token$/;

/** The values of a header field: the whole, its parts, decoded Basic credentials. */
function headerValues(value: string): string[] {
  const parts = value.split(/[\s;,]+/);
  return [
    value,
    ...parts,
    ...parts.map((part) => part.replace(/^[^=]*=/, "")),
    ...(/^basic$/i.test(parts[0] ?? "") ? basicValues(parts[1] ?? "") : []),
  ];
}

/** The client secret of Basic credentials, which is form-encoded within them. */
function basicValues(credentials: string): string[] {
  try {
    const pair = decodeBase64String(credentials);
    const secret = pair.slice(pair.indexOf(":") + 1);
    return [pair, secret, ...new URLSearchParams(`=${secret}`).values()];
  } catch {
    return [];
  }
}

/** The values of a form, or of the JSON object of a client registration. */
function bodyValues(body: string): string[] {
  const members: [string, unknown][] = body.startsWith("{")
    ? Object.entries(JSON.parse(body))
    : [...new URLSearchParams(body)];
  return members
    .filter(([name]) => !PUBLIC_PARAMETER.test(name))
    .map(([, value]) => typeof value === "string" ? value : "");
}

/** A value as it was sent, percent-encoded, form-encoded and JSON-escaped. */
function encodingsOf(value: string): string[] {
  // Replaces lone surrogates, which encodeURIComponent does not accept.
  const form = new URLSearchParams({ "": value });
  const encoded = [
    encodeURIComponent(form.get("") ?? ""),
    form.toString().slice(1),
  ];
  const withLowerCaseHex = encoded.map((text) =>
    text.replace(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase())
  );
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value, ...encoded, ...withLowerCaseHex, escaped];
}

/** Returns the values that a request sends and that errors must not repeat. */
export function secretsOf(
  headers: Readonly<Record<string, string>>,
  body = "",
): string[] {
  const inHeaders = Object.entries(headers)
    .filter(([name]) => !PUBLIC_HEADER.test(name))
    .flatMap(([, value]) => headerValues(value));
  const values = [...inHeaders, ...bodyValues(body)]
    .filter((value) => value.length >= MIN_LENGTH);
  // Longer values come first, since one value may begin with another.
  return [...new Set(values.flatMap(encodingsOf))]
    .sort((a, b) => b.length - a.length);
}

/** The start and the end of a secret within a string. */
type Range = [start: number, end: number];

/**
 * Finds a secret in text that was cut, and so may end within the secret.
 */
function findSecret(
  text: string,
  secret: string,
  from = 0,
): Range | undefined {
  const prefix = secret.slice(0, MIN_LENGTH);
  for (
    let start = text.indexOf(prefix, from);
    start !== -1;
    start = text.indexOf(prefix, start + 1)
  ) {
    if (text.startsWith(secret, start)) return [start, start + secret.length];
    const isCut = text.length - start < secret.length;
    if (isCut && secret.startsWith(text.slice(start))) {
      return [start, text.length];
    }
  }
  return undefined;
}

/** Replaces secrets in text for a message, which is cut to 2,000 characters. */
export function redact(text: string, secrets: readonly string[]): string {
  const short = cut(text);
  const ranges: Range[] = [];
  for (const secret of secrets) {
    let found = findSecret(short, secret);
    while (found) {
      ranges.push(found);
      found = findSecret(short, secret, found[1]);
    }
  }
  ranges.sort(([a], [b]) => a - b);
  let result = "";
  let position = 0;
  for (const [start, end] of ranges) {
    // Secrets may overlap, and then are replaced together.
    if (start >= position) {
      result += `${short.slice(position, start)}[redacted]`;
    }
    position = Math.max(position, end);
  }
  result += short.slice(position);
  return quote(short.length < text.length ? `${result}…` : result);
}

/**
 * Returns text of a server for a person to read; undefined if it contains a
 * secret, also one that invisible characters divide. It is left out whole, because
 * the rest could be an encoding of it.
 */
export function cleanText(
  text: string | undefined,
  secrets: readonly string[],
): string | undefined {
  if (text === undefined) return undefined;
  const short = cut(text);
  const clean = printable(short);
  if (short.length < MIN_LENGTH) return clean;
  const isSecret = secrets.some((secret) =>
    findSecret(short, secret) ?? findSecret(clean, secret)
  );
  return isSecret ? undefined : clean;
}

function withoutSecrets(
  value: unknown,
  secrets: readonly string[],
  depth: number,
): unknown {
  if (typeof value === "string") return cleanText(value, secrets);
  if (typeof value === "number") {
    return cleanText(String(value), secrets) === undefined ? undefined : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return undefined;
  return Array.isArray(value)
    ? value.map((one) => withoutSecrets(one, secrets, depth + 1))
    : membersWithoutSecrets(value as Members, secrets, depth + 1);
}

function membersWithoutSecrets(
  members: Members,
  secrets: readonly string[],
  depth: number,
): Members {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name]) =>
        !TOKEN_MEMBER.test(name) && cleanText(name, secrets) === name
      )
      .map(([name, value]) => [name, withoutSecrets(value, secrets, depth)])
      .filter(([, value]) => value !== undefined),
  );
}

/**
 * Returns the members of an error response without tokens and secrets; undefined if
 * the body is large, or was not read as text.
 */
export function cleanErrorResponse(
  json: unknown,
  text: string | undefined,
  secrets: readonly string[],
): Members | undefined {
  const isSmall = text !== undefined &&
    text.length <= MAX_ERROR_RESPONSE_CHARACTERS;
  return isSmall && isMembers(json)
    ? membersWithoutSecrets(json, secrets, 0)
    : undefined;
}
