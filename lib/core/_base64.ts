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
/** Decodes base64 in either alphabet to a string with a character for each byte. */
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
 * Decodes base64 in either alphabet, with or without padding, to a UTF-8 string.
 * Throws for any other character, whitespace included, and for invalid UTF-8. A
 * byte order mark is kept, so that a JSON parser rejects it.
 */
export function decodeBase64String(base64: string): string {
  const binary = decodeBinary(base64);
  // `atob` ignores whitespace. The length shows that there is no whitespace, unless
  // there is padding; searching every string would take longer.
  const isUnpadded = base64.length === Math.ceil(binary.length * 4 / 3);
  if (!isUnpadded && /\s/.test(base64)) throw new SyntaxError();
  // Most claims are ASCII and need no decoder, or need one for their end only.
  // deno-lint-ignore no-control-regex
  const start = binary.search(/[^\x00-\x7f]/);
  return start === -1
    ? binary
    : binary.slice(0, start) + strictUtf8.decode(bytesOf(binary.slice(start)));
}

/** Decodes a string of {@linkcode encodeBase64Url} to bytes. */
export function decodeBase64Url(base64: string): Bytes {
  return bytesOf(decodeBinary(base64));
}

/** Returns the SHA-256 of a string, encoded by {@linkcode encodeBase64Url}. */
export async function hashBase64Url(value: string): Promise<string> {
  const bytes = new TextEncoder().encode(value);
  const digest = await subtleCrypto().digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(digest));
}

/** Encodes bytes in the standard alphabet, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Encodes bytes, or a string as UTF-8, in the URL-safe alphabet without padding. */
export function encodeBase64Url(data: Uint8Array | string): string {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return encodeBase64(bytes)
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
