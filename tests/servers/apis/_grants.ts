/** What the imitated authorization servers have in common: codes, PKCE and tokens. */
import { type JWTPayload, SignJWT } from "jose";
import { pairOf, rsa } from "../../support/keys.ts";

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

/** Codes or tokens, each with its grant. */
export interface IValues {
  issue(grant: IGrant, seconds: number): string;
  /** Returns the grant of a value that has not expired. */
  find(value: string | null | undefined): IGrant | undefined;
  delete(value: string | null): void;
  clear(): void;
}

/** Creates an empty set of codes or tokens, whose values begin with `prefix`. */
export function createValues(prefix: string, now: () => number): IValues {
  const kept = new Map<string, { grant: IGrant; expiresAt: number }>();
  return {
    issue(grant, seconds) {
      const value = prefix + crypto.randomUUID().replaceAll("-", "");
      kept.set(value, { grant, expiresAt: now() + seconds * 1000 });
      return value;
    },
    find(value) {
      const { grant, expiresAt = 0 } = kept.get(value ?? "") ?? {};
      return expiresAt > now() ? grant : undefined;
    },
    delete: (value) => void kept.delete(value ?? ""),
    clear: () => kept.clear(),
  };
}

function base64Url(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const sha256 = (text: string) =>
  crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));

/** Checks the verifier of a token request (RFC 7636, section 4.6). */
export async function isVerified(
  { challenge }: IGrant,
  form: URLSearchParams,
): Promise<boolean> {
  const verifier = form.get("code_verifier");
  if (challenge === null) return verifier === null;
  return challenge === base64Url(await sha256(verifier ?? ""));
}

/** Returns a redirect to the client, with the state of the request. */
export function redirectBack(
  query: URLSearchParams,
  parameters: Record<string, string>,
): Response {
  const url = new URL(query.get("redirect_uri") ?? "");
  const state = query.get("state");
  for (
    const [name, value] of Object.entries({
      ...parameters,
      ...(state !== null && { state }),
    })
  ) {
    url.searchParams.set(name, value);
  }
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
export function credentialsOf(headers: Headers, form: URLSearchParams) {
  const basic = /^Basic (.+)$/.exec(headers.get("Authorization") ?? "")?.[1];
  if (basic !== undefined) {
    const [id, secret] = atob(basic).split(":");
    return {
      method: "basic",
      id: decodeURIComponent(id ?? ""),
      secret: decodeURIComponent(secret ?? ""),
    };
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
      const digest = await sha256(accessToken);
      const at_hash = base64Url(digest.slice(0, digest.byteLength / 2));
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
