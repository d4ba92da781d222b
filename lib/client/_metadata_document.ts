/**
 * Rules of client metadata documents (draft-ietf-oauth-client-id-metadata-document-02).
 */

import { requireArgument } from "../core/_arguments.ts";
import { CREDENTIAL_MEMBERS } from "../core/_quote.ts";
import { isLoopback, parseUrl } from "../core/_url.ts";

/** The most bytes that servers read (section 8.7). */
export const MAX_DOCUMENT_BYTES = 5_120;

/**
 * Checks whether a URL can be a document's `client_id` (section 3): https with a path,
 * without a fragment or credentials, as `URL` writes it. Servers compare it as a
 * string.
 */
export function isDocumentUrl(text: string): boolean {
  const url = parseUrl(text);
  return url?.href === text && url.protocol === "https:" &&
    url.pathname !== "/" && !text.includes("#") && !url.username &&
    !url.password;
}

export function requireDocumentUrl(name: string, value: string | URL): string {
  const text = String(value);
  requireArgument(
    isDocumentUrl(text),
    name,
    "an https URL with a path, without fragment and credentials, in canonical form",
  );
  return text;
}

/** Returns the members that a document must not contain (section 4.1). */
export function secretMembersOf(document: object): string[] {
  return [...CREDENTIAL_MEMBERS, "client_secret_expires_at"]
    .filter((name) => Object.hasOwn(document, name));
}

/** Checks whether a method needs a secret (section 4.1). */
export function isSecretMethod(method: unknown): boolean {
  return typeof method === "string" && method.startsWith("client_secret_");
}

/** Checks whether a grant uses a redirect URI (section 4.2). */
export function isRedirectGrant(grantType: string): boolean {
  return grantType === "authorization_code" || grantType === "implicit";
}

/** Schemes that no other program receives, or that a browser runs. */
const UNUSABLE_SCHEMES =
  /^(about|blob|data|file|ftp|javascript|vbscript|wss?):$/;

export function redirectUriProblem(uri: string): string | undefined {
  const url = parseUrl(uri);
  if (!url) return "is not an absolute URI";
  // RFC 6749, section 3.1.2.
  if (uri.includes("#")) return "has a fragment";
  if (UNUSABLE_SCHEMES.test(url.protocol)) return "has an unusable scheme";
  return url.protocol === "http:" && !isLoopback(url)
    ? "is http, and not on loopback"
    : undefined;
}

/** The private members of a JWK (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

export function privateMembersOf(
  key: Readonly<Record<string, unknown>>,
): string[] {
  return PRIVATE_MEMBERS.filter((name) => Object.hasOwn(key, name));
}

/** Characters of a coordinate in base64url, by curve (RFC 7518 and RFC 8037). */
const COORDINATES: Readonly<Record<string, number>> = {
  "P-256": 43,
  "P-384": 64,
  "P-521": 88,
  "secp256k1": 43,
  "Ed25519": 43,
};
const PUBLIC_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  EC: ["x", "y"],
  OKP: ["x"],
  RSA: ["n", "e"],
};

/**
 * Checks whether a JWK contains the members of its key type; true for an unknown type.
 */
export function isReadableKey(
  { kty, crv, ...members }: Readonly<Record<string, unknown>>,
): boolean {
  if (typeof kty !== "string") return false;
  const names = Object.hasOwn(PUBLIC_MEMBERS, kty) ? PUBLIC_MEMBERS[kty] : [];
  const needsCurve = kty === "EC" || kty === "OKP";
  const length = needsCurve ? COORDINATES[String(crv)] : undefined;
  return (!needsCurve || typeof crv === "string") && names!.every((name) => {
    const text = members[name];
    return typeof text === "string" && /^[\w-]+$/.test(text) &&
      text.length === (length ?? text.length);
  });
}
