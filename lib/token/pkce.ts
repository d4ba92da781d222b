/**
 * The secrets of one authorization request: PKCE and `state`.
 *
 * @module
 */

import { encodeBase64Url, hashBase64Url } from "../core/_base64.ts";

/** A PKCE verifier and the challenge made from it (RFC 7636). */
export interface IPkcePair {
  /** Kept by the client until the token request; 43 characters. */
  codeVerifier: string;
  /** Sent with the authorization request. */
  codeChallenge: string;
}

/** 256 random bits, as RFC 7636, section 7.1, recommends. */
function random(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * Makes a PKCE verifier of 256 random bits and its challenge by method `S256`.
 * Keep the verifier with the request it was made for, and use it once.
 *
 * @see RFC 7636, sections 4.1 and 4.2.
 *
 * @example Prepare an authorization request
 * ```ts
 * import { createPkcePair } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { codeVerifier, codeChallenge } = await createPkcePair();
 * assertEquals([codeVerifier.length, codeChallenge.length], [43, 43]);
 * ```
 */
export async function createPkcePair(): Promise<IPkcePair> {
  const codeVerifier = random();
  return { codeVerifier, codeChallenge: await hashBase64Url(codeVerifier) };
}

/**
 * Makes a `state` of 256 random bits, which ties the redirect back to the
 * request that was sent.
 *
 * @see RFC 6749, section 10.12.
 *
 * @example Prepare an authorization request
 * ```ts
 * import { createState } from "@oauth-helper/client";
 * import { assertNotEquals } from "@std/assert";
 *
 * assertNotEquals(createState(), createState());
 * ```
 */
export function createState(): string {
  return random();
}
