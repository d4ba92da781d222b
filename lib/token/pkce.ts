import { encodeBase64Url, hashBase64Url } from "../core/_base64.ts";

/**
 * A PKCE code verifier and its code challenge (RFC 7636, section 4).
 *
 * @category Messages of the protocol
 */
export interface PkcePair {
  /** Secret that the client keeps until the token request; 43 characters. */
  codeVerifier: string;
  /** SHA-256 of the verifier in base64url, for the authorization request. */
  codeChallenge: string;
}

/** 256 random bits in base64url, as RFC 7636, section 7.1, recommends. */
function randomString(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * Creates a PKCE code verifier of 256 random bits and its `S256` code challenge. Store
 * the verifier with the request, and use it only once.
 *
 * @see RFC 7636, sections 4.1 and 4.2.
 *
 * @example Start a request that can be finished after a restart
 * ```ts
 * import { createPkcePair, createState } from "@oauth-helper/client";
 *
 * async function startRequest(pending: Map<string, string>) {
 *   const state = createState();
 *   const { codeVerifier, codeChallenge } = await createPkcePair();
 *   pending.set(state, codeVerifier);
 *   return new URLSearchParams({
 *     state,
 *     code_challenge: codeChallenge,
 *     code_challenge_method: "S256",
 *   });
 * }
 * console.log(`${await startRequest(new Map())}`);
 * ```
 *
 * @category Messages of the protocol
 */
export async function createPkcePair(): Promise<PkcePair> {
  const codeVerifier = randomString();
  return { codeVerifier, codeChallenge: await hashBase64Url(codeVerifier) };
}

/**
 * Creates a `state` of 256 random bits in base64url. Store it in the user's own
 * session: it binds a response to its request, which prevents cross-site request
 * forgery.
 *
 * @see RFC 6749, section 10.12.
 *
 * @example Set a cookie that a callback is compared with
 * ```ts
 * import { createState } from "@oauth-helper/client";
 *
 * const headers = new Headers();
 * const attributes = "Path=/callback; HttpOnly; Secure; SameSite=Lax";
 * headers.set("Set-Cookie", `state=${createState()}; ${attributes}`);
 * console.log(new Response(null, { headers }).headers.get("Set-Cookie"));
 * ```
 *
 * @category Messages of the protocol
 */
export function createState(): string {
  return randomString();
}
