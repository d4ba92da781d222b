/** Compares parsing with other parsers, with the same input. */

import {
  BEARER,
  parseWWWAuthenticateHeader as parseWithHttpAuthUtils,
} from "http-auth-utils";
import { parseHTTPHeadersQuotedKeyValueSet } from "http-auth-utils/dist/utils.js";
import { decodeJwt } from "jose";
import { jwtDecode } from "jwt-decode";
import { parseWWWAuthenticateHeader } from "../../lib/core/challenge.ts";
import { getClaimsFromJWT } from "../../lib/core/jwt_claims.ts";
import { compare, type ISection, requireResult } from "./timing.ts";

/** Creates sixteen inputs of one kind, so that caches do not help. */
function variants(make: (id: string) => string): string[] {
  return Array.from({ length: 16 }, (_, index) => {
    // As received: V8 stores literals and concatenated strings differently.
    const bytes = new TextEncoder().encode(make(`id${index + 10}`));
    return new TextDecoder().decode(bytes);
  });
}

const paramsOf = (id: string): Record<string, string> => ({
  realm: `api ${id}`,
  scope: "files:read files:write",
  error: "invalid_token",
  error_description: "The access token expired",
  resource_metadata: "https://api.example/.well-known/metadata",
});

function compareChallenges(): ISection {
  // Its `Bearer` rejects `resource_metadata`.
  const known = Object.keys(paramsOf(""));
  const mechanisms = [{
    ...BEARER,
    parseWWWAuthenticateRest: (rest: string) =>
      parseHTTPHeadersQuotedKeyValueSet(rest, known),
  }];
  return compare(
    "parseWWWAuthenticateHeader, five parameters",
    {
      "ours": (value: string) => parseWWWAuthenticateHeader(value)[0]?.params,
      "http-auth-utils": (value: string) =>
        parseWithHttpAuthUtils(value, mechanisms).data,
    },
    variants((id) => {
      const pairs = Object.entries(paramsOf(id)).map(([k, v]) => `${k}="${v}"`);
      return `Bearer ${pairs.join(", ")}`;
    }),
    paramsOf("id10"),
  );
}

/** The claims of access tokens of 600 bytes, as far as they differ. */
const CLAIMS = {
  "ASCII": { name: "Ada Lovelace", email: "ada.l@as.example" },
  "not ASCII": { name: "Zoë Łukasiewicz, 山田", locale: "pl" },
};

function encodePart(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Compares decoders with tokens that have a signature as long as that of ES256. */
function compareClaims(kind: keyof typeof CLAIMS): ISection {
  const claimsOf = (id: string) => ({
    iss: "https://as.example/tenants/one",
    sub: `5f0c3a52-7c1e-4f0b-${id}`,
    aud: ["https://api.example/mcp", "https://api.example/files"],
    client_id: "https://app.example/client.json",
    iat: 1767225600,
    exp: 1767229200,
    jti: `b7a1f8c2-90d4-4c55-${id}`,
    scope: "openid profile email files:read",
    ...CLAIMS[kind],
  });
  const header = encodePart({ alg: "ES256", typ: "JWT", kid: "2026-key-1" });
  const tokens = variants((id) =>
    `${header}.${encodePart(claimsOf(id))}.${"s".repeat(86)}`
  );
  requireResult("The length of a token", tokens[0]!.length, 600);
  const decoders = {
    "ours": getClaimsFromJWT,
    // Does not decode the header.
    "jose.decodeJwt": (token: string) => decodeJwt(token),
    "jwt-decode": (token: string) => jwtDecode(token),
  };
  const title = `getClaimsFromJWT, 600 bytes, ${kind}`;
  return compare(title, decoders, tokens, claimsOf("id10"));
}

/** Compares the parsing of challenges and tokens. */
export function* compareParsing(): Generator<ISection> {
  yield compareChallenges();
  yield compareClaims("ASCII");
  yield compareClaims("not ASCII");
}
