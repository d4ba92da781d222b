/** Compares parsing with other parsers, with the same input. */

import {
  BEARER,
  parseWWWAuthenticateHeader as parseWithHttpAuthUtils,
} from "http-auth-utils";
import { parseHTTPHeadersQuotedKeyValueSet } from "http-auth-utils/dist/utils.js";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { jwtDecode } from "jwt-decode";
import { parseWWWAuthenticateHeader } from "../../lib/core/challenge.ts";
import { getClaimsFromJWT } from "../../lib/core/jwt_claims.ts";
import { scopesMatch } from "../../lib/core/scopes.ts";
import {
  accepts,
  compare,
  contestant,
  type ISection,
  median,
  medianRatio,
  received,
  requireResult,
  type Row,
  timeInTurn,
  variants,
  verdict,
} from "./timing.ts";

/** Goals for parsing; a ratio is the time of the other parser divided by ours. */
export const PARSING_GOALS = {
  challengeRatioAbove: 1,
  claimsRatioAtLeast: 1,
  doublingAtMost: 2.5,
};

/** Its `Bearer` rejects `resource_metadata`, so that name is added here. */
function httpAuthUtilsKnowing(...names: string[]) {
  const known = ["realm", "scope", "error", "error_description", ...names];
  const parseWWWAuthenticateRest = (rest: string) =>
    parseHTTPHeadersQuotedKeyValueSet(rest, known);
  const mechanisms = [{ ...BEARER, parseWWWAuthenticateRest }];
  return (value: string) => parseWithHttpAuthUtils(value, mechanisms);
}

function compareChallenge(
  title: string,
  extra: Record<string, string>,
  theirs: (value: string) => { data: unknown },
): ISection {
  const paramsOf = (id: string) => ({
    realm: `api ${id}`,
    scope: "files:read files:write",
    error: "invalid_token",
    error_description: "The access token expired",
    ...extra,
  });
  const inputs = variants((id) => {
    const pairs = Object.entries(paramsOf(id)).map(([k, v]) => `${k}="${v}"`);
    return received(`Bearer ${pairs.join(", ")}`);
  });
  const params = paramsOf("id10");
  const ours = parseWWWAuthenticateHeader(inputs[0]!);
  requireResult("ours", ours, [{ scheme: "Bearer", params }]);
  requireResult("http-auth-utils", theirs(inputs[0]!).data, params);
  const rows = compare([
    contestant("ours", inputs, parseWWWAuthenticateHeader),
    contestant("http-auth-utils", inputs, theirs),
  ], {
    "http-auth-utils": (ratio) => ratio > PARSING_GOALS.challengeRatioAbove,
  });
  return { title, rows };
}

const HOSTILE: [name: string, unit: (index: number) => string][] = [
  ["commas", () => ","],
  ["A A A", () => "A "],
  ["quotes", () => '"'],
  ["backslashes", () => "\\"],
  ["escaped quotes", () => '\\"'],
  ['a="b",', () => 'a="b",'],
  ["schemes", () => "A,"],
  ["one long word", () => "a"],
  ["distinct names", (index) => `a${index}=b,`],
];

function hostileInput(unit: (index: number) => string, bytes: number): string {
  let text = 'Bearer realm="x",';
  for (let index = 0; text.length < bytes; index++) text += unit(index);
  return received(text.slice(0, bytes));
}

function compareHostile([name, unit]: typeof HOSTILE[number]): Row {
  const theirs = httpAuthUtilsKnowing("a");
  const inputs = [32, 64].map((kib) => hostileInput(unit, kib * 1024));
  const parsers = inputs.every((input) => accepts(theirs, input))
    ? [parseWWWAuthenticateHeader, theirs]
    : [parseWWWAuthenticateHeader];
  const [small, big, theirSmall, theirBig] = timeInTurn(
    parsers.flatMap((parse) =>
      inputs.map((input) => contestant(name, [input], parse))
    ),
  );
  const doubling = medianRatio(big!, small!);
  return {
    pattern: name,
    "ns, 32 KiB": median(small!),
    "ns, 64 KiB": median(big!),
    "doubling": doubling,
    goal: verdict(doubling <= PARSING_GOALS.doublingAtMost),
    "its ns, 64 KiB": theirBig ? median(theirBig) : "rejected",
    "its doubling": theirBig ? medianRatio(theirBig, theirSmall!) : "",
    "ratio to ours": theirBig ? medianRatio(theirBig, big!) : "",
  };
}

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

function compareClaims(title: string, own: Record<string, unknown>): ISection {
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
  const tokens = variants((id) => makeToken(claimsOf(id)));
  const contestants = {
    "ours": getClaimsFromJWT,
    "jose.decodeJwt": (token: string) => decodeJwt(token),
    "jwt-decode": (token: string) => jwtDecode(token),
    "jose, header and payload as ours": (token: string) => {
      decodeProtectedHeader(token);
      return decodeJwt(token);
    },
  };
  const rows = compare(
    Object.entries(contestants).map(([name, decode]) => {
      requireResult(name, decode(tokens[0]!), claimsOf("id10"));
      return contestant(name, tokens, decode);
    }),
    { "jose.decodeJwt": (ratio) => ratio >= PARSING_GOALS.claimsRatioAtLeast },
  );
  return { title, rows };
}

type ScopePair = [asked: string[], granted: string[]];

function compareScopes(count: number): ISection {
  const pairs = variants((id): ScopePair => {
    const scopes = Array.from({ length: count }, (_, n) => `${id}:${n * 7919}`);
    const read = (text: string) => received(text).split(" ");
    return [read(scopes.join(" ")), read(scopes.toReversed().join(" "))];
  });
  const contestants = {
    "ours": ([a, b]: ScopePair) => scopesMatch(a, b),
    "sort and join": ([a, b]: ScopePair) =>
      [...a].sort().join(" ") === [...b].sort().join(" "),
  };
  const rows = compare(
    Object.entries(contestants).map(([name, match]) => {
      requireResult(name, match(pairs[0]!), true);
      return contestant(name, pairs, match);
    }),
  );
  return { title: `scopesMatch, ${count} of ${count} equal`, rows };
}

/** Compares the parsing of challenges and tokens, and the comparison of scopes. */
export function* compareParsing(): Generator<ISection> {
  yield compareChallenge(
    "parseWWWAuthenticateHeader, five parameters",
    { resource_metadata: "https://api.example/.well-known/metadata" },
    httpAuthUtilsKnowing("resource_metadata"),
  );
  yield compareChallenge(
    "parseWWWAuthenticateHeader, four parameters that http-auth-utils knows",
    {},
    (value) => parseWithHttpAuthUtils(value),
  );
  yield {
    title: "parseWWWAuthenticateHeader, hostile input (its: http-auth-utils)",
    rows: HOSTILE.map(compareHostile),
  };
  yield compareClaims("getClaimsFromJWT, 600 bytes, ASCII", {
    name: "Ada Lovelace",
    email: "ada.l@as.example",
  });
  yield compareClaims("getClaimsFromJWT, 600 bytes, not ASCII", {
    name: "Zoë Łukasiewicz, 山田",
    locale: "pl",
  });
  for (const count of [1, 10, 100]) yield compareScopes(count);
}
