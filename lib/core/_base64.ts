/**
 * Base64 (RFC 4648, sections 4 and 5) by `atob` and `btoa`: Node before version 25
 * lacks the base64 methods of `Uint8Array`.
 */

type Bytes = Uint8Array<ArrayBuffer>;

/** The base64 method of `Uint8Array`, which older type libraries lack. */
interface INativeBase64 {
  setFromBase64(
    base64: string,
    options: { alphabet: "base64url" },
  ): { written: number };
}

// A byte order mark is kept, so that a JSON parser rejects it.
const lenientUtf8 = /* @__PURE__ */ new TextDecoder("utf-8", {
  ignoreBOM: true,
});
const strictUtf8 = /* @__PURE__ */ new TextDecoder("utf-8", {
  ignoreBOM: true,
  fatal: true,
});
const buffer: Bytes = /* @__PURE__ */ new Uint8Array(8_192);

/** Decodes base64url without padding; throws if it is anything else, or too long. */
function setFromBase64(bytes: Bytes, base64: string): number {
  const native = bytes as unknown as INativeBase64;
  const { written } = native.setFromBase64(base64, { alphabet: "base64url" });
  if (base64.length === Math.ceil(written * 4 / 3)) return written;
  throw new SyntaxError();
}

/**
 * Decodes two strings as {@linkcode decodeBase64String} does, by the base64 decoder
 * of the runtime and one call of the lenient UTF-8 decoder. Throws where only that
 * function can decode them, or fail.
 */
export function decodeBase64Pair(first: string, second: string): string[] {
  try {
    const middle = setFromBase64(buffer, first);
    const length = setFromBase64(buffer.subarray(middle + 1), second);
    const text = lenientUtf8.decode(buffer.subarray(0, middle + 1 + length));
    // A zero byte separates the two strings. It is at another index if the first one
    // is not ASCII or contains a zero, which the header of a JWT seldom does.
    if (text.indexOf("\0") === middle && !text.includes("\ufffd")) {
      return [text.slice(0, middle), text.slice(middle + 1)];
    }
    throw new SyntaxError();
  } finally {
    // The claims must not stay readable here.
    buffer.fill(0, 0, first.length + second.length);
  }
}

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
  // `atob` ignores whitespace. The length shows that there is none, unless there is
  // padding; to search every string would take longer.
  const isUnpadded = base64.length === Math.ceil(binary.length * 4 / 3);
  if (!isUnpadded && /\s/.test(base64)) throw new SyntaxError();
  // Most claims are ASCII, and need no decoder, or only their end does.
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
