/** A refreshed token keeps what the response leaves out, and nothing else. */

import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  adviceFor,
  isTokenExpired,
  OAuthClientError,
  publicClient,
  refreshToken,
  type Token,
} from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import {
  SERVER,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import { tokenErrorOf } from "../../support/request_token.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

async function refresh(
  answer: Answer,
  token: Partial<Token>,
  options: Parameters<typeof refreshToken>[2] = {},
) {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
  const { fetch } = stubbed;
  const client = publicClient("c1");
  const given = { fetch, client, now: () => 0, ...options };
  const fresh = await refreshToken(SERVER, token, given);
  return { fresh, body: stubbed.requests[0]?.body };
}

Deno.test("refreshToken() keeps what the response leaves out, and nothing else", async () => {
  const old = {
    refresh_token: "r1",
    scope: "read write",
    access_token: "old",
    expires_at: 5,
    id_token: "old",
  };
  const rows: [
    members: Record<string, unknown>,
    scopes: string[] | undefined,
    refreshToken: string,
    scope: string,
  ][] = [
    [{ refresh_token: 7, scope: null }, undefined, "r1", "read write"],
    [{ refresh_token: null, scope: 7 }, undefined, "r1", "read write"],
    [{ refresh_token: "", scope: "" }, undefined, "r1", "read write"],
    [{}, undefined, "r1", "read write"],
    [{ refresh_token: "r2" }, undefined, "r2", "read write"],
    [{ refresh_token: "r2", scope: "list" }, undefined, "r2", "list"],
    // RFC 6749, section 5.1: without a scope the requested one is granted.
    [{}, ["read"], "r1", "read"],
    [{ scope: "" }, ["read", "list"], "r1", "read list"],
    [{ scope: "list" }, ["read"], "r1", "list"],
    [{}, [], "r1", "read write"],
  ];
  await eachRowInTurn(rows, async ([members, scopes, refresh_token, scope]) => {
    const answer = json({ access_token: "new", ...members });
    const { fresh } = await refresh(answer, old, { scopes });
    const expected = { access_token: "new", token_type: "Bearer" };
    assertEquals(fresh, { ...expected, refresh_token, scope });
  });
  const answer = json({ access_token: "new" });
  const { fresh } = await refresh(answer, { refresh_token: "r1" });
  assertFalse("scope" in fresh);
});

Deno.test("refreshToken() keeps the authorization details that the response leaves out", async () => {
  const [a, b] = [[{ type: "a" }], [{ type: "b", x: 1 }]];
  type Details = typeof a | undefined;
  const rows: [requested: Details, returned: Details, expected: Details][] = [
    [undefined, undefined, b],
    [[], undefined, b],
    [a, undefined, a],
    [a, b, b],
    [undefined, a, a],
  ];
  const old = { refresh_token: "r1", authorization_details: b };
  await eachRowInTurn(
    rows,
    async ([authorizationDetails, returned, expected]) => {
      const answer = json({
        access_token: "t",
        authorization_details: returned,
      });
      const options = { authorizationDetails };
      const { fresh, body } = await refresh(answer, old, options);
      assertEquals(fresh.authorization_details, expected);
      const sent = new URLSearchParams(body).get("authorization_details");
      assertEquals(
        sent,
        authorizationDetails?.length ? '[{"type":"a"}]' : null,
      );
    },
  );
});

Deno.test("refreshToken() keeps refresh_expires_at with the refresh token that it is of", async () => {
  const old = { refresh_token: "r1", refresh_expires_at: 500 };
  const rows: [members: Record<string, unknown>, expected?: number][] = [
    [{}, 500],
    [{ refresh_token: "r1" }, 500],
    [{ refresh_token: "r2" }],
    [{ refresh_token_expires_in: 900 }, 900],
    [{ refresh_token: "r2", refresh_expires_in: 900 }, 900],
  ];
  for (const [members, expected] of rows) {
    const answer = json({ access_token: "new", ...members });
    const { fresh } = await refresh(answer, old);
    assertEquals(fresh.refresh_expires_at, expected, JSON.stringify(members));
  }
});

Deno.test("refreshToken() sends the grant, resource, scopes and further parameters", async () => {
  const answer = json({ access_token: "new" });
  const token = { refresh_token: "r 1" };
  const grant = "grant_type=refresh_token&refresh_token=r+1";
  const { body } = await refresh(answer, token, {
    resource: "https://api.example",
    scopes: ["a", "b"],
    parameters: { x: "1" },
  });
  const resource = "resource=https%3A%2F%2Fapi.example";
  assertEquals(body, `${grant}&${resource}&scope=a+b&x=1&client_id=c1`);
  const bare = await refresh(answer, token, { resource: false });
  assertEquals(bare.body, `${grant}&client_id=c1`);
});

Deno.test("refreshToken() says in its errors that a refresh was refused, fetchToken() does not", async () => {
  for (const status of [200, 400, 401]) {
    for (const error of ["invalid_request", undefined]) {
      if (status === 200 && !error) continue;
      const answer = json({ error }, { status });
      const call = () => refresh(answer, { refresh_token: "r1" });
      const failure = await assertRejects(call, OAuthClientError);
      assertEquals([failure.request, failure.status], ["refresh", status]);
      assertEquals(adviceFor(failure).action, "reauthorize");
      const form = new URLSearchParams({ grant_type: "authorization_code" });
      assertEquals((await tokenErrorOf(answer, {}, form)).request, undefined);
    }
  }
});

testInvalidArguments(refreshToken, [
  ["refreshToken", SERVER, {}],
  ["refreshToken", SERVER, { refresh_token: "" }],
  ["refreshToken", SERVER, { refresh_token: 7 }],
  ["options", SERVER, { refresh_token: "r1" }, "x"],
]);

const expiring = (exp: unknown) => ({ access_token: unverifiedJwt({ exp }) });
const readJwt = { readJwt: true };

/** Tokens at the time of 900 s. */
const TOKENS: [
  token: Record<string, unknown>,
  options: Parameters<typeof isTokenExpired>[1],
  expired: boolean,
][] = [
  [{}, {}, false],
  [{ expires_at: 930 }, {}, true],
  [{ expires_at: 931 }, {}, false],
  [{ expires_at: 0 }, {}, true],
  [{ expires_at: -1 }, {}, true],
  [{ expires_at: 901 }, { skewSeconds: 0 }, false],
  [{ expires_at: 900 }, { skewSeconds: 0 }, true],
  [{ expires_at: 1000 }, { skewSeconds: 100 }, true],
  [{ expires_at: "0" }, {}, false],
  [{ expires_at: NaN }, {}, false],
  [{ expires_in: 0 }, {}, false],
  [expiring(0), {}, false],
  [expiring(930), readJwt, true],
  [expiring(931), readJwt, false],
  [expiring("0"), readJwt, false],
  [{ access_token: "opaque" }, readJwt, false],
  // The claim is used only without a number in `expires_at`.
  [{ ...expiring(0), expires_at: null }, readJwt, true],
  [{ ...expiring(0), expires_at: 1000 }, readJwt, false],
  [{ ...expiring(1000), expires_at: 0 }, readJwt, true],
];

for (const [n, [token, options, expired]] of TOKENS.entries()) {
  const shown = JSON.stringify({ ...token, ...options });
  Deno.test(`isTokenExpired() is ${expired} in row ${n}, ${shown}`, () => {
    const given = untyped({ access_token: "t", ...token });
    const now = () => 900_000;
    assertStrictEquals(isTokenExpired(given, { ...options, now }), expired);
  });
}

Deno.test("isTokenExpired() uses the clock of this machine", () => {
  using _clock = stub(Date, "now", () => 100_000);
  const at = (expires_at: number) => ({ access_token: "t", expires_at });
  assert(isTokenExpired(at(130)));
  assertFalse(isTokenExpired(at(131)));
});
