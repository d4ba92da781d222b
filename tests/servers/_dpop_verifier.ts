/** Verification of DPoP proofs with `jose` (RFC 9449, section 4.3). */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } from "jose";

const MAX_AGE_SECONDS = 60;

/** An invalid proof, with an error code of RFC 9449, section 7.1. */
export class DpopError extends Error {
  readonly code: "invalid_dpop_proof" | "use_dpop_nonce";

  constructor(
    code: "invalid_dpop_proof" | "use_dpop_nonce",
    message: string,
  ) {
    super(message);
    this.code = code;
  }
}

export interface DpopVerifier {
  /** The nonce that the next proof requires; it changes with each request. */
  readonly nonce: string | undefined;
  /**
   * Returns the thumbprint of the key of a request's proof; throws a `DpopError`
   * without a valid proof. A request without an access token is one for a token.
   */
  verify(
    request: Pick<Request, "headers" | "method" | "url">,
    accessToken?: string,
  ): Promise<string>;
}

/** Creates a verifier, which with `nonces` requires the newest nonce. */
export function createDpopVerifier(nonces: boolean): DpopVerifier {
  const seen = new Set<string>();
  let nonce = nonces ? crypto.randomUUID() as string : undefined;

  async function readProof({ headers }: Pick<Request, "headers">) {
    try {
      return await jwtVerify(headers.get("DPoP") ?? "", EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: ["ES256", "EdDSA", "PS256", "RS256"],
        maxTokenAge: MAX_AGE_SECONDS,
        requiredClaims: ["jti", "htm", "htu", "iat"],
      });
    } catch (error) {
      // Any other error is a fault of the test, and no invalid proof.
      if (!(error instanceof errors.JOSEError)) throw error;
      throw new DpopError("invalid_dpop_proof", error.message);
    }
  }

  return {
    get nonce() {
      return nonce;
    },
    async verify(request, accessToken) {
      const { payload, protectedHeader } = await readProof(request);
      const { origin, pathname } = new URL(request.url);
      const expected = {
        htm: request.method,
        htu: origin + pathname,
        ath: accessToken === undefined
          ? undefined
          : createHash("sha256").update(Buffer.from(accessToken))
            .digest("base64url"),
      };
      for (const [name, value] of Object.entries(expected)) {
        if (payload[name] !== value) {
          throw new DpopError("invalid_dpop_proof", `${name} does not match`);
        }
      }
      if (seen.has(String(payload.jti))) {
        throw new DpopError("invalid_dpop_proof", "The proof was used already");
      }
      if (payload.nonce !== nonce) {
        throw new DpopError("use_dpop_nonce", "The nonce is not the newest");
      }
      seen.add(String(payload.jti));
      if (nonces) nonce = crypto.randomUUID();
      return await calculateJwkThumbprint(protectedHeader.jwk!);
    },
  };
}
