/**
 * Demonstrating proof of possession (RFC 9449): tokens that are of use only to
 * the holder of a key.
 *
 * @module
 */

import {
  requireArgument,
  requireHttpUrl,
  requireObject,
  requireText,
} from "../core/_arguments.ts";
import { hashBase64Url } from "../core/_base64.ts";
import { signJwt, verifies } from "./_jws.ts";
import { findChallenge } from "../core/challenge.ts";
import type { IWebCryptoKeyPair, WebCryptoKey } from "../core/types.ts";

/** What a request that is to be proven looks like. */
export interface IDpopRequest {
  /** HTTP method. */
  method: string;
  /** Address; its query and fragment take no part in the proof. */
  url: string;
  /** The access token that goes with the request; none at a token endpoint. */
  accessToken?: string | undefined;
}

/** A reply as {@linkcode IDpop.noteReply} reads it; a `Response` will do. */
export interface IDpopReply {
  /** HTTP status. */
  readonly status: number;
  /** Header fields. */
  readonly headers: { get(name: string): string | null };
}

/** A key pair, and the nonces that servers gave for it. */
export interface IDpop {
  /** JWK thumbprint of the public key (RFC 7638), as in `cnf.jkt` of a token. */
  readonly thumbprint: string;
  /** A fresh proof for one request. */
  createProof(request: IDpopRequest): Promise<string>;
  /**
   * The header fields for one request: `DPoP` with a fresh proof and, with an
   * access token, `Authorization`.
   */
  createHeaders(request: IDpopRequest): Promise<Record<string, string>>;
  /**
   * Remembers the nonce that a reply brings, for its origin. True when the
   * server refused for the lack of it, so that the request is to be made once
   * more, with fresh header fields.
   */
  noteReply(url: string, reply: IDpopReply): boolean;
}

/** Options of {@linkcode createDpop}. */
export interface ICreateDpopOptions {
  /** Keys to use; a fresh non-extractable P-256 pair when absent. */
  keyPair?: IWebCryptoKeyPair | undefined;
  /** The time in milliseconds since the Unix epoch; `Date.now` when absent. */
  now?: (() => number) | undefined;
}

/** The public members of a key, in the order of RFC 7638, section 3.3. */
async function publicJwkOf(key: WebCryptoKey): Promise<Record<string, string>> {
  const { crv, e, kty, n, x, y } = await crypto.subtle.exportKey("jwk", key);
  const members = Object.entries({ crv, e, kty, n, x, y });
  return Object.fromEntries(
    members.filter((member): member is [string, string] => Boolean(member[1])),
  );
}

/** Whether two keys belong together, as far as the public one lets itself use. */
async function isPair(
  privateKey: WebCryptoKey,
  publicKey: WebCryptoKey,
): Promise<boolean> {
  if (!publicKey.usages.includes("verify")) {
    return privateKey.algorithm.name === publicKey.algorithm.name;
  }
  return await verifies(await signJwt({}, {}, privateKey), publicKey);
}

/** A method as `fetch` sends it: these six in capitals, others as they are. */
function methodName(method: string): string {
  return /^(delete|get|head|options|post|put)$/i.test(method)
    ? method.toUpperCase()
    : method;
}

/**
 * Makes what is needed to prove possession of a key: pass it to
 * {@linkcode fetchToken} and use it for calls with the token. One of them serves
 * any number of servers and tokens; it keeps nothing but the key and, for each
 * origin, the last nonce.
 *
 * @throws {OAuthClientError} `invalid_argument`: the keys are not a pair for
 * signing with ECDSA, Ed25519 or RSA.
 * @see RFC 9449, sections 4.2, 7.1, 8 and 9.
 *
 * @example Call a resource with a bound token
 * ```ts
 * import { createDpop } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const dpop = await createDpop();
 *
 * async function call(url: string, accessToken: string): Promise<Response> {
 *   const send = async () =>
 *     await fetch(url, {
 *       headers: await dpop.createHeaders({ method: "GET", url, accessToken }),
 *     });
 *   const response = await send();
 *   if (!dpop.noteReply(url, response)) return response;
 *   await response.body?.cancel();
 *   return await send();
 * }
 * assertEquals(dpop.thumbprint.length, 43);
 * assertEquals(call.length, 2);
 * ```
 */
export async function createDpop(
  options: ICreateDpopOptions = {},
): Promise<IDpop> {
  const { now = Date.now } = requireObject("options", options);
  const { privateKey, publicKey } = options.keyPair ??
    await crypto.subtle.generateKey(
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["sign", "verify"],
    );
  requireArgument(
    privateKey?.type === "private" && privateKey.usages.includes("sign") &&
      publicKey?.type === "public" && publicKey.extractable &&
      await isPair(privateKey, publicKey),
    "keyPair",
    "a pair of CryptoKeys for signing, its public key extractable",
  );
  const jwk = await publicJwkOf(publicKey);
  const nonces = new Map<string, string>();

  const createProof = async (
    { method, url, accessToken }: IDpopRequest,
  ): Promise<string> => {
    const target = requireHttpUrl("url", url);
    const nonce = nonces.get(target.origin);
    target.search = target.hash = "";
    return await signJwt(
      { typ: "dpop+jwt", jwk },
      {
        jti: crypto.randomUUID(),
        htm: methodName(requireText("method", method)),
        htu: target.href,
        iat: Math.floor(now() / 1000),
        ...(nonce !== undefined && { nonce }),
        ...(accessToken && { ath: await hashBase64Url(accessToken) }),
      },
      privateKey,
    );
  };

  return {
    thumbprint: await hashBase64Url(JSON.stringify(jwk)),
    createProof,
    async createHeaders(request) {
      const { accessToken } = request;
      return {
        DPoP: await createProof(request),
        ...(accessToken && { Authorization: `DPoP ${accessToken}` }),
      };
    },
    noteReply(url, { status, headers }) {
      const nonce = headers.get("DPoP-Nonce");
      if (!nonce) return false;
      nonces.set(requireHttpUrl("url", url).origin, nonce);
      // A token endpoint says so in its body, which fetchToken reads.
      return status === 401 &&
        findChallenge(headers, ["DPoP"])?.params.error === "use_dpop_nonce";
    },
  };
}
