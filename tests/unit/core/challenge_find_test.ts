/** A challenge is found in any header that servers send, valid or not. */

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import {
  findChallenge,
  findChallenges,
  type IAuthenticationChallenge,
  OAuthClientError,
  parseWWWAuthenticateHeader,
} from "../../../mod.ts";
import { cpuTimeMs } from "../../support/cpu_time.ts";
import { pinThrown } from "../../support/fixtures.ts";
import { hugeTexts } from "../../support/challenge_texts.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";

Deno.test("findChallenge() accepts a response, headers, a string, or an object with get()", () => {
  const value = 'Negotiate, Bearer scope="read"';
  const headers = new Headers({ "WWW-Authenticate": value });
  const joined = new Headers([
    ["WWW-Authenticate", "Negotiate"],
    ["WWW-Authenticate", 'Bearer scope="read"'],
  ]);
  const get = (name: string) =>
    name.toLowerCase() === "www-authenticate" ? value : null;
  const rows = [
    new Response(null, { status: 401, headers }),
    headers,
    joined,
    value,
    { get },
    { headers: { get } },
  ];
  eachRow(rows, (source) => {
    assertEquals(findChallenge(source), {
      scheme: "Bearer",
      params: { scope: "read" },
    });
  });
});

Deno.test("findChallenge() finds the first of the schemes in any letter case", () => {
  const rows: [
    value: string,
    schemes: string[] | undefined,
    a: string | undefined,
  ][] = [
    ["Bearer a=1, DPoP a=2", undefined, "1"],
    ["DPoP a=2, Bearer a=1", undefined, "2"],
    ["bEARER a=1", undefined, "1"],
    ["dpop a=1", undefined, "1"],
    ["Basic a=1, Bearer a=2", undefined, "2"],
    ["Bearer a=1, DPoP a=2", ["DPoP"], "2"],
    ["Bearer a=1, dpop a=2", ["dPoP", "Basic"], "2"],
    ["Bearer a=1", ["DPoP"], undefined],
    ["Bearer a=1", [], undefined],
    ["Bearers a=1, XBearer a=2", undefined, undefined],
    ['Basic realm="Bearer a=1"', undefined, undefined],
    ["Basic Bearer=1", undefined, undefined],
    ["Bearer a=1, Bearer a=2", undefined, "1"],
    ["", undefined, undefined],
  ];
  for (const [value, schemes, a] of rows) {
    assertEquals(findChallenge(value, schemes)?.params.a, a, value);
  }
  assertEquals(findChallenge(new Headers()), undefined);
});

Deno.test("findChallenges() returns every challenge of the schemes, in order", () => {
  const header = 'DPoP algs="ES256", Basic realm="x", ' +
    'bearer resource_metadata=https://api.example/m scope="a b", Bearer a=1';
  const dpop = { scheme: "DPoP", params: { algs: "ES256" } };
  const basic = { scheme: "Basic", params: { realm: "x" } };
  const bearers: IAuthenticationChallenge[] = [
    {
      scheme: "bearer",
      params: { resource_metadata: "https://api.example/m", scope: "a b" },
    },
    { scheme: "Bearer", params: { a: "1" } },
  ];
  const rows: [string[] | undefined, IAuthenticationChallenge[]][] = [
    [undefined, [dpop, ...bearers]],
    [["BEARER"], bearers],
    [["basic", "dpop"], [dpop, basic]],
    [["Negotiate"], []],
    [[], []],
  ];
  const headers = new Headers({ "WWW-Authenticate": header });
  eachRow(rows, ([schemes, expected]) => {
    for (const source of [header, headers, new Response(null, { headers })]) {
      assertEquals(findChallenges(source, schemes), expected);
      assertEquals(findChallenge(source, schemes), expected[0]);
    }
  });
  assertEquals(findChallenges(""), []);
  assertEquals(findChallenges(new Headers()), []);
});

Deno.test("findChallenge() reads headers that are not valid", () => {
  const rows = [
    'Bearer resource_metadata=https://api.example/m?a=b&c=d, Scope="read"',
    'Bearer error="x" Scope="read"',
    'Bearer Scope="read", scope="write"',
    'Bearer Scope="read", (, x=y',
    'Bearer Scope="read", x="y',
    'Nego(tiate, Bearer Scope="read"',
    'a=b, Bearer Scope="read"',
  ];
  for (const value of rows) {
    const challenge = findChallenge(value);
    assertEquals(challenge?.scheme, "Bearer", value);
    assertEquals(challenge?.params.scope, "read", value);
  }
});

type Params = Record<string, string>;

/** Checks headers against the parameters of their challenge. */
function check(rows: [value: string, params: Params][]): void {
  for (const [value, params] of rows) {
    assertEquals(findChallenge(value)?.params, params, value);
  }
}

