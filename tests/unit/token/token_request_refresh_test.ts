import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { encodeBase64Url } from "@std/encoding/base64url";
import { stub } from "@std/testing/mock";
import {
  isTokenExpired,
  type IToken,
  OAuthClientError,
  publicClient,
  refreshToken,
} from "../../../mod.ts";
import { SERVER, TOKEN_ENDPOINT } from "../../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

/** Refreshes a token; what was sent, and what came of it. */
async function refresh(
  answer: Answer,
  token: Pick<IToken, "refresh_token" | "scope">,
  options: Parameters<typeof refreshToken>[2] = {},
) {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
  const { fetch } = stubbed;
  const client = publicClient("c1");
  const given = { fetch, client, now: () => 0, ...options };
  const fresh = await refreshToken(SERVER, token, given);
  return { fresh, body: stubbed.requests[0]?.body };
}

Deno.test("refreshToken() keeps the refresh token and scope that the answer leaves out", async () => {
  const old = { refresh_token: "r1", scope: "read" };
  const rows: [members: Record<string, unknown>, kept: string, string][] = [
    [{}, "r1", "read"],
    [{ refresh_token: null, scope: null }, "r1", "read"],
    [{ refresh_token: 7, scope: 7 }, "r1", "read"],
    [{ refresh_token: "", scope: "" }, "r1", "read"],
    [{ refresh_token: "r2" }, "r2", "read"],
    [{ scope: "list" }, "r1", "list"],
    [{ refresh_token: "r2", scope: "list" }, "r2", "list"],
  ];
  for (const [members, refresh_token, scope] of rows) {
    const answer = json({ access_token: "new", ...members });
    assertEquals((await refresh(answer, old)).fresh, {
      access_token: "new",
      token_type: "Bearer",
      refresh_token,
      scope,
    });
  }
});

Deno.test("refreshToken() takes the scope asked for where the answer names none", async () => {
  const old = { refresh_token: "r1", scope: "read write" };
  const rows: [scopes: string[] | undefined, named: unknown, string][] = [
    [["read"], undefined, "read"],
    [["read"], null, "read"],
    [["read"], "", "read"],
    [["read", "write"], undefined, "read write"],
    [["read"], "list", "list"],
    [undefined, undefined, "read write"],
    // An empty list asks for nothing.
    [[], undefined, "read write"],
    [[], null, "read write"],
    [[], "list", "list"],
  ];
  for (const [scopes, scope, expected] of rows) {
    const answer = json({ access_token: "new", scope });
    const { fresh } = await refresh(answer, old, { scopes });
    assertEquals(fresh.scope, expected);
  }
});

