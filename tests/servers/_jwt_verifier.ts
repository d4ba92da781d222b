/**
 * What the resource servers among the fixtures share: verifying a JWT access
 * token with `jose` against the keys its authorization server publishes.
 */
import {
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";

/** The document at path addition, where oidc-provider serves it for any path. */
export async function readServerMetadata<T = { jwks_uri: string }>(
  issuer: string,
): Promise<T> {
  const address = `${issuer}/.well-known/openid-configuration`;
  const response = await fetch(address);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${address} answered ${response.status}`);
  }
  return await response.json();
}

/**
 * A function that resolves to a token's claims when one of `issuers` made it
 * for `audience` (RFC 9068, 4), and throws an error of `jose` otherwise. A token
 * that is bound to a key must come with the thumbprint of a proof by that key.
 */
export function createJwtVerifier(issuers: string[], audience: string) {
  const keys = new Map<string, JWTVerifyGetKey>();
  return async (token: string, thumbprint?: string): Promise<JWTPayload> => {
    const { iss = "" } = decodeJwt(token);
    // Before anything is fetched: this claim comes from the caller.
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
    // RFC 9449, 7.2: a bound token must not be taken as a bearer token, nor a
    // bearer token as a bound one.
    const { jkt } = (payload.cnf ?? {}) as { jkt?: unknown };
    if (jkt !== thumbprint) {
      throw new errors.JWTInvalid(
        "The token is bound to another key, or to none",
      );
    }
    return payload;
  };
}

/** The scopes that a token carries (RFC 9068, 2.2.3). */
export function scopesOf({ scope }: JWTPayload): string[] {
  return typeof scope === "string" ? scope.split(" ") : [];
}
