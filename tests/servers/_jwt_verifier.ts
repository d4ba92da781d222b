/**
 * Verification of JWT access tokens (RFC 9068) with `jose` and the keys that their
 * authorization server publishes.
 */
import {
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";

/** Fetches metadata from the URL where oidc-provider publishes it. */
async function readServerMetadata(
  issuer: string,
): Promise<{ jwks_uri: string }> {
  const url = `${issuer}/.well-known/openid-configuration`;
  const response = await fetch(url);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} responded with ${response.status}`);
  }
  return await response.json();
}

/**
 * Creates a function that returns the claims of a token that one of `issuers`
 * issued for `audience` (RFC 9068, section 4), and else throws an error of `jose`.
 * A bound token requires the `thumbprint` of the key of a proof.
 */
export function createJwtVerifier(issuers: string[], audience: string) {
  const keys = new Map<string, JWTVerifyGetKey>();
  return async (token: string, thumbprint?: string): Promise<JWTPayload> => {
    const { iss = "" } = decodeJwt(token);
    // First, because the claim determines which keys are fetched.
    if (!issuers.includes(iss)) {
      throw new errors.JWTInvalid(`Issuer ${iss} is not trusted here`);
    }
    let key = keys.get(iss);
    if (!key) {
      const { jwks_uri } = await readServerMetadata(iss);
      keys.set(iss, key = createRemoteJWKSet(new URL(jwks_uri)));
    }
    const options = { issuer: iss, audience, typ: "at+jwt" };
    const { payload } = await jwtVerify(token, key, options);
    // RFC 9449, section 7.2: a bound token must not be accepted as a bearer token,
    // nor a bearer token as a bound one.
    const { jkt } = (payload.cnf ?? {}) as { jkt?: unknown };
    if (jkt !== thumbprint) {
      throw new errors.JWTInvalid(
        "The token is bound to another key, or to none",
      );
    }
    return payload;
  };
}

/** Returns the scopes of a token (RFC 9068, section 2.2.3). */
export function scopesOf({ scope }: JWTPayload): string[] {
  return typeof scope === "string" ? scope.split(" ") : [];
}
