import { hashBase64Url } from "../core/_base64.ts";
import type { Client } from "./_clients.ts";
import type { IdTokens, SignedIn } from "./_id_tokens.ts";
import { refusal } from "./_refusals.ts";
import type { TestSwitches } from "./switches.ts";

/** A grant of a user, or of a server for its client. */
export interface Grant extends SignedIn {
  readonly scopes: readonly string[];
  isRevoked: boolean;
}

interface Code {
  readonly grant: Grant;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | null;
  /** Thumbprint of the code's key (RFC 9449, section 10). */
  readonly jkt: string | null;
  readonly expiresAt: number;
  isUsed: boolean;
}

interface AccessToken {
  readonly grant: Grant;
  readonly scopes: readonly string[];
  /** Thumbprint of the token's key; absent for a bearer token. */
  readonly jkt: string | undefined;
  expiresAt: number;
}

interface RefreshToken {
  readonly grant: Grant;
  readonly jkt: string | undefined;
  usedAt?: number;
}

const CODE_MS = 60_000;
/** Lifetime of the ID token, if the access token does not expire. */
const ID_TOKEN_SECONDS = 3_600;

const invalid = (why: string) => refusal("invalid_grant", why);

export class Grants {
  readonly #switches: Readonly<TestSwitches>;
  readonly #now: () => number;
  readonly #idTokens: IdTokens;
  readonly #codes = new Map<string, Code>();
  readonly #accessTokens = new Map<string, AccessToken>();
  readonly #refreshTokens = new Map<string, RefreshToken>();
  #count = 0;

  constructor(
    switches: Readonly<TestSwitches>,
    now: () => number,
    idTokens: IdTokens,
  ) {
    this.#switches = switches;
    this.#now = now;
    this.#idTokens = idTokens;
  }

  /** The random value starts with a name, so that logs can be searched for it. */
  unique(name: string): string {
    return `${name}-${++this.#count}-${crypto.randomUUID()}`;
  }

