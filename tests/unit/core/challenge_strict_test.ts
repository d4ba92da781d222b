import { assertEquals, assertThrows } from "@std/assert";
import { OAuthClientError, parseChallenges } from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";

type Params = Record<string, string>;

Deno.test("parseChallenges() reads schemes, parameters and token68", () => {
  const rows: [value: string, ...[string, Params, string?][]][] = [
    [""],
    [" \t"],
    [",, ,\t,"],
    ["Bearer", ["Bearer", {}]],
    [" Bearer ", ["Bearer", {}]],
    ["Negotiate, Bearer", ["Negotiate", {}], ["Bearer", {}]],
    [",Negotiate,,\t,Bearer,", ["Negotiate", {}], ["Bearer", {}]],
    ["Bearer a=b", ["Bearer", { a: "b" }]],
    ["bEaReR ReAlM=X", ["bEaReR", { realm: "X" }]],
    ['Bearer a="b", c=d', ["Bearer", { a: "b", c: "d" }]],
    ["Bearer a=b,c=d , e=f", ["Bearer", { a: "b", c: "d", e: "f" }]],
    ["Bearer a=b,,\t, c=d,", ["Bearer", { a: "b", c: "d" }]],
    ["Bearer   a=b", ["Bearer", { a: "b" }]],
    ["Bearer a \t=\t b , c= d", ["Bearer", { a: "b", c: "d" }]],
    ['Bearer a = "b"', ["Bearer", { a: "b" }]],
    ["Bearer ,a=b", ["Bearer", { a: "b" }]],
    ["Negotiate YII=", ["Negotiate", {}, "YII="]],
    ["X a", ["X", {}, "a"]],
    ["X a==", ["X", {}, "a=="]],
    ["X -._~+/09azAZ==", ["X", {}, "-._~+/09azAZ=="]],
    ["X abc , Y", ["X", {}, "abc"], ["Y", {}]],
    [
      'Negotiate YII=, bearer Scope = "a \\"b\\""',
      ["Negotiate", {}, "YII="],
      ["bearer", { scope: 'a "b"' }],
    ],
    [
      'Basic realm="x, y", DPoP algs="ES256 PS256", Bearer',
      ["Basic", { realm: "x, y" }],
      ["DPoP", { algs: "ES256 PS256" }],
      ["Bearer", {}],
    ],
    ["A b=c, D e=f", ["A", { b: "c" }], ["D", { e: "f" }]],
    ["A b=c, D e", ["A", { b: "c" }], ["D", {}, "e"]],
    ["A b=c, d =e", ["A", { b: "c", d: "e" }]],
    ["A constructor=b", ["A", { constructor: "b" }]],
    ["A b=c, A b=d", ["A", { b: "c" }], ["A", { b: "d" }]],
    // RFC 9110, section 5.6.2: a token is more than letters.
    ["!#$%&'*+-.^_`|~ a=b", ["!#$%&'*+-.^_`|~", { a: "b" }]],
    ["X !#$%&'*+-.^_`|~=1", ["X", { "!#$%&'*+-.^_`|~": "1" }]],
  ];
  for (const [value, ...expected] of rows) {
    assertEquals(
      parseChallenges(value),
      expected.map(([scheme, params, token68]) =>
        token68 === undefined ? { scheme, params } : { scheme, params, token68 }
      ),
      value,
    );
  }
});

Deno.test("parseChallenges() unescapes quoted strings and splits nothing in them", () => {
  for (
    const [quoted, value] of [
      ['""', ""],
      ['" "', " "],
      ['"a,b=c"', "a,b=c"],
      ['"\\""', '"'],
      ['"\\\\"', "\\"],
      ['"\\\\\\""', '\\"'],
      ['"\\a\\b"', "ab"],
      ['"a\tb"', "a\tb"],
      ['"\u00e9\u00ff"', "\u00e9\u00ff"],
      ['"Bearer x=\\"y\\""', 'Bearer x="y"'],
    ] as const
  ) {
    const challenges = parseChallenges(`X a=${quoted}, b=c, Y`);
    assertEquals(challenges[0]?.params, { a: value, b: "c" }, quoted);
    assertEquals(challenges[1]?.scheme, "Y");
  }
});

