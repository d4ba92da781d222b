/** Secrets that errors must not repeat: the values that a request sent. */

import { isMembers, type Members } from "../core/_members.ts";
import { MIN_SECRET_LENGTH, printableWithout } from "../core/_quote.ts";

/** Errors omit the members of larger error responses. */
const MAX_ERROR_RESPONSE_CHARACTERS = 16_384;

/**
 * The most parts of a header field to search for. A token of 1 MB may contain 100,000.
 */
const MAX_PARTS = 1_000;

const PUBLIC_PARAMETER =
  /^(scope|resource|audience|contacts|redirect_uris?|\w+_types?(_hint)?|(client|software)_(id|name|version)|(client|logo|tos|policy|jwks)_uri|token_endpoint_auth_method)$/;
const PUBLIC_HEADER =
  /^(accept(-.*)?|content-type|host|origin|user-agent|mcp-protocol-version)$/i;
const TOKEN_MEMBER = /^(access|refresh|id)_token$/;

/** The whole field, its parts, and decoded Basic credentials. */
function headerValues(value: string): string[] {
  const parts = value.split(/[\s;,]+/, MAX_PARTS).flatMap((part) => [
    part,
    part.slice(part.indexOf("=") + 1),
  ]);
  return [value, ...parts, ...basicValues(value)];
}

/** Basic credentials, and the client secret within them, which is form-encoded. */
export function basicValues(value: string): string[] {
  const [, credentials] = /^basic +(.*)/i.exec(value) ?? [];
  if (credentials === undefined) return [];
  try {
    const bytes = Uint8Array.from(
      atob(credentials),
      (char) => char.charCodeAt(0),
    );
    const pair = new TextDecoder().decode(bytes);
    const secret = pair.slice(pair.indexOf(":") + 1);
    return [pair, secret, ...new URLSearchParams(`=${secret}`).values()];
  } catch {
    return []; // Not Base64.
  }
}

/** The values of a form, or of a registration's JSON object. */
function bodyValues(body: string): string[] {
  const members: [string, unknown][] = body.startsWith("{")
    ? Object.entries(JSON.parse(body))
    : body.split("&").map((pair) => {
      const [name = "", value = ""] = pair.split("=");
      return [name, decodeURIComponent(value.replaceAll("+", " "))];
    });
  return members.flatMap(([name, value]) =>
    typeof value === "string" && !PUBLIC_PARAMETER.test(name) ? [value] : []
  );
}

/** A value unchanged, percent-encoded, form-encoded and JSON-escaped. */
function encodingsOf(value: string): string[] {
  // No encoding changes these characters, and few tokens contain others.
  if (/^[\w.-]+$/.test(value)) return [value];
  // `encodeURIComponent` rejects lone surrogates.
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

export function secretsOf(
  headers: Readonly<Record<string, string>>,
  body?: string,
): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    PUBLIC_HEADER.test(name) ? [] : headerValues(value)
  );
  if (body !== undefined) values.push(...bodyValues(body));
  const long = values.filter((value) => value.length >= MIN_SECRET_LENGTH);
  return [...new Set(long.flatMap(encodingsOf))];
}

/**
 * Returns an error response's members without tokens or secrets. Returns undefined if
 * the body is large or was not read as text.
 */
export function cleanErrorResponse(
  json: unknown,
  text: string | undefined,
  secrets: readonly string[],
): Members | undefined {
  const isSmall = text !== undefined &&
    text.length <= MAX_ERROR_RESPONSE_CHARACTERS;
  if (!isSmall || !isMembers(json)) return undefined;
  const clean = (name: string, value: unknown) => {
    if (TOKEN_MEMBER.test(name) || printableWithout(secrets, name) !== name) {
      return undefined;
    }
    if (typeof value === "string") return printableWithout(secrets, value);
    const isNumber = typeof value === "number";
    return isNumber && secrets.includes(`${value}`) ? undefined : value;
  };
  try {
    return JSON.parse(JSON.stringify(json, clean));
  } catch {
    return undefined; // Nested too deeply.
  }
}
