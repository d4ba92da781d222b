import { readClaims } from "../core/_jwt.ts";
import type { Token } from "./token.ts";

/** Options of {@linkcode isTokenExpired}. */
export interface IsTokenExpiredOptions {
  /**
   * Seconds before expiry when a token starts to count as expired.
   *
   * @default {30}
   */
  skewSeconds?: number | undefined;
  /**
   * Uses the `exp` claim of an access token that is a JWT, if the server sent no
   * `expires_in`.
   */
  readJwt?: boolean | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/**
 * Checks whether a token has expired or is about to expire. A token of unknown
 * lifetime counts as valid, until the resource responds with `401`.
 *
 * @see RFC 6749, section 5.1 (`expires_in`).
 *
 * @example Check a token before a call
 * ```ts
 * import { isTokenExpired } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = { access_token: "t", expires_at: 1000 };
 * assertEquals(isTokenExpired(token, { now: () => 900_000 }), false);
 * assertEquals(isTokenExpired(token, { now: () => 980_000 }), true);
 * ```
 *
 * @category Messages of the protocol
 */
export function isTokenExpired(
  token: Pick<Token, "access_token" | "expires_at">,
  options?: IsTokenExpiredOptions,
): boolean {
  const { skewSeconds = 30, readJwt = false, now = Date.now } = options ?? {};
  const { access_token, expires_at } = token;
  const expiresAt = typeof expires_at === "number"
    ? expires_at
    : readJwt && readClaims(access_token)?.exp;
  return typeof expiresAt === "number" &&
    now() / 1000 >= expiresAt - skewSeconds;
}
