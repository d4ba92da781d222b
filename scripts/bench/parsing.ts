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
import {
  bearer,
  challengeParams,
  compareClaims,
  METADATA,
} from "./pure_sections.ts";
import {
  compare,
  contestant,
  type ISection,
  median,
  medianRatio,
  received,
  type Row,
  timeInTurn,
  variants,
  verdict,
} from "./timing.ts";

/** Goals for parsing; a ratio is the time of the other parser divided by ours. */
export const PARSING_GOALS = {
  challengeRatioAtLeast: 1,
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
  extra: Readonly<Record<string, string>>,
  theirs: (value: string) => { data: unknown },
): ISection {
  const paramsOf = (id: string) => ({ ...challengeParams(id), ...extra });
  const functions = {
    "ours": (value: string) => parseWWWAuthenticateHeader(value)[0]?.params,
    "http-auth-utils": (value: string) => theirs(value).data,
  };
  const rows = compare(
    functions,
    variants((id) => bearer(paramsOf(id))),
    paramsOf("id10"),
    { "http-auth-utils": PARSING_GOALS.challengeRatioAtLeast },
  );
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
  const isAccepted = (input: string) => {
    try {
      return Boolean(theirs(input));
    } catch {
      return false;
    }
  };
  const parsers = inputs.every(isAccepted)
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

function compareDecoders(kind: "ASCII" | "not ASCII"): ISection {
  const decoders = {
    "ours": getClaimsFromJWT,
    "jose.decodeJwt": (token: string) => decodeJwt(token),
    "jwt-decode": (token: string) => jwtDecode(token),
    "jose, header and payload as ours": (token: string) => {
      decodeProtectedHeader(token);
      return decodeJwt(token);
    },
  };
  const goals = { "jose.decodeJwt": PARSING_GOALS.claimsRatioAtLeast };
  return {
    title: `getClaimsFromJWT and others, 600 bytes, ${kind}`,
    rows: compareClaims(decoders, kind, goals),
  };
}

/** Compares the parsing of challenges and tokens. */
export function* compareParsing(): Generator<ISection> {
  yield compareChallenge(
    "parseWWWAuthenticateHeader, five parameters",
    METADATA,
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
  yield compareDecoders("ASCII");
  yield compareDecoders("not ASCII");
}
