/**
 * Base64 (RFC 4648, sections 4 and 5) by way of `atob`: the newer methods of
 * `Uint8Array` and `ArrayBuffer` are missing from Node 20.
 */

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes base64 in either alphabet, padded or not, to the UTF-8 text it holds.
 * Throws on any other character, blanks included, and on invalid UTF-8; a byte
 * order mark is kept, so that a JSON parser refuses it.
 */
export function decodeBase64Text(base64: string): string {
  let standard = base64;
  if (/[-_\s]/.test(base64)) {
    // `atob` skips blanks in silence and knows one alphabet only.
    if (/\s/.test(base64)) throw new SyntaxError("blank in base64");
    standard = base64.replaceAll("-", "+").replaceAll("_", "/");
  }
  const binary = atob(standard);
  // deno-lint-ignore no-control-regex
  return /[^\x00-\x7f]/.test(binary) ? utf8.decode(bytesOf(binary)) : binary;
}

/** The bytes of a binary string, as `atob` makes them. */
function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  // A loop, because `Uint8Array.from` with a function is many times slower.
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}

/** Decodes what {@linkcode encodeBase64Url} made. */
export function decodeBase64Url(base64: string): Uint8Array<ArrayBuffer> {
  return bytesOf(atob(base64.replaceAll("-", "+").replaceAll("_", "/")));
}

/** The SHA-256 of a text, encoded by {@linkcode encodeBase64Url}. */
export async function hashBase64Url(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(digest));
}

/** Encodes bytes in the standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Encodes bytes, or text as UTF-8, in the URL-safe alphabet without padding. */
export function encodeBase64Url(data: Uint8Array | string): string {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return encodeBase64(bytes)
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
