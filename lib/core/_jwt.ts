/** Decoding of JWTs in the JWS compact serialization (RFC 7515, section 7.1). */

import { decodeBase64Pair, decodeBase64String } from "./_base64.ts";
import { OAuthClientError } from "./errors.ts";
import type { IAuthorizationJWTClaims as Claims } from "./types.ts";

const FORMAT = "Invalid JWT token format:";

function invalidJwt(message: string): OAuthClientError {
  return new OAuthClientError("invalid_jwt", message);
}

function decodePart(
  name: "header" | "payload",
  part: string,
  decoded: string | undefined,
): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(decoded ?? decodeBase64String(part));
  } catch (failure) {
    // The message of the parser is not shown, as it quotes the token.
    throw invalidJwt(
      "Failed to parse JWT token" +
        (failure instanceof Error
          ? `: ${FORMAT} ${name} is not base64-encoded JSON`
          : ""),
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidJwt(
      `Failed to parse JWT token: ${FORMAT} ${name} is not a JSON object`,
    );
  }
  return value as Record<string, unknown>;
}

/**
 * Decodes the header and the claims of a JWT without verifying them. Throws
 * `invalid_jwt` with a message that quotes no part of the token.
 */
export function decodeJwt(
  token: string,
): { header: Record<string, unknown>; claims: Claims } {
  // Two searches are faster than `split`, which makes an array of every part.
  const first = typeof token === "string" ? token.indexOf(".") : -1;
  const second = first === -1 ? -1 : token.indexOf(".", first + 1);
  if (second === -1 || token.includes(".", second + 1)) {
    throw invalidJwt(`${FORMAT} token must have three parts separated by dots`);
  }
  const header = token.slice(0, first);
  const payload = token.slice(first + 1, second);
  const decoded = decodeBase64Pair(header, payload);
  return {
    header: decodePart("header", header, decoded?.[0]),
    claims: decodePart("payload", payload, decoded?.[1]) as Claims,
  };
}
