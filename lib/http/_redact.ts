/** What must be kept secret in errors: the values that a request has sent. */

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
    const pair = atob(credentials);
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
  return [
    value,
    encodeURIComponent(form.get("") ?? ""),
    form.toString().slice(1),
    JSON.stringify(value).slice(1, -1),
  ];
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

/**
 * Finds a secret in text that was cut, and so may end within the secret. Returns
 * its position and length.
 */
function findSecret(
  text: string,
  secret: string,
  from = 0,
): [position: number, length: number] | undefined {
  const start = secret.slice(0, MIN_LENGTH);
  for (
    let position = text.indexOf(start, from);
    position !== -1;
    position = text.indexOf(start, position + 1)
  ) {
    if (text.startsWith(secret, position)) return [position, secret.length];
    const rest = text.length - position;
    if (rest < secret.length && secret.startsWith(text.slice(position))) {
      return [position, rest];
    }
  }
  return undefined;
}

/** Replaces secrets in a body for a message, cut to 2,000 characters. */
export function redact(body: string, secrets: readonly string[]): string {
  let text = cut(body);
  const isCut = text.length < body.length;
  for (const secret of secrets) {
    let found = findSecret(text, secret);
    while (found) {
      const [position, length] = found;
      const end = position + length;
      text = `${text.slice(0, position)}[redacted]${text.slice(end)}`;
      found = findSecret(text, secret, position);
    }
  }
  return quote(isCut ? `${text}…` : text);
}

/**
 * Returns text of a server for a person to read; undefined if it contains a
 * secret. It is left out whole, because the rest could be an encoding of it.
 */
export function cleanText(
  text: string | undefined,
  secrets: readonly string[],
): string | undefined {
  if (text === undefined) return undefined;
  const short = cut(text);
  if (short.length < MIN_LENGTH) return printable(short);
  return secrets.some((secret) => findSecret(short, secret))
    ? undefined
    : printable(short);
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

/** Returns the members of an error response without tokens and secrets. */
export function cleanErrorResponse(
  json: unknown,
  text: string,
  secrets: readonly string[],
): Members | undefined {
  return isMembers(json) && text.length <= MAX_ERROR_RESPONSE_CHARACTERS
    ? membersWithoutSecrets(json, secrets, 0)
    : undefined;
}
