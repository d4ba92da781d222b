import {
  requireArgument,
  requireHttpUrl,
  requireNames,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { hashBase64Url } from "../core/_base64.ts";
import { keepFor } from "../core/_bounded.ts";
import { type ChallengeHeaders, findChallenges } from "../core/challenge.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";
import type { WebCryptoKey } from "../core/types.ts";
import { signJwt } from "./_jws.ts";

/**
 * The request that a proof is for.
 *
 * @category Clients
 */
export interface DpopRequest {
  /** HTTP method. */
  method: string;
  /** URL; its query and fragment are not part of the proof. */
  url: string | URL;
  /** Access token sent with the request; absent in a token request. */
  accessToken?: string | undefined;
}

/**
 * The members of a response that {@linkcode Dpop.noteResponse} reads.
 *
 * @category Clients
 */
export interface DpopResponse {
  /** HTTP status. */
  readonly status: number;
  /** Header fields. */
  readonly headers: ChallengeHeaders;
  /** Error code in the body of a token endpoint's error response. */
  readonly error?: string | undefined;
}

/**
 * A key pair, and the last DPoP nonce of each server.
 *
 * @category Clients
 */
export interface Dpop {
  /** JWK thumbprint of the public key (RFC 7638): the `cnf.jkt` of bound tokens. */
  readonly thumbprint: string;
  /** Returns a new proof for one request. */
  createProof(request: DpopRequest): Promise<string>;
  /**
   * Returns the header fields for one request: `DPoP` with a new proof and, with an
   * access token, `Authorization`.
   */
  createHeaders(request: DpopRequest): Promise<Record<string, string>>;
  /**
   * Stores a response's nonce for its URL's origin. Returns true if a resource requires
   * this nonce: then send the request again with new header fields.
   * {@linkcode fetchToken} does this for token requests.
   */
  noteResponse(url: string | URL, response: DpopResponse): boolean;
}

/** Options of {@linkcode createDpop}. */
export interface CreateDpopOptions {
  /**
   * Key pair for ECDSA, Ed25519 or RSA; a new non-extractable P-256 pair when absent.
   * Servers reject proofs of keys that are not a pair.
   */
  keyPair?:
    | { readonly publicKey: WebCryptoKey; readonly privateKey: WebCryptoKey }
    | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/** The required members of a public key, in the order of RFC 7638, section 3.3. */
async function publicJwkOf(key: WebCryptoKey): Promise<Record<string, string>> {
  const { crv, e, kty, n, x, y } = await subtleCrypto().exportKey("jwk", key);
  const members = Object.entries({ crv, e, kty, n, x, y });
  return Object.fromEntries(
    members.filter((member): member is [string, string] => Boolean(member[1])),
  );
}

/**
 * Returns a method as this runtime's `fetch` sends it: Node 26 sends `query` in upper
 * case, earlier versions do not.
 */
function methodName(method: string): string {
  try {
    return new Request("https://a.example", { method }).method;
  } catch {
    return method;
  }
}

/**
 * A token endpoint requires a nonce in the body (RFC 9449, section 8), a resource in a
 * challenge with status 401.
 */
function requiresNonce({ status, headers, error }: DpopResponse): boolean {
  const code = "use_dpop_nonce";
  return error === code ||
    (status === 401 &&
      findChallenges(headers, ["DPoP"])
        .some(({ params }) => params.error === code));
}

/**
 * Creates DPoP proofs with one key, for {@linkcode fetchToken} and for requests with
 * the resulting token.
 *
 * One object serves any number of servers and tokens. It keeps the key, and the last
 * nonce of up to 100 origins.
 *
 * @param options The key pair and the clock.
 * @throws {OAuthClientError} `invalid_argument`: `keyPair` contains no private key for
 * signing, or no extractable public key, or there is another option.
 * @see RFC 9449, sections 4.2, 7.1, 8 and 9.
 *
 * @example Call a resource with a bound token
 * ```ts
 * import { createDpop, getClaimsFromJWT } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * // Replaces a resource that requires a nonce in every proof.
 * function fetch(_url: string, init: { headers: Record<string, string> }) {
 *   const hasNonce = getClaimsFromJWT(init.headers.DPoP ?? "").nonce === "n1";
 *   return new Response(hasNonce ? "Hello" : "", {
 *     status: hasNonce ? 200 : 401,
 *     headers: {
 *       "DPoP-Nonce": "n1",
 *       ...(!hasNonce && { "WWW-Authenticate": 'DPoP error="use_dpop_nonce"' }),
 *     },
 *   });
 * }
 *
 * const dpop = await createDpop();
 *
 * async function call(url: string, accessToken: string): Promise<Response> {
 *   const send = async () =>
 *     await fetch(url, {
 *       headers: await dpop.createHeaders({ method: "GET", url, accessToken }),
 *     });
 *   const response = await send();
 *   if (!dpop.noteResponse(url, response)) return response;
 *   await response.body?.cancel();
 *   return await send();
 * }
 *
 * const response = await call("https://api.example/mcp", "t0ken");
 * assertEquals(await response.text(), "Hello");
 * ```
 *
 * @category Clients
 */
export async function createDpop(options?: CreateDpopOptions): Promise<Dpop> {
  const { keyPair, now = Date.now } = requireObject("options", options ?? {});
  // A misspelled keyPair would make a new key.
  requireNames(options ?? {}, ["keyPair", "now"], "createDpop");
  const { privateKey, publicKey } = keyPair ??
    await subtleCrypto().generateKey(
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["sign", "verify"],
    );
  requireArgument(
    privateKey?.type === "private" && privateKey.usages.includes("sign") &&
      publicKey?.type === "public" && publicKey.extractable,
    "keyPair",
    "a private CryptoKey for signing and its public key, extractable",
  );
  const jwk = await publicJwkOf(publicKey);
  const nonces = new Map<string, string>();

  const createProof = async (
    { method, url, accessToken }: DpopRequest,
  ): Promise<string> => {
    const { origin, pathname } = requireHttpUrl("url", url);
    const nonce = nonces.get(origin);
    return await signJwt(
      { typ: "dpop+jwt", jwk },
      {
        jti: crypto.randomUUID(),
        htm: methodName(requireNonEmptyString("method", method)),
        htu: origin + pathname,
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
    noteResponse(url, response) {
      const { origin } = requireHttpUrl("url", url);
      const nonce = response.headers.get("DPoP-Nonce");
      if (nonce) keepFor(nonces, origin, nonce);
      return Boolean(nonce) && requiresNonce(response);
    },
  };
}