Deno.test("findChallenge() reads parameters without commas between them", () => {
  const url = "https://api.example/m";
  check([
    [`Bearer resource_metadata="${url}" scope="x"`, {
      resource_metadata: url,
      scope: "x",
    }],
    [`Bearer resource_metadata=${url} scope=x`, {
      resource_metadata: url,
      scope: "x",
    }],
    ['Bearer a="1"b="2"', { a: "1", b: "2" }],
    ['Bearer a=1 \t b = "2" , c=3 d=4', { a: "1", b: "2", c: "3", d: "4" }],
    ["Negotiate Bearer a=1 b=2", { a: "1", b: "2" }],
    ["Bearer a=1 b=2 DPoP c=3", { a: "1", b: "2" }],
  ]);
});

Deno.test("findChallenge() reads words without quotes, and parameters that end with a semicolon", () => {
  const url = "https://x.example/meta";
  const rows: [value: string, params: Record<string, string>][] = [
    [`scope=read write, url=${url}`, { scope: "read write", url }],
    ["error=x, scope=read  write admin", {
      error: "x",
      scope: "read  write admin",
    }],
    [`url=${url}; scope=read`, { url, scope: "read" }],
    ["a=1 b=2", { a: "1", b: "2" }],
    ["a=1 Basic b=2", { a: "1" }],
    ["a=1, Negotiate", { a: "1" }],
  ];
  eachRow(rows, ([value, params]) => {
    assertEquals(findChallenge(`Bearer ${value}`)?.params, params);
  });
});

Deno.test("findChallenge() skips stray quotes", () => {
  check([
    ['Bearer scope="read"", error="x"', { scope: "read", error: "x" }],
    ['Bearer scope="read" ", error=x', { scope: "read", error: "x" }],
    ['Bearer "scope="read", error=x', { scope: "read", error: "x" }],
    ['"Bearer scope=read', { scope: "read" }],
    ['Bearer scope=read", error=x', { scope: "read", error: "x" }],
  ]);
});

Deno.test("findChallenge() closes an open quote at the end of the header", () => {
  check([
    ['Bearer error=x, scope="read, a=b', { error: "x", scope: "read, a=b" }],
    ['Bearer scope="', { scope: "" }],
    ['Bearer scope="read\\', { scope: "read" }],
    ['Bearer scope="read\\"', { scope: 'read"' }],
  ]);
});

Deno.test("findChallenge() accepts empty values and characters that must not be quoted", () => {
  check([
    ["Bearer error=x, realm=, scope=read", {
      error: "x",
      realm: "",
      scope: "read",
    }],
    ["Bearer error=", {}],
    ['Bearer a="\u0000", b="\u20ac"', { a: "\0", b: "\u20ac" }],
    ["Bearer\ta=b", { a: "b" }],
    ["Bearer, a=b", { a: "b" }],
  ]);
  // As the first parameter, `realm=` has the form of a token68.
  const challenge = findChallenge("Bearer realm=, scope=read");
  assertEquals(challenge?.params.scope, "read");
  assertEquals(findChallenge("Bearer YII=, a=b"), {
    scheme: "Bearer",
    params: { a: "b" },
    token68: "YII=",
  });
});

Deno.test("findChallenge() keeps the first of two parameters", () => {
  check([
    ["Bearer a=1, A=2, b=3", { a: "1", b: "3" }],
    ['Bearer a=1, a=2, "x"', { a: "1" }],
    ["Bearer constructor=1 a=2", { constructor: "1", a: "2" }],
    ["Bearer a=1 a=2 b=3 a=4", { a: "1", b: "3" }],
    ['Bearer a=1, a="2', { a: "1" }],
  ]);
});

const PARSERS = [parseWWWAuthenticateHeader, findChallenge];

for (const parse of PARSERS) {
  Deno.test(`${parse.name}() needs linear time for 64 kB of repeated patterns`, () => {
    const start = cpuTimeMs();
    for (const text of hugeTexts()) {
      try {
        parse(text);
      } catch (error) {
        assertInstanceOf(error, OAuthClientError);
      }
    }
    // In quadratic time it is minutes.
    assert(cpuTimeMs() - start < 20_000);
  });
}

Deno.test("findChallenges() rejects a source or schemes of the wrong type", () => {
  const wrong = [undefined, null, 1, true, {}, [], { headers: {} }];
  const rows: [source: unknown, schemes?: unknown][] = [
    ...wrong.map((source) => [source] as [unknown]),
    [{ get: "x" }],
    ["Bearer", "Bearer"],
    ["Bearer", { schemes: ["Bearer"] }],
    ["Bearer", [7]],
    ["Bearer", ["Bearer", null]],
  ];
  for (const [source, schemes] of rows) {
    for (const find of [findChallenges, findChallenge]) {
      const call = () => find(untyped(source), untyped(schemes));
      pinThrown(call, "invalid_argument");
    }
  }
});
