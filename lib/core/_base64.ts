/**
 * Base64 (RFC 4648, sections 4 and 5) by `atob` and `btoa`: Node before version 25
 * lacks the base64 methods of `Uint8Array`.
 */

import { subtleCrypto } from "./_web_crypto.ts";

type Bytes = Uint8Array<ArrayBuffer>;

// A byte order mark is kept, so that a JSON parser rejects it.
const strictUtf8 = /* @__PURE__ */ new TextDecoder("utf-8", {
  ignoreBOM: true,
  fatal: true,
});
/** Returns a string with one character per byte. Accepts either alphabet. */
function decodeBinary(base64: string): string {
  return atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
}

function bytesOf(binary: string): Bytes {
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}

/**
 * Decodes UTF-8 in either alphabet, with or without padding. Throws for any other
 * character, including whitespace, and for invalid UTF-8.
 */
export function decodeBase64String(base64: string): string {
  const binary = decodeBinary(base64);
  // `atob` ignores whitespace. Without padding, the length excludes whitespace faster
  // than a search.
  const isUnpadded = base64.length === Math.ceil(binary.length * 4 / 3);
  if (!isUnpadded && /\s/.test(base64)) throw new SyntaxError();
  // Most claims are ASCII, except for their end.
  // deno-lint-ignore no-control-regex
  const start = binary.search(/[^\x00-\x7f]/);
  return start === -1
    ? binary
    : binary.slice(0, start) + strictUtf8.decode(bytesOf(binary.slice(start)));
}

export function decodeBase64Url(base64: string): Bytes {
  return bytesOf(decodeBinary(base64));
}

export async function hashBase64Url(value: string): Promise<string> {
  const bytes = new TextEncoder().encode(value);
  const digest = await subtleCrypto().digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(digest));
}

export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Strings are encoded as UTF-8; the result has no padding. */
export function encodeBase64Url(data: Uint8Array | string): string {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return encodeBase64(bytes)
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
