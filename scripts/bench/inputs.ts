/** The inputs of the parsers, sixteen of each kind, so that caches do not help. */

import { requireResult } from "./timing.ts";

export interface Inputs {
  readonly values: readonly string[];
  readonly first: unknown;
}

function variants(make: (id: string) => string): string[] {
  return Array.from({ length: 16 }, (_, index) => {
    // As received: V8 stores literals and concatenated strings differently.
    const bytes = new TextEncoder().encode(make(`id${index + 10}`));
    return new TextDecoder().decode(bytes);
  });
}

export const challengeParams = (id: string): Record<string, string> => ({
  realm: `api ${id}`,
  scope: "files:read files:write",
  error: "invalid_token",
  error_description: "The access token expired",
  resource_metadata: "https://api.example/.well-known/metadata",
});

export function challenges(): Inputs {
  const values = variants((id) => {
    const pairs = Object.entries(challengeParams(id))
      .map(([name, value]) => `${name}="${value}"`);
    return `Bearer ${pairs.join(", ")}`;
  });
  return { values, first: challengeParams("id10") };
}

function encodePart(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Claims of access tokens of 600 bytes, as far as they differ. */
export const ASCII_CLAIMS = { name: "Ada Lovelace", email: "ada.l@as.example" };
export const OTHER_CLAIMS = { name: "Zoë Łukasiewicz, 山田", locale: "pl" };

/** Returns tokens with a signature as long as with ES256. */
export function tokens(own: Record<string, string>): Inputs {
  const claimsOf = (id: string) => ({
    iss: "https://as.example/tenants/one",
    sub: `5f0c3a52-7c1e-4f0b-${id}`,
    aud: ["https://api.example/mcp", "https://api.example/files"],
    client_id: "https://app.example/client.json",
    iat: 1767225600,
    exp: 1767229200,
    jti: `b7a1f8c2-90d4-4c55-${id}`,
    scope: "openid profile email files:read",
    ...own,
  });
  const header = encodePart({ alg: "ES256", typ: "JWT", kid: "2026-key-1" });
  const values = variants((id) =>
    `${header}.${encodePart(claimsOf(id))}.${"s".repeat(86)}`
  );
  requireResult("The length of a token", values[0]!.length, 600);
  return { values, first: claimsOf("id10") };
}
