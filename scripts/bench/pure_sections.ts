/**
 * Compares the pure functions with the reference of `reference.ts`. This file runs
 * in Deno and, bundled, in Node.
 */

import { decodeJwt } from "jose";
import { parseWWWAuthenticateHeader } from "../../lib/core/challenge.ts";
import { getClaimsFromJWT } from "../../lib/core/jwt_claims.ts";
import { scopesMatch } from "../../lib/core/scopes.ts";
import * as reference from "./reference.ts";
import {
  compare,
  type ISection,
  received,
  requireResult,
  type Row,
  variants,
} from "./timing.ts";

/** How many times as fast as the reference ours has to be; no goal if undefined. */
export interface IPureGoals {
  readonly challenge?: number;
  readonly claims?: number;
  /** For 20 scopes in another order; no list of scopes may be slower. */
  readonly scopes?: number;
}

/** The parameters of a Bearer challenge that `http-auth-utils` knows. */
export function challengeParams(id: string): Record<string, string> {
  return {
    realm: `api ${id}`,
    scope: "files:read files:write",
    error: "invalid_token",
    error_description: "The access token expired",
  };
}

/** A parameter that it does not know. */
export const METADATA = {
  resource_metadata: "https://api.example/.well-known/metadata",
};

/** Writes a Bearer challenge. */
export function bearer(params: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(params).map(([k, v]) => `${k}="${v}"`);
  return received(`Bearer ${pairs.join(", ")}`);
}

const claimsWith = (own: Record<string, unknown>) => (id: string) => ({
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

/** The claims of access tokens of 600 bytes. */
const CLAIMS = {
  "ASCII": claimsWith({ name: "Ada Lovelace", email: "ada.l@as.example" }),
  "not ASCII": claimsWith({ name: "Zoë Łukasiewicz, 山田", locale: "pl" }),
};

function encodePart(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Creates a token of 600 bytes with a signature as long as that of ES256. */
function makeToken(claims: unknown): string {
  const header = encodePart({ alg: "ES256", typ: "JWT", kid: "2026-key-1" });
  const token = `${header}.${encodePart(claims)}.${"s".repeat(86)}`;
  requireResult("makeToken", token.length, 600);
  return received(token);
}

/** Compares decoders of tokens; ours is the first. */
export function compareClaims(
  decoders: Readonly<Record<string, (token: string) => unknown>>,
  kind: keyof typeof CLAIMS,
  goals: Readonly<Record<string, number | undefined>> = {},
): Row[] {
  const claimsOf = CLAIMS[kind];
  const tokens = variants((id) => makeToken(claimsOf(id)));
  return compare(decoders, tokens, claimsOf("id10"), goals);
}

type ScopePair = [a: string[], b: string[]];

/** How the second list is made of the first. */
const ORDERS: Record<string, (scopes: string[]) => string[]> = {
  "in the same order": (scopes) => scopes,
  "in reverse order": (scopes) => scopes.toReversed(),
  "with another last value": (scopes) => [...scopes.slice(0, -1), "other"],
};

function compareScopes(
  count: number,
  order: string,
  goal: number | undefined,
): Row[] {
  const pairs = variants((id): ScopePair => {
    const scopes = Array.from({ length: count }, (_, n) => `${id}:${n * 7919}`);
    const read = (list: string[]) => received(list.join(" ")).split(" ");
    return [read(scopes), read(ORDERS[order]!(scopes))];
  });
  const functions = {
    ours: ([a, b]: ScopePair) => scopesMatch(a, b),
    reference: ([a, b]: ScopePair) => reference.scopesMatch(a, b),
  };
  const expected = order !== "with another last value";
  return compare(functions, pairs, expected, { reference: goal });
}

/** Compares the three functions with the reference, and claims also with jose. */
export function comparePure(runtime: string, goals: IPureGoals): ISection[] {
  const paramsOf = (id: string) => ({ ...challengeParams(id), ...METADATA });
  const parsers = {
    ours: parseWWWAuthenticateHeader,
    reference: reference.parseWWWAuthenticateHeader,
  };
  const decoders = {
    ours: getClaimsFromJWT,
    reference: reference.getClaimsFromJWT,
    "jose.decodeJwt": (token: string) => decodeJwt(token),
  };
  return [
    {
      title: `${runtime}: parseWWWAuthenticateHeader, five parameters`,
      rows: compare(
        parsers,
        variants((id) => bearer(paramsOf(id))),
        [{ scheme: "Bearer", params: paramsOf("id10") }],
        { reference: goals.challenge },
      ),
    },
    {
      title: `${runtime}: getClaimsFromJWT, 600 bytes, ASCII`,
      note: "jose does not decode the header.",
      rows: compareClaims(decoders, "ASCII", { reference: goals.claims }),
    },
    {
      title: `${runtime}: getClaimsFromJWT, 600 bytes, not ASCII`,
      rows: compareClaims(decoders, "not ASCII"),
    },
    ...Object.keys(ORDERS).map((order) => ({
      title: `${runtime}: scopesMatch, 20 scopes ${order}`,
      rows: compareScopes(20, order, goals.scopes),
    })),
    ...[1, 2, 5].map((count) => ({
      title: `${runtime}: scopesMatch, ${count} in reverse order`,
      rows: compareScopes(count, "in reverse order", goals.scopes && 1),
    })),
  ];
}
