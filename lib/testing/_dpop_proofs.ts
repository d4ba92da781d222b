/** Checks of DPoP proofs (RFC 9449, section 4.3). */

import { decodeBase64Url, hashBase64Url } from "../core/_base64.ts";
import { decodeJwt } from "../core/_jwt.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";
import { refusal } from "./_refusals.ts";
import type { TestRequest } from "./request.ts";
import type { TestSwitches } from "./switches.ts";

/** By JOSE names, as Web Crypto imports keys and verifies. */
const ALGORITHMS: Readonly<
  Record<string, EcdsaParams & EcKeyImportParams | RsaHashedImportParams>
> = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  EdDSA: { name: "Ed25519", hash: "" },
  // The name since RFC 9864.
  Ed25519: { name: "Ed25519", hash: "" },
  PS256: { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 } as
    & RsaHashedImportParams
    & RsaPssParams,
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
};

export const DPOP_ALGORITHMS = Object.keys(ALGORITHMS);

/** The age limit of a proof, past or future. */
const MAX_AGE_SECONDS = 60;

const NONCE_MS = 300_000;

const invalid = (why: string) => refusal("invalid_dpop_proof", why);

/** Decodes a proof, and checks its signature by its own key. */
async function readProof(proof: string) {
  const [input = "", signature = ""] = /^(.*)\.(.*)$/.exec(proof)?.slice(1) ??
    [];
  try {
    const { header: { typ, alg, jwk }, claims } = decodeJwt(proof);
    const algorithm = ALGORITHMS[String(alg)];
    const key = jwk as JsonWebKey & { kty: string };
    if (typ === "dpop+jwt" && algorithm && !("d" in key)) {
      const isSigned = await subtleCrypto().verify(
        algorithm,
        await subtleCrypto().importKey("jwk", key, algorithm, true, ["verify"]),
        decodeBase64Url(signature),
        new TextEncoder().encode(input),
      );
      if (isSigned) return { key, claims };
    }
  } catch {
    // Not a JWT, or not a public key.
  }
  throw invalid(
    `DPoP is not a JWT of type dpop+jwt, signed with its public jwk by ${
      DPOP_ALGORITHMS.join(", ")
    }`,
  );
}

export class DpopProofs {
  readonly #server: "authorization" | "resource";
  readonly #switches: Readonly<TestSwitches>;
  readonly #now: () => number;
  readonly #used = new Set<unknown>();

  constructor(
    server: "authorization" | "resource",
    switches: Readonly<TestSwitches>,
    now: () => number,
  ) {
    this.#server = server;
    this.#switches = switches;
    this.#now = now;
  }

  /**
   * Returns the key thumbprint (RFC 7638) of a request's proof. A request without an
   * access token is for a token.
   */
  async thumbprintOf(
    { headers, method, url }: Pick<TestRequest, "headers" | "method" | "url">,
    accessToken?: string,
  ): Promise<string | undefined> {
    const proof = headers.get("DPoP");
    const { dpop, dpopNonce } = this.#switches;
    if (proof === null || dpop === "ignored") return undefined;
    const { key, claims } = await readProof(proof);
    const expected = {
      htm: method,
      htu: url.origin + url.pathname,
      ath: accessToken && await hashBase64Url(accessToken),
    };
    for (const [name, value] of Object.entries(expected)) {
      if (claims[name] === value) continue;
      throw invalid(`${name} is ${claims[name]}, expected ${value}`);
    }
    const seconds = Math.round(Number(claims.iat) - this.#now() / 1000);
    if (!(Math.abs(seconds) <= MAX_AGE_SECONDS)) {
      throw invalid(
        `iat is ${seconds} seconds from the clock of the servers: pass their now to createDpop`,
      );
    }
    const { jti } = claims;
    if (typeof jti !== "string" || this.#used.has(jti)) {
      throw invalid("jti is missing, or was used before");
    }
    const period = Math.floor(this.#now() / NONCE_MS);
    const nonce = `nonce-${this.#server}-${period}`;
    if (dpopNonce && claims.nonce !== nonce) {
      const why = "The proof does not contain the nonce of DPoP-Nonce";
      throw refusal("use_dpop_nonce", why, 400, { "DPoP-Nonce": nonce });
    }
    this.#used.add(jti);
    const { crv, e, kty, n, x, y } = key;
    return await hashBase64Url(JSON.stringify({ crv, e, kty, n, x, y }));
  }
}
