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
  contestant,
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

type Goals = Record<string, (ratio: number) => boolean>;

const REFERENCE = "reference";

/** A goal for the ratio of the reference to ours. */
function atLeast(factor: number | undefined): Goals {
  return factor === undefined
    ? {}
    : { [REFERENCE]: (ratio) => ratio >= factor };
}

/** The parameters of a Bearer challenge. */
export function challengeParams(id: string): Record<string, string> {
  return {
    realm: `api ${id}`,
    scope: "files:read files:write",
    error: "invalid_token",
    error_description: "The access token expired",
    resource_metadata: "https://api.example/.well-known/metadata",
  };
}

/** Writes a Bearer challenge. */
export function bearer(params: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(params).map(([k, v]) => `${k}="${v}"`);
  return received(`Bearer ${pairs.join(", ")}`);
}

/** Claims of an access token, with some more for the length of the token. */
export function claimsWith(own: Record<string, unknown>) {
  return (id: string): Record<string, unknown> => ({
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
}

/** Claims of a token of 600 bytes. */
export const CLAIMS = {
  "ASCII": claimsWith({ name: "Ada Lovelace", email: "ada.l@as.example" }),
  "not ASCII": claimsWith({ name: "Zoë Łukasiewicz, 山田", locale: "pl" }),
};

function encodePart(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Creates a token of 600 bytes with a signature as long as that of ES256. */
export function makeToken(claims: unknown): string {
  const header = encodePart({ alg: "ES256", typ: "JWT", kid: "2026-key-1" });
  const token = `${header}.${encodePart(claims)}.${"s".repeat(86)}`;
  requireResult("makeToken", token.length, 600);
  return received(token);
}

function compareChallenges(goals: IPureGoals): Row[] {
  const inputs = variants((id) => bearer(challengeParams(id)));
  const parsers = {
    ours: parseWWWAuthenticateHeader,
    [REFERENCE]: reference.parseWWWAuthenticateHeader,
  };
  const expected = [{ scheme: "Bearer", params: challengeParams("id10") }];
  return compare(
    Object.entries(parsers).map(([name, parse]) => {
      requireResult(name, parse(inputs[0]!), expected);
      return contestant(name, inputs, parse);
    }),
    atLeast(goals.challenge),
  );
}

function compareClaims(
  claimsOf: (id: string) => Record<string, unknown>,
  goals: Goals,
): Row[] {
  const tokens = variants((id) => makeToken(claimsOf(id)));
  const decoders = {
    ours: getClaimsFromJWT,
    [REFERENCE]: reference.getClaimsFromJWT,
    "jose.decodeJwt": (token: string) => decodeJwt(token),
  };
  return compare(
    Object.entries(decoders).map(([name, decode]) => {
      requireResult(name, decode(tokens[0]!), claimsOf("id10"));
      return contestant(name, tokens, decode);
    }),
    goals,
  );
}

type ScopePair = [a: string[], b: string[]];

/** How the second list is made of the first. */
const ORDERS: Record<string, (scopes: string[]) => string[]> = {
  "in the same order": (scopes) => scopes,
  "in reverse order": (scopes) => scopes.toReversed(),
  "with another last value": (scopes) => [...scopes.slice(0, -1), "other"],
};

function compareScopes(count: number, order: string, goals: Goals): Row[] {
  const pairs = variants((id): ScopePair => {
    const scopes = Array.from({ length: count }, (_, n) => `${id}:${n * 7919}`);
    const read = (list: string[]) => received(list.join(" ")).split(" ");
    return [read(scopes), read(ORDERS[order]!(scopes))];
  });
  const matchers = { ours: scopesMatch, [REFERENCE]: reference.scopesMatch };
  return compare(
    Object.entries(matchers).map(([name, match]) => {
      const expected = order !== "with another last value";
      requireResult(name, match(...pairs[0]!), expected);
      return contestant(name, pairs, ([a, b]: ScopePair) => match(a, b));
    }),
    goals,
  );
}

/** Compares the three functions with the reference, and claims also with jose. */
export function comparePure(runtime: string, goals: IPureGoals): ISection[] {
  const scopeGoals = (factor: number) =>
    goals.scopes === undefined ? {} : atLeast(factor);
  return [
    {
      title: `${runtime}: parseWWWAuthenticateHeader, five parameters`,
      rows: compareChallenges(goals),
    },
    {
      title: `${runtime}: getClaimsFromJWT, 600 bytes, ASCII`,
      note: "jose does not decode the header.",
      rows: compareClaims(CLAIMS["ASCII"], atLeast(goals.claims)),
    },
    {
      title: `${runtime}: getClaimsFromJWT, 600 bytes, not ASCII`,
      rows: compareClaims(CLAIMS["not ASCII"], {}),
    },
    ...Object.keys(ORDERS).map((order) => ({
      title: `${runtime}: scopesMatch, 20 scopes ${order}`,
      rows: compareScopes(20, order, scopeGoals(goals.scopes ?? 1)),
    })),
    ...[1, 2, 5].map((count) => ({
      title: `${runtime}: scopesMatch, ${count} in reverse order`,
      rows: compareScopes(count, "in reverse order", scopeGoals(1)),
    })),
  ];
}
