/**
 * A second reading of an unverified JWT, written from RFC 7519 section 7.2, RFC
 * 7515 sections 2 and 7.1, RFC 4648 sections 3 to 5 and RFC 3629 section 4, so
 * that the fuzzer can hold `getClaimsFromJWT()` against it. Slow, in small steps.
 *
 * Two readings: the strict one accepts what the RFCs let an issuer write. The wide
 * one adds what the library documents: both alphabets, padded or not. Where RFC
 * 4648 lets a decoder choose (section 3.5), it ignores the bits left over; it
 * lets one part mix the alphabets; the signature it does not read.
 */
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";

/** Header and claims. */
export interface IReferenceJwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const FIRST_62 = `${CAPITALS}${CAPITALS.toLowerCase()}0123456789`;
const SEXTETS = new Map([
  ...[...`${FIRST_62}+/`].entries().map(([six, char]) => [char, six] as const),
  ["-", 62],
  ["_", 63],
]);

/** The octets of base64 in either alphabet; undefined when it is none. */
function octetsOf(text: string): number[] | undefined {
  const digits = text.endsWith("==")
    ? text.slice(0, -2)
    : text.endsWith("=")
    ? text.slice(0, -1)
    : text;
  // Section 4: padding completes the last quantum and does nothing else.
  if (digits !== text && text.length % 4 !== 0) return undefined;
  // One character more than whole quanta holds no octet.
  if (digits.length % 4 === 1) return undefined;
  const octets: number[] = [];
  let bits = 0;
  let count = 0;
  for (const digit of digits) {
    const sextet = SEXTETS.get(digit);
    if (sextet === undefined) return undefined;
    bits = bits * 64 + sextet;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    octets.push(Math.floor(bits / 2 ** count));
    bits %= 2 ** count;
  }
  return octets;
}

/** The forms of RFC 3629, section 4: first octet, then the others, by ranges. */
const TAIL = [0x80, 0xbf] as const;
const UTF8_FORMS: (readonly (readonly [from: number, to: number])[])[] = [
  [[0x00, 0x7f]],
  [[0xc2, 0xdf], TAIL],
  [[0xe0, 0xe0], [0xa0, 0xbf], TAIL],
  [[0xe1, 0xec], TAIL, TAIL],
  [[0xed, 0xed], [0x80, 0x9f], TAIL],
  [[0xee, 0xef], TAIL, TAIL],
  [[0xf0, 0xf0], [0x90, 0xbf], TAIL, TAIL],
  [[0xf1, 0xf3], TAIL, TAIL, TAIL],
  [[0xf4, 0xf4], [0x80, 0x8f], TAIL, TAIL],
];
const LEADING_BITS = [0, 0x7f, 0x1f, 0x0f, 0x07];

/** The string of octets; undefined if they are not UTF-8. */
function textOf(octets: readonly number[]): string | undefined {
  let text = "";
  for (let at = 0; at < octets.length;) {
    const form = UTF8_FORMS.find((form) =>
      form.every(([from, to], index) => {
        const octet = octets[at + index];
        return octet !== undefined && octet >= from && octet <= to;
      })
    );
    if (form === undefined) return undefined;
    let point = octets[at]! & LEADING_BITS[form.length]!;
    for (let index = 1; index < form.length; index++) {
      point = point * 64 + (octets[at + index]! & 0x3f);
    }
    text += String.fromCodePoint(point);
    at += form.length;
  }
  return text;
}

/** The JSON object that octets hold; undefined when they hold anything else. */
function objectOf(
  octets: readonly number[] | undefined,
): Record<string, unknown> | undefined {
  const text = octets && textOf(octets);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = Object.prototype.toString.call(value) ===
      "[object Object]";
    return isObject ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

function jwtOf(
  [header, claims]: (Record<string, unknown> | undefined)[],
): IReferenceJwt | undefined {
  return header && claims ? { header, claims } : undefined;
}

/** Both objects of a token as the library documents it; undefined for none. */
export function referenceDecodeJwt(token: string): IReferenceJwt | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  return jwtOf(parts.slice(0, 2).map((part) => objectOf(octetsOf(part))));
}

/** Base64url as an issuer must write it: no padding, no bits left over. */
function strictOctetsOf(part: string): number[] | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(part)) return undefined;
  try {
    const octets = decodeBase64Url(part);
    return encodeBase64Url(octets) === part ? [...octets] : undefined;
  } catch {
    return undefined;
  }
}

/** Both objects of a token that keeps to the RFCs; undefined for any other. */
export function strictDecodeJwt(token: string): IReferenceJwt | undefined {
  const parts = token.split(".").map(strictOctetsOf);
  if (parts.length !== 3 || parts.includes(undefined)) return undefined;
  return jwtOf(parts.slice(0, 2).map(objectOf));
}
