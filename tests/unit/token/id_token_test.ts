/**
 * An ID token is accepted if each of its claims is right, and refused by the first
 * that is not.
 */

import { assertEquals } from "@std/assert";
import { checkIdToken, type CheckIdTokenOptions } from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import { AS, pinRejected, unverifiedJwt } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { encodeBase64Url } from "../../support/base64url.ts";

const NOW = 1_000_000;
const CLAIMS = { iss: AS, sub: "u1", aud: "c1", iat: NOW - 5, exp: NOW + 300 };
const OPTIONS: CheckIdTokenOptions = {
  issuer: AS,
  clientId: "c1",
  now: () => NOW * 1000,
};
// The example of OpenID Connect Core 1.0, appendix A.3.
const accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";
const AT_HASH = "77QmUPtjPfzWtF2AnpK9RQ";

type Options = Partial<CheckIdTokenOptions>;
type Row = [claims: Record<string, unknown>, options?: Options, alg?: string];

/** Claims with each of these values of a claim. */
const claiming = (name: string, ...values: unknown[]): Row[] =>
  values.map((value) => [{ [name]: value }]);

const check = ([claims, options, alg]: Row) =>
  checkIdToken(unverifiedJwt({ ...CLAIMS, ...claims }, alg), {
    ...OPTIONS,
    ...options,
  });

async function refuses(row: Row): Promise<void> {
  await pinRejected(() => check(row), "invalid_id_token");
}

async function accepts(row: Row): Promise<void> {
  // Undefined members are not part of the JSON.
  const expected = JSON.parse(JSON.stringify({ ...CLAIMS, ...row[0] }));
  assertEquals<unknown>(await check(row), expected);
}

const acrValues = ["silver", "gold"];
const nonce = "n1";
const REFUSED: [problem: string, ...rows: Row[]][] = [
  [
    "its iss is not the issuer",
    ...claiming("iss", `${AS}/`, "https://AS.example", undefined, [AS]),
  ],
  [
    "its claim sub is missing or not a string",
    ...claiming("sub", undefined, "", 7),
  ],
  [
    "its aud does not contain the client",
    ...claiming("aud", undefined, "c2", [], ["c2"], "c1 c2", { c1: "c1" }),
  ],
  [
    "its azp is not the client",
    [{ aud: ["c1", "c2"] }],
    [{ aud: ["c1", "c2"], azp: "c2" }],
    ...claiming("azp", "c2", null),
  ],
  ...["exp", "iat"].map((name): [string, ...Row[]] => [
    `its claim ${name} is missing or not a number`,
    ...claiming(name, undefined, null, `${NOW + 300}`),
  ]),
  [
    "it has expired",
    [{ exp: NOW - 30 }],
    [{ exp: NOW }, { skewSeconds: 0 }],
    [{}, { skewSeconds: NaN }],
  ],
  ...["iat", "nbf", "auth_time"].map((name): [string, ...Row[]] => [
    `its ${name} is in the future (check the clock)`,
    [{ [name]: NOW + 31 }],
    [{ [name]: NOW + 60 }, untyped({ skewSeconds: "30" })],
  ]),
  [
    "its nonce does not match the request",
    [{ nonce: "n2" }, { nonce }],
    [{ nonce: [nonce] }, { nonce }],
  ],
  [
    "it has no nonce, but the request had one",
    [{}, { nonce }],
    [{ nonce: null }, { nonce }],
    [{ nonce: "" }, { nonce }],
  ],
  [
    "the user's authentication is older than max_age",
    [{ auth_time: NOW - 91 }, { maxAge: 60 }],
    [{ auth_time: NOW }, { maxAge: NaN }],
  ],
  [
    "its claim auth_time is missing or not a number",
    [{}, { maxAge: 60 }],
  ],
  [
    "its acr is not one of the required ones",
    [{ acr: "bronze" }, { acrValues: "silver gold" }],
    [{ acr: "silver gold" }, { acrValues: "silver gold" }],
    [{ acr: "bronze" }, { acrValues }],
    [{ acr: "" }, { acrValues: ["", "gold"] }],
    [{}, { acrValues }],
    // An option of the wrong type does not leave out the check.
    ...[null, NaN, false].map((one): Row => [{}, untyped({ acrValues: one })]),
  ],
  [
    "its at_hash does not match the token",
    [{ at_hash: "" }, { accessToken }],
    [{ at_hash: null }, { accessToken }],
    [{ at_hash: `${AT_HASH}==` }, { accessToken }],
  ],
];

