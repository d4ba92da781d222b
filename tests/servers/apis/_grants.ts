/** What the imitated authorization servers have in common: codes, PKCE and tokens. */
import { createHash } from "node:crypto";
import { type JWTPayload, SignJWT } from "jose";
import { pairOf, rsa } from "../../support/keys.ts";
import type { IHostRequest } from "./_hosts.ts";

/** What a user has agreed to. */
export interface IGrant {
  clientId: string;
  redirectUri: string;
  scopes: string[];
  challenge: string | null;
  nonce: string | null;
}

/** Returns what an authorization request asks for. */
export function grantOf(query: URLSearchParams): IGrant {
  return {
    clientId: query.get("client_id") ?? "",
    redirectUri: query.get("redirect_uri") ?? "",
    scopes: (query.get("scope") ?? "").split(" ").filter(Boolean),
    challenge: query.get("code_challenge"),
    nonce: query.get("nonce"),
  };
}

/** Creates an empty set of codes or tokens, whose values begin with `prefix`. */
export function createValues(prefix: string, now: () => number) {
  const kept = new Map<string, { grant: IGrant; expiresAt: number }>();
  /** Returns the grant of a value that has not expired. */
  const find = (value: string | null | undefined): IGrant | undefined => {
    const { grant, expiresAt = 0 } = kept.get(value ?? "") ?? {};
    return expiresAt > now() ? grant : undefined;
  };
  return {
    issue(grant: IGrant, seconds: number): string {
      const value = prefix + crypto.randomUUID().replaceAll("-", "");
      kept.set(value, { grant, expiresAt: now() + seconds * 1000 });
      return value;
    },
    find,
    /** As `find()`, for a value that can be used once. */
    take(value: string | null): IGrant | undefined {
      const grant = find(value);
      kept.delete(value ?? "");
      return grant;
    },
    clear: () => kept.clear(),
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();

/** Checks the verifier of a token request (RFC 7636, section 4.6). */
export function isVerified(
  { challenge }: IGrant,
  form: URLSearchParams,
): boolean {
  const verifier = form.get("code_verifier");
  if (challenge === null) return verifier === null;
  return challenge === sha256(verifier ?? "").toString("base64url");
}

/** Returns a redirect to the client, with the state of the request. */
export function redirectBack(
  query: URLSearchParams,
  parameters: Record<string, string>,
): Response {
  const url = new URL(query.get("redirect_uri") ?? "");
  for (const [name, value] of Object.entries(parameters)) {
    url.searchParams.set(name, value);
  }
  const state = query.get("state");
  if (state !== null) url.searchParams.set("state", state);
  return new Response(null, { status: 302, headers: { Location: url.href } });
}

/** Checks whether a redirect URI is a registered one, but for its port. */
export function isSameButForPort(uri: string, registered: string): boolean {
  if (!URL.canParse(uri)) return false;
  const url = new URL(uri);
  url.port = "";
  return url.href === new URL(registered).href;
}

/** Returns the credentials of a request, and by which method they were sent. */
export function credentialsOf({ headers, form }: IHostRequest) {
  const basic = /^Basic (.+)$/.exec(headers.get("Authorization") ?? "")?.[1];
  if (basic !== undefined) {
    const [id = "", secret = ""] = atob(basic).split(":")
      .map(decodeURIComponent);
    return { method: "basic", id, secret };
  }
  const id = form.get("client_id") ?? "";
  const secret = form.get("client_secret") ?? undefined;
  return { method: secret === undefined ? "none" : "post", id, secret };
}

/** The key of an issuer, which signs with RS256. */
export async function createSigningKey() {
  const { privateKey, publicKey } = await pairOf(
    rsa("RSASSA-PKCS1-v1_5", "SHA-256"),
  );
  const sign = (claims: JWTPayload) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "1" })
      .sign(privateKey);
  return {
    publicKey,
    sign,
    /** Signs an ID token that belongs to an access token. */
    async signIdToken(claims: JWTPayload, accessToken: string) {
      const at_hash = sha256(accessToken).subarray(0, 16)
        .toString("base64url");
      return await sign({ ...claims, at_hash });
    },
  };
}

/** A JSON response that is not kept by caches (RFC 6749, section 5.1). */
export function reply(body: unknown, status = 200): Response {
  return Response.json(body, {
    status,
    headers: { "Cache-Control": "no-store" },
  });
}
