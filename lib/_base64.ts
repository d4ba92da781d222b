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
  // `atob` skips blanks in silence and knows one alphabet only.
  if (/\s/.test(base64)) throw new SyntaxError("blank in base64");
  const binary = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  // deno-lint-ignore no-control-regex
  return /^[\x00-\x7f]*$/.test(binary)
    ? binary
    : utf8.decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
}