Deno.test("refreshToken() keeps nothing else of the old token", async () => {
  const old = {
    refresh_token: "r1",
    access_token: "old",
    expires_at: 5,
    id_token: "old",
  };
  const { fresh } = await refresh(json({ access_token: "new" }), old);
  assertEquals(fresh, {
    access_token: "new",
    token_type: "Bearer",
    refresh_token: "r1",
  });
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

Deno.test("refreshToken() tells a dead refresh token from a broken network", async () => {
  const rows: [Answer, code: string, error: string | undefined][] = [
    [
      json({ error: "invalid_grant" }, { status: 400 }),
      "oauth_error",
      "invalid_grant",
    ],
    [json({ error: "invalid_grant" }), "oauth_error", "invalid_grant"],
    [failing(new TypeError("Cable cut")), "network_error", undefined],
    [text("Bad Gateway", 502), "unexpected_status", undefined],
    [text("<html>", 200), "invalid_response", undefined],
  ];
  for (const [answer, code, name] of rows) {
    const error = await assertRejects(
      () => refresh(answer, { refresh_token: "r1" }),
      OAuthClientError,
    );
    assertEquals([error.code, error.error], [untyped(code), name]);
  }
});

Deno.test("refreshToken() fails before any request without a refresh token", async () => {
  for (const token of [{}, { refresh_token: "" }, { refresh_token: 7 }]) {
    using stubbed = stubFetch({});
    const error = await assertRejects(
      () => refreshToken(SERVER, untyped(token), stubbed),
      OAuthClientError,
    );
    assertEquals(error.code, "invalid_argument");
    assertEquals(stubbed.urls, []);
  }
});

/** An access token that is a JWT with this expiry. */
function jwt(exp: unknown): string {
  const part = (value: unknown) => encodeBase64Url(JSON.stringify(value));
  return `${part({ alg: "none" })}.${part({ exp })}.`;
}

type ExpiryRow = [
  token: Record<string, unknown>,
  options: Parameters<typeof isTokenExpired>[1],
  expired: boolean,
];
const TOKENS: ExpiryRow[] = [
  [{}, {}, false],
  [{ expires_at: 1000 }, {}, false],
  [{ expires_at: 930 }, {}, true],
  [{ expires_at: 931 }, {}, false],
  [{ expires_at: 0 }, {}, true],
  [{ expires_at: 0 }, { readJwt: true }, true],
  [{ expires_at: -1 }, {}, true],
  [{ expires_at: 901 }, { skewSeconds: 0 }, false],
  [{ expires_at: 900 }, { skewSeconds: 0 }, true],
  [{ expires_at: 1000 }, { skewSeconds: 100 }, true],
  [{ expires_at: "0" }, {}, false],
  [{ expires_at: NaN }, {}, false],
  [{ expires_in: 0 }, {}, false],
  // What is no number leaves the word to the JWT.
  [{ access_token: jwt(0), expires_at: null }, { readJwt: true }, true],
  [{ access_token: jwt(0), expires_at: "soon" }, { readJwt: true }, true],
  [{ access_token: jwt(0), expires_at: null }, {}, false],
  [{ access_token: jwt(0) }, {}, false],
  [{ access_token: jwt(0) }, { readJwt: true }, true],
  [{ access_token: jwt(930) }, { readJwt: true }, true],
  [{ access_token: jwt(931) }, { readJwt: true }, false],
  [{ access_token: jwt("0") }, { readJwt: true }, false],
  [{ access_token: jwt(undefined) }, { readJwt: true }, false],
  [{ access_token: "opaque" }, { readJwt: true }, false],
  [{ access_token: jwt(0), expires_at: 1000 }, { readJwt: true }, false],
  [{ access_token: jwt(1000), expires_at: 0 }, { readJwt: true }, true],
];

for (const [n, [token, options, expired]] of TOKENS.entries()) {
  const shown = JSON.stringify({ ...token, ...options });
  Deno.test(`isTokenExpired() is ${expired} for row ${n}, ${shown}`, () => {
    const given = untyped({ access_token: "t", ...token });
    const now = () => 900_000;
    assertStrictEquals(isTokenExpired(given, { ...options, now }), expired);
  });
}

Deno.test("isTokenExpired() goes by the clock of this machine", () => {
  using _clock = stub(Date, "now", () => 100_000);
  const at = (expires_at: number) => ({ access_token: "t", expires_at });
  assert(isTokenExpired(at(130)));
  assertFalse(isTokenExpired(at(131)));
});

Deno.test("refreshToken() refuses a server, a token or options that are none", async () => {
  const token = { refresh_token: "r1" };
  for (const wrong of [null, 7, "x"]) {
    const rows: [args: unknown[], name: string][] = [
      [[wrong, token, {}], "serverMetadata"],
      [[SERVER, wrong, {}], "token"],
      [[SERVER, token, wrong], "options"],
    ];
    for (const [args, name] of rows) {
      const error = await assertRejects(
        () => untyped(refreshToken)(...args),
        OAuthClientError,
        `${name} must be an object`,
      );
      assertEquals(error.code, "invalid_argument");
    }
  }
});

Deno.test("isTokenExpired() refuses a token or options that are none", () => {
  for (const wrong of [null, 7, "x"]) {
    for (const args of [[wrong, {}], [{ expires_at: 1 }, wrong]]) {
      const error = assertThrows(
        () => untyped(isTokenExpired)(...args),
        OAuthClientError,
        "must be an object",
      );
      assertEquals(error.code, "invalid_argument");
    }
  }
});