  newCode(
    grant: Grant,
    bound: Pick<Code, "redirectUri" | "challenge" | "nonce" | "jkt">,
  ): string {
    const code = this.unique("code");
    const expiresAt = this.#now() + CODE_MS;
    this.#codes.set(code, {
      ...{ ...bound, grant, expiresAt },
      isUsed: false,
    });
    return code;
  }

  /** Redeems a code, once (RFC 6749, section 4.1.3; RFC 7636). */
  async redeemCode(
    client: Client,
    form: URLSearchParams,
    jkt?: string,
  ): Promise<Response> {
    const code = this.#codes.get(form.get("code") ?? "");
    if (code?.grant.clientId !== client.client_id) {
      throw invalid("The code is not one of this client");
    }
    if (code.isUsed) {
      code.grant.isRevoked = true;
      throw invalid("The code was used before: its tokens are revoked");
    }
    code.isUsed = true;
    if (code.grant.isRevoked) throw invalid("The grant is revoked");
    if (code.expiresAt <= this.#now()) throw invalid("The code expired");
    if (form.get("redirect_uri") !== code.redirectUri) {
      throw invalid("redirect_uri does not match the authorization request");
    }
    const verifier = form.get("code_verifier") ?? "";
    const isVerifier = /^[\w.~-]{43,128}$/.test(verifier);
    if (!isVerifier || await hashBase64Url(verifier) !== code.challenge) {
      throw invalid("code_verifier does not match code_challenge");
    }
    if (code.jkt !== null && code.jkt !== jkt) {
      throw invalid("The proof is not by the key of dpop_jkt");
    }
    const { grant, nonce } = code;
    return await this.issue(client, grant, { nonce, jkt });
  }

  /** Returns the token response for a grant (RFC 6749, section 5.1). */
  async issue(
    client: Client,
    grant: Grant,
    { scopes = grant.scopes, refreshToken, nonce, jkt }: {
      scopes?: readonly string[];
      refreshToken?: string;
      nonce?: string | null;
      jkt?: string | undefined;
    } = {},
  ): Promise<Response> {
    const { lifetimeSeconds, refreshTokens } = this.#switches;
    const access_token = this.unique("access");
    const expiresAt = this.#now() + lifetimeSeconds * 1000;
    this.#accessTokens.set(access_token, { grant, scopes, jkt, expiresAt });
    let refresh_token = refreshToken;
    const { client_secret, grant_types } = client;
    const mayRefresh = grant_types?.includes("refresh_token") ?? true;
    if (!refresh_token && refreshTokens && mayRefresh) {
      refresh_token = this.unique("refresh");
      // A client with a secret proves its identity by that (RFC 9449, section 5).
      const bound = client_secret === undefined ? jkt : undefined;
      this.#refreshTokens.set(refresh_token, { grant, jkt: bound });
    }
    const isFinite = Number.isFinite(lifetimeSeconds);
    const hasIdToken = grant.user !== undefined && scopes.includes("openid");
    const id_token = hasIdToken &&
      await this.#idTokens.issue(
        grant,
        access_token,
        isFinite ? lifetimeSeconds : ID_TOKEN_SECONDS,
        nonce,
      );
    return Response.json({
      access_token,
      token_type: jkt ? "DPoP" : "Bearer",
      ...isFinite && { expires_in: lifetimeSeconds },
      ...id_token && { id_token },
      // A refresh token that does not rotate is not sent again.
      ...refresh_token !== refreshToken && { refresh_token },
      scope: scopes.join(" "),
    }, { headers: { "Cache-Control": "no-store" } });
  }

  /** Responds to a refresh (RFC 6749, section 6; RFC 9700, section 4.14.2). */
  async refresh(
    client: Client,
    form: URLSearchParams,
    jkt?: string,
  ): Promise<Response> {
    const { rotate, replaySeconds } = this.#switches;
    const value = form.get("refresh_token") ?? "";
    const token = this.#refreshTokens.get(value);
    if (token?.grant.clientId !== client.client_id) {
      throw invalid("The refresh token is not one of this client");
    }
    const { grant, usedAt } = token;
    if (grant.isRevoked) throw invalid("The grant is revoked");
    if (token.jkt !== undefined && token.jkt !== jkt) {
      throw invalid("The refresh token is bound to the key of another proof");
    }
    const scope = form.get("scope");
    const scopes = scope === null ? grant.scopes : scope.split(" ");
    if (!scopes.every((one) => grant.scopes.includes(one))) {
      throw refusal("invalid_scope", "A refresh cannot add scopes");
    }
    if (!rotate) {
      const refreshToken = value;
      return await this.issue(client, grant, { scopes, refreshToken, jkt });
    }
    if (usedAt !== undefined && this.#now() - usedAt >= replaySeconds * 1000) {
      grant.isRevoked = true;
      throw invalid("The refresh token was used before: the grant is revoked");
    }
    token.usedAt ??= this.#now();
    return await this.issue(client, grant, { scopes, jkt });
  }

  find(accessToken: string): Omit<AccessToken, "expiresAt"> | undefined {
    const token = this.#accessTokens.get(accessToken);
    const isValid = token && !token.grant.isRevoked &&
      token.expiresAt > this.#now();
    return isValid ? token : undefined;
  }

  accessTokens(): string[] {
    return [...this.#accessTokens.keys()].filter((one) => this.find(one));
  }

  /**
   * Revokes a token, or with a refresh token the whole grant (RFC 7009, section 2.1).
   */
  revokeToken(client: Client, value: string): void {
    const token = this.#refreshTokens.get(value);
    const { grant } = token ?? this.#accessTokens.get(value) ?? {};
    if (grant?.clientId !== client.client_id) return;
    if (token) grant.isRevoked = true;
    else this.#accessTokens.delete(value);
  }

  expireAccessTokens(): void {
    for (const token of this.#accessTokens.values()) token.expiresAt = 0;
  }

  revokeAll(): void {
    for (const { grant } of this.#accessTokens.values()) grant.isRevoked = true;
    for (const { grant } of this.#codes.values()) grant.isRevoked = true;
  }
}
