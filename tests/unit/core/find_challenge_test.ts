import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  findChallenge,
  type IAuthenticationChallenge,
  OAuthClientError,
  parseChallenges,
} from "../../../mod.ts";
import {
  hostile,
  hugeTexts,
  structured,
} from "../../support/challenge_texts.ts";

Deno.test("findChallenge() takes a response, headers, text, or what acts like one", () => {
  const value = 'Negotiate, Bearer scope="read"';
  const headers = new Headers({ "WWW-Authenticate": value });
  const joined = new Headers([
    ["WWW-Authenticate", "Negotiate"],
    ["WWW-Authenticate", 'Bearer scope="read"'],
  ]);
  const get = (name: string) =>
    name.toLowerCase() === "www-authenticate" ? value : null;
  for (
    const source of [
      new Response(null, { status: 401, headers }),
      headers,
      joined,
      value,
      { get },
      { headers: { get } },
    ]
  ) {
    assertEquals(findChallenge(source), {
      scheme: "Bearer",
      params: { scope: "read" },
    });
  }
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

Deno.test("findChallenge() lets the first of two parameters stand", () => {
  assertEquals(findChallenge("Bearer a=1, A=2, b=3")?.params, {
    a: "1",
    b: "3",
  });
});

Deno.test("findChallenge() reads a broken header as far as that goes", () => {
  for (
    const value of [
      'Bearer Scope="read", (, x=y',
      'Bearer Scope="read", x="y',
      'Nego(tiate, Bearer Scope="read"',
      'a=b, Bearer Scope="read"',
    ]
  ) {
    assertThrows(() => parseChallenges(value), OAuthClientError, "", value);
    const challenge = findChallenge(value);
    assertEquals(challenge?.scheme, "Bearer", value);
    assertEquals(challenge?.params.scope, "read", value);
  }
});

type Params = Record<string, string>;

/** Each header with the parameters of its challenge. */
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

Deno.test("findChallenge() reads past stray quotes", () => {
  check([
    ['Bearer scope="read"", error="x"', { scope: "read", error: "x" }],
    ['Bearer scope="read" ", error=x', { scope: "read", error: "x" }],
    ['Bearer "scope="read", error=x', { scope: "read", error: "x" }],
    ['"Bearer scope=read', { scope: "read" }],
    ['Bearer scope=read", error=x', { scope: "read", error: "x" }],
    ['Bearer a=1, a=2, "x"', { a: "1" }],
  ]);
});

Deno.test("findChallenge() ends an unclosed quote with the header", () => {
  check([
    ['Bearer error=x, scope="read, a=b', { error: "x", scope: "read, a=b" }],
    ['Bearer scope="', { scope: "" }],
    ['Bearer scope="read\\', { scope: "read" }],
    ['Bearer scope="read\\"', { scope: 'read"' }],
  ]);
});

Deno.test("findChallenge() takes an empty value and what may not be quoted", () => {
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
  // As the first member `realm=` has the form of a token68.
  const challenge = findChallenge("Bearer realm=, scope=read");
  assertEquals(challenge?.params.scope, "read");
  assertEquals(findChallenge("Bearer YII=, a=b"), {
    scheme: "Bearer",
    params: { a: "b" },
    token68: "YII=",
  });
});

Deno.test("findChallenge() lets the first of two stand in a broken header too", () => {
  check([
    ['Bearer a=1, a=2, "x"', { a: "1" }],
    ['Bearer a=1, A=2, "x"', { a: "1" }],
    ["Bearer a=1 a=2 b=3 a=4", { a: "1", b: "3" }],
    ['Bearer a=1, a="2', { a: "1" }],
  ]);
});

Deno.test("findChallenge() makes any name an own property of a plain object", () => {
  const challenge = findChallenge("Bearer __proto__=1 constructor=2");
  assertEquals(Object.keys(challenge!.params), ["__proto__", "constructor"]);
  assertEquals(Object.getPrototypeOf(challenge!.params), Object.prototype);
});

/** All challenges of a text, by their schemes; the first of each scheme. */
function firstByScheme(challenges: IAuthenticationChallenge[]) {
  const firsts = new Map<string, IAuthenticationChallenge>();
  for (const challenge of challenges) {
    const scheme = challenge.scheme.toLowerCase();
    if (!firsts.has(scheme)) firsts.set(scheme, challenge);
  }
  return firsts;
}

Deno.test("findChallenge() finds what parseChallenges() reads, without exception", () => {
  let found = 0;
  for (const texts of [hostile, structured]) {
    fc.assert(
      fc.property(texts, (text) => {
        let challenges: IAuthenticationChallenge[] = [];
        try {
          challenges = parseChallenges(text, { duplicates: "keep_first" });
        } catch {
          return;
        }
        for (const [scheme, challenge] of firstByScheme(challenges)) {
          assertEquals(findChallenge(text, [scheme]), challenge);
          found++;
        }
      }),
      { numRuns: 4_000 },
    );
  }
  // Else nearly every text was refused.
  assert(found > 1_000, String(found));
});

Deno.test("findChallenge() never throws on any text", () => {
  const anything = fc.string({ unit: "binary" });
  const broken = fc.tuple(structured, hostile, structured)
    .map((parts) => `Bearer ${parts.join("")}`);
  for (const texts of [anything, hostile, structured, broken]) {
    fc.assert(
      fc.property(texts, (text) => {
        for (const value of [text, `Bearer ${text}`]) {
          const { scheme, params } = findChallenge(value) ?? {};
          if (scheme === undefined) continue;
          assert(/^(bearer|dpop)$/i.test(scheme));
          for (const param of Object.values(params!)) {
            assertEquals(typeof param, "string");
          }
        }
        assertEquals(findChallenge(`Bearer ${text}`)?.scheme, "Bearer");
      }),
      { numRuns: 1_000 },
    );
  }
});

Deno.test("findChallenge() reads 64 KB of hostile patterns", () => {
  for (const text of hugeTexts()) findChallenge(text);
});

Deno.test("findChallenge() refuses what can hold no header", () => {
  for (const source of [undefined, null, 1, true]) {
    const error = assertThrows(
      () => findChallenge(source as unknown as string),
      OAuthClientError,
      "source must be an object",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("findChallenge() refuses an object without headers to get", () => {
  for (const source of [{}, [], { headers: {} }, { get: "x" }]) {
    const error = assertThrows(
      () => findChallenge(source as unknown as string),
      OAuthClientError,
      "source must be a response, headers or a string",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("findChallenge() refuses headers that give something else than a text", () => {
  for (const value of [7, {}, ["Bearer"]]) {
    const error = assertThrows(
      () => findChallenge({ get: () => value } as never),
      OAuthClientError,
      "source must be headers of texts",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("findChallenge() refuses schemes that are no list of texts", () => {
  for (const schemes of ["Bearer", 7, null, [7], ["Bearer", null]]) {
    const error = assertThrows(
      () => findChallenge("Bearer", { schemes } as never),
      OAuthClientError,
      "schemes must be an array of strings",
    );
    assertEquals(error.code, "invalid_argument");
  }
});