for (const [problem, ...rows] of REFUSED) {
  Deno.test(`checkIdToken() refuses an ID token: ${problem}`, async () => {
    for (const row of rows) await refuses(row);
  });
}

const ACCEPTED: Row[] = [
  [{ name: "Ada", nonce: "not requested", at_hash: "x", auth_time: 0 }],
  [{ aud: ["c1"] }],
  [{ azp: "c1" }],
  [{ aud: ["c1", "c2"], azp: "c1" }],
  [{ exp: NOW - 29 }],
  [{ exp: NOW + 1 }, { skewSeconds: 0 }],
  [{ iat: NOW + 30, nbf: NOW + 30, auth_time: NOW + 30 }],
  [{ nonce }, { nonce }],
  [{ auth_time: NOW - 90 }, { maxAge: 60 }],
  [{ auth_time: NOW }, { maxAge: 0 }],
  [{ acr: "gold" }, { acrValues: "silver gold" }],
  [{ acr: "gold" }, { acrValues }],
  [{ at_hash: AT_HASH }, { accessToken }],
  [{}, { accessToken }],
  // Web Crypto has no SHAKE256.
  [{ at_hash: "x" }, { accessToken }, "Ed448"],
];

for (const row of ACCEPTED) {
  Deno.test(`checkIdToken() accepts an ID token with ${JSON.stringify(row)}`, async () => {
    await accepts(row);
  });
}

Deno.test("checkIdToken() refuses anything but a signed JWT", async () => {
  const unsigned = unverifiedJwt(CLAIMS, "none");
  const withoutAlg = unsigned.replace(/^.*?\./, `${encodeBase64Url("{}")}.`);
  const tokens = [
    ...["t0ken", "a.b.c", "a.b.c.d.e", unsigned, withoutAlg],
    unverifiedJwt(CLAIMS).replace(/[^.]*$/, ""),
  ];
  for (const token of tokens) {
    await pinRejected(() => checkIdToken(token, OPTIONS), "invalid_id_token");
  }
});

Deno.test("checkIdToken() hashes the access token by the signature algorithm", async () => {
  const rows: [hash: string, algorithms: string[]][] = [
    ["SHA-256", ["HS256", "RS256", "PS256", "ES256", "ES256K"]],
    ["SHA-384", ["HS384", "RS384", "PS384", "ES384"]],
    ["SHA-512", ["HS512", "RS512", "PS512", "ES512", "EdDSA", "Ed25519"]],
  ];
  for (const [hash, algorithms] of rows) {
    const bytes = new TextEncoder().encode(accessToken);
    const digest = await crypto.subtle.digest(hash, bytes);
    const half = new Uint8Array(digest).slice(0, digest.byteLength / 2);
    const at_hash = encodeBase64Url(half);
    for (const alg of algorithms) {
      await accepts([{ at_hash }, { accessToken }, alg]);
      const wrong: Row = [{ at_hash: "x" }, { accessToken }, alg];
      await refuses(wrong);
    }
  }
});

const TOKEN = unverifiedJwt(CLAIMS);
testInvalidArguments(checkIdToken, [
  ["token", "", OPTIONS],
  ["options", TOKEN, undefined],
  ["issuer", TOKEN, { ...OPTIONS, issuer: "" }],
  ["clientId", TOKEN, { ...OPTIONS, clientId: undefined }],
]);