Deno.test("parseChallenges() rejects an unquoted value that is not a token", () => {
  for (
    const value of [
      ...["https://api.example/m?a=b", "https://[::1]:8080/.well-known/x#y"],
      ...["a==b", "a/b", "a:b", "<>@;:\\/[]?={}()", "\u00e9"],
    ]
  ) {
    for (const header of [`Bearer c=${value}`, `Bearer a=b, c=${value}, d=e`]) {
      assertThrowsCode(
        () => parseChallenges(header),
        "invalid_challenge",
        "Invalid challenge: expected ",
      );
    }
    const quoted = `"${value.replaceAll("\\", "\\\\")}"`;
    assertEquals(parseChallenges(`Bearer c=${quoted}`)[0]?.params.c, value);
  }
});

Deno.test("parseChallenges() rejects what the grammar does not allow", () => {
  for (
    const value of [
      ...["=", "=a", '"a"', "a=b", "Bearer a b", "Bearer a=b c=d"],
      ...["Bearer a=b c", 'Bearer a="b" c="d"', 'Bearer a="b"c'],
      ...['Bearer a=b"c"', 'Bearer a="b', 'Bearer a="b\\', 'Bearer a="b\\"'],
      ...['Bearer "a"="b"', 'Bearer "a"', "Bearer a=b;c=d e", "Bearer a:b"],
      ...["Bearer =b", "Bear(er a=b", "B\u00e9arer", "Bearer a\u00e9=b"],
      ...["Bearer a=b\u00a0c", "Bearer\u00a0a=b", "Bearer a=b, /"],
      ...["Bearer\na=b", "@"],
      // One or more spaces follow a scheme, and no tab.
      "Bearer\ta=b",
      "Bearer\tYII=",
      "Bearer \ta=b",
      // Only a quoted value can be empty.
      "Bearer realm=, scope=read",
      "Bearer a=b, c=",
      "Bearer a=b, c= , d=e",
      // Parameters follow a scheme, not a comma or a token68.
      "Basic, a=b",
      "Basic\t, a=b",
      "Negotiate YII=, a=b",
      "Negotiate YII, a=b",
      "X a==, b=c",
      "X a= , b=c",
      // Section 5.6.4: neither control characters nor more than one octet.
      'Bearer a="\u0000"',
      'Bearer a="b\nc"',
      'Bearer a="\u007f"',
      'Bearer a="\\\u0000"',
      'Bearer a="\u0100"',
      'Bearer a="\u20ac"',
      'Bearer a="\u{1f600}"',
    ]
  ) {
    assertThrowsCode(() => parseChallenges(value), "invalid_challenge");
  }
});

Deno.test("parseChallenges() rejects a parameter that occurs twice", () => {
  for (const value of ["X a=1, a=2", "X a=1, A=1", 'X a="1", b=2, a=1']) {
    assertThrows(
      () => parseChallenges(value),
      OAuthClientError,
      "parameter a occurs twice",
    );
    assertThrows(
      () => parseChallenges(value, { duplicates: "error" }),
      OAuthClientError,
    );
  }
});

Deno.test("parseChallenges() keeps the first or the last of two parameters on request", () => {
  const value = "X a=1, A=2, b=3, a=4, Y a=5";
  for (const [duplicates, a] of [["keep_first", "1"], ["keep_last", "4"]]) {
    assertEquals(
      parseChallenges(value, {
        duplicates: duplicates as "keep_first" | "keep_last",
      }),
      [
        { scheme: "X", params: { a: a!, b: "3" } },
        { scheme: "Y", params: { a: "5" } },
      ],
    );
  }
});

Deno.test("parseChallenges() rejects what is not a string", () => {
  for (const value of [undefined, null, 1, {}, ["Bearer"]]) {
    assertThrowsCode(
      () => parseChallenges(value as unknown as string),
      "invalid_argument",
      "value must be a string",
    );
  }
});

Deno.test("parseChallenges() rejects options of the wrong type", () => {
  const rows: [options: unknown, message: string][] = [
    [1, "options must be an object"],
    ["keep_first", "options must be an object"],
    ...["", "first", "keep_all", null, 1, true, {}].map((duplicates) =>
      [
        { duplicates },
        'duplicates must be "error", "keep_first" or "keep_last"',
      ] as [unknown, string]
    ),
  ];
  for (const [options, message] of rows) {
    assertThrowsCode(
      () => parseChallenges("X a=1", options as never),
      "invalid_argument",
      message,
    );
  }
});
