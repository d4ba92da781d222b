/** A self-signed certificate, made where it is used, so that no client trusts it. */

import { generateKeyPairSync, sign } from "node:crypto";

export interface Certificate {
  key: string;
  cert: string;
}

const SEQUENCE = 0x30;
const SET = 0x31;
// ecdsa-with-SHA256, id-at-commonName, id-ce-subjectAltName
const SIGNATURE_OID = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME_OID = [0x55, 0x04, 0x03];
const ALT_NAME_OID = [0x55, 0x1d, 0x11];

type Bytes = Uint8Array | readonly number[];

function der(tag: number, ...parts: Bytes[]): Uint8Array {
  const content = parts.flatMap((part) => [...part]);
  const { length } = content;
  const size = length < 128
    ? [length]
    : length < 256
    ? [0x81, length]
    : [0x82, length >> 8, length & 255];
  return Uint8Array.from([tag, ...size, ...content]);
}

function text(tag: number, value: string): Uint8Array {
  return der(tag, new TextEncoder().encode(value));
}

function oid(bytes: Bytes): Uint8Array {
  return der(0x06, bytes);
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = btoa(String.fromCharCode(...bytes)).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""]
    .join("\n");
}

/**
 * A certificate for 127.0.0.1, signed by its own key (RFC 5280, section 4.1), valid
 * until 2049 or expired in 2021.
 */
export function createCertificate(
  { isExpired = false } = {},
): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", {
    namedCurve: "prime256v1",
  });
  const algorithm = der(SEQUENCE, oid(SIGNATURE_OID));
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, oid(COMMON_NAME_OID), text(0x0c, "untrusted"))),
  );
  const altNames = der(SEQUENCE, der(0x87, [127, 0, 0, 1]));
  const content = der(
    SEQUENCE,
    der(0xa0, der(0x02, [2])),
    der(0x02, [1]),
    algorithm,
    name,
    der(
      SEQUENCE,
      text(0x17, "200101000000Z"),
      text(0x17, `${isExpired ? 21 : 49}0101000000Z`),
    ),
    name,
    new Uint8Array(publicKey.export({ type: "spki", format: "der" })),
    der(
      0xa3,
      der(SEQUENCE, der(SEQUENCE, oid(ALT_NAME_OID), der(0x04, altNames))),
    ),
  );
  const signature = new Uint8Array(sign("sha256", content, privateKey));
  return {
    key: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    cert: pem(
      "CERTIFICATE",
      der(SEQUENCE, content, algorithm, der(0x03, [0], signature)),
    ),
  };
}
