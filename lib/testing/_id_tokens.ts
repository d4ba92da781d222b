/** ID tokens (OpenID Connect Core 1.0, section 2), and the key that signs them. */

import { encodeBase64Url } from "../core/_base64.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";

/** An ID token's facts about a sign-in. */
export interface SignedIn {
  readonly clientId: string;
  /** The subject identifier; absent if there was no user. */
  readonly user?: string | undefined;
  readonly acr: string | undefined;
  /** When the user signed in, in seconds since the Unix epoch. */
  readonly authTime?: number | undefined;
}

/** The header of each ID token, and members of the public key. */
const KEY = { kid: "test", alg: "ES256" };

/**
 * Returns the left half of a SHA-256 hash (OpenID Connect Core 1.0, section 3.1.3.6).
 */
async function halfHash(accessToken: string): Promise<string> {
  const bytes = new TextEncoder().encode(accessToken);
  const digest = await subtleCrypto().digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(digest, 0, digest.byteLength / 2));
}

export class IdTokens {
  readonly #issuer: string;
  readonly #now: () => number;
  #keys: Promise<CryptoKeyPair> | undefined;

  constructor(issuer: string, now: () => number) {
    this.#issuer = issuer;
    this.#now = now;
  }

  #keyPair(): Promise<CryptoKeyPair> {
    const algorithm = { name: "ECDSA", namedCurve: "P-256" };
    return this.#keys ??= subtleCrypto().generateKey(
      algorithm,
      false,
      ["sign", "verify"],
    );
  }

  async jwks(): Promise<{ keys: JsonWebKey[] }> {
    const { publicKey } = await this.#keyPair();
    const { kty, crv, x, y } = await subtleCrypto()
      .exportKey("jwk", publicKey);
    return { keys: [{ kty, crv, x, y, use: "sig", ...KEY } as JsonWebKey] };
  }

  async issue(
    { clientId, user, acr, authTime }: SignedIn,
    accessToken: string,
    lifetimeSeconds: number,
    nonce?: string | null,
  ): Promise<string> {
    const iat = Math.floor(this.#now() / 1000);
    const claims = {
      iss: this.#issuer,
      sub: user,
      aud: clientId,
      iat,
      exp: iat + lifetimeSeconds,
      auth_time: authTime,
      acr,
      at_hash: await halfHash(accessToken),
      ...nonce && { nonce },
    };
    const input = [KEY, claims]
      .map((part) => encodeBase64Url(JSON.stringify(part))).join(".");
    const { privateKey } = await this.#keyPair();
    const signature = await subtleCrypto().sign(
      { name: "ECDSA", hash: "SHA-256" },
      privateKey,
      new TextEncoder().encode(input),
    );
    return `${input}.${encodeBase64Url(new Uint8Array(signature))}`;
  }
}
