/**
 * Base64 (RFC 4648, sections 4 and 5) by `atob` and `btoa`: Node 20 lacks the
 * base64 methods of `Uint8Array`.
 */

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes base64 in either alphabet, with or without padding, to a UTF-8 string.
 * Throws for any other character, whitespace included, and for invalid UTF-8. A
 * byte order mark is kept, so that a JSON parser rejects it.
 */
export function decodeBase64String(base64: string): string {
  let standard = base64;
  if (/[-_\s]/.test(base64)) {
    // `atob` ignores whitespace, and does not know the URL-safe alphabet.
    if (/\s/.test(base64)) throw new SyntaxError("Whitespace in base64");
    standard = base64.replaceAll("-", "+").replaceAll("_", "/");
  }
  const binary = atob(standard);
  // deno-lint-ignore no-control-regex
  return /[^\x00-\x7f]/.test(binary) ? utf8.decode(bytesOf(binary)) : binary;
}

/** The bytes of a binary string, as `atob` returns one. */
function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  // `Uint8Array.from` with a mapping function is many times slower.
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}

/** Decodes a string of {@linkcode encodeBase64Url} to bytes. */
export function decodeBase64Url(base64: string): Uint8Array<ArrayBuffer> {
  return bytesOf(atob(base64.replaceAll("-", "+").replaceAll("_", "/")));
}

/** Returns the SHA-256 of a string, encoded by {@linkcode encodeBase64Url}. */
export async function hashBase64Url(value: string): Promise<string> {
  const bytes = new TextEncoder().encode(value);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
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
