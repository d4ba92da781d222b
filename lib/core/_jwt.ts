import { decodeBase64String } from "./_base64.ts";
import { isMembers, type Members } from "./_members.ts";
import { OAuthClientError } from "./errors.ts";
import type { IAuthorizationJWTClaims as Claims } from "./types.ts";

function parsePart(name: "header" | "payload", part: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(decodeBase64String(part));
  } catch (failure) {
    // The parser's message quotes the token.
    if (!(failure instanceof Error)) {
      throw new OAuthClientError("invalid_jwt", "Failed to parse JWT token");
    }
  }
  if (isMembers(value)) return value;
  throw new OAuthClientError(
    "invalid_jwt",
    `Failed to parse JWT token: Invalid JWT token format: ${name} is not a JSON object`,
  );
}

/** Decodes a JWT without verifying it. No message quotes the token. */
export function decodeJwt(token: string): { header: Members; claims: Claims } {
  // The limit bounds the array for a string of dots.
  const parts = String(token).split(".", 4);
  if (parts.length !== 3) {
    throw new OAuthClientError(
      "invalid_jwt",
      "Invalid JWT token format: token must have three parts separated by dots",
    );
  }
  return {
    header: parsePart("header", parts[0]!),
    claims: parsePart("payload", parts[1]!) as Claims,
  };
}

/**
 * Returns unverified claims; undefined for an encrypted token, or if it is not a JWT.
 */
export function readClaims(token = ""): Claims | undefined {
  try {
    return decodeJwt(token).claims;
  } catch {
    return undefined;
  }
}
