import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  buildIdJagExchangeBody,
  buildResourceRedemptionBody,
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
  OAuthClientError,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
} from "../../../mod.ts";

const EXCHANGE = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange";
const BEARER = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
const TYPES =
  "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid_token" +
  "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid-jag";

Deno.test("buildIdJagExchangeBody() returns every parameter in order", () => {
  const body = buildIdJagExchangeBody(
    "client",
    "secret",
    "a.b.c",
    "https://as.example",
    "https://api.example/mcp",
    ["read", "write"],
  );
  assert(body instanceof URLSearchParams);
  assertEquals(
    body.toString(),
    `client_id=client&client_secret=secret&grant_type=${EXCHANGE}` +
      `&subject_token=a.b.c&${TYPES}` +
      "&audience=https%3A%2F%2Fas.example" +
      "&resource=https%3A%2F%2Fapi.example%2Fmcp&scope=read+write",
  );
});

Deno.test("buildIdJagExchangeBody() leaves out what is not given", () => {
  const minimal = `client_id=client&grant_type=${EXCHANGE}` +
    `&subject_token=a.b.c&${TYPES}&audience=https%3A%2F%2Fas.example`;
  for (const empty of [undefined, ""]) {
    assertEquals(
      buildIdJagExchangeBody(
        "client",
        empty,
        "a.b.c",
        "https://as.example",
        empty,
        [],
      ).toString(),
      minimal,
    );
  }
});

Deno.test("buildIdJagExchangeBody() leaves out each optional parameter on its own", () => {
  const all = [
    "client_id",
    "client_secret",
    "grant_type",
    "subject_token",
    "subject_token_type",
    "requested_token_type",
    "audience",
    "resource",
    "scope",
  ];
  const keys = (
    ...[secret, resource, scopes]: [string?, string?, string[]?]
  ) => [
    ...buildIdJagExchangeBody("c", secret, "t", "a", resource, scopes ?? [])
      .keys(),
  ];
  const but = (name: string) => all.filter((key) => key !== name);
  assertEquals(keys("s", "r", ["x"]), all);
  assertEquals(keys(undefined, "r", ["x"]), but("client_secret"));
  assertEquals(keys("s", undefined, ["x"]), but("resource"));
  assertEquals(keys("s", "r", []), but("scope"));
});

Deno.test("buildResourceRedemptionBody() returns every parameter in order", () => {
  const body = buildResourceRedemptionBody(
    "client",
    "secret",
    "a.b.c",
    "https://api.example/mcp",
    ["read", "write"],
  );
  assert(body instanceof URLSearchParams);
  assertEquals(
    body.toString(),
    `client_id=client&client_secret=secret&grant_type=${BEARER}` +
      "&assertion=a.b.c&resource=https%3A%2F%2Fapi.example%2Fmcp" +
      "&scope=read+write",
  );
});

Deno.test("buildResourceRedemptionBody() leaves out what is not given", () => {
  const minimal = `client_id=client&grant_type=${BEARER}&assertion=a.b.c`;
  for (const empty of [undefined, ""]) {
    assertEquals(
      buildResourceRedemptionBody("client", empty, "a.b.c", empty, [])
        .toString(),
      minimal,
    );
  }
});

Deno.test("buildResourceRedemptionBody() leaves out each optional parameter on its own", () => {
  const all = [
    "client_id",
    "client_secret",
    "grant_type",
    "assertion",
    "resource",
    "scope",
  ];
  const keys = (
    ...[secret, resource, scopes]: [string?, string?, string[]?]
  ) => [
    ...buildResourceRedemptionBody("c", secret, "j", resource, scopes ?? [])
      .keys(),
  ];
  const but = (name: string) => all.filter((key) => key !== name);
  assertEquals(keys("s", "r", ["x"]), all);
  assertEquals(keys(undefined, "r", ["x"]), but("client_secret"));
  assertEquals(keys("s", undefined, ["x"]), but("resource"));
  assertEquals(keys("s", "r", []), but("scope"));
});

Deno.test("buildIdJagExchangeBody() sends empty strings of required arguments", () => {
  assertEquals(
    buildIdJagExchangeBody("", "", "", "", "", [""]).toString(),
    `client_id=&grant_type=${EXCHANGE}&subject_token=&${TYPES}&audience=&scope=`,
  );
});

Deno.test("buildResourceRedemptionBody() sends empty strings of required arguments", () => {
  assertEquals(
    buildResourceRedemptionBody("", "", "", "", [""]).toString(),
    `client_id=&grant_type=${BEARER}&assertion=&scope=`,
  );
});

Deno.test("buildIdJagExchangeBody() encodes special characters", () => {
  const odd = "a&b=c+d e%20#?/:;@\"'~*-._\n\u0000äö😀";
  const encoded = "a%26b%3Dc%2Bd+e%2520%23%3F%2F%3A%3B%40%22%27%7E*-._%0A%00" +
    "%C3%A4%C3%B6%F0%9F%98%80";
  assertEquals(
    buildIdJagExchangeBody(odd, odd, odd, odd, odd, [odd, odd]).toString(),
    `client_id=${encoded}&client_secret=${encoded}&grant_type=${EXCHANGE}` +
      `&subject_token=${encoded}&${TYPES}&audience=${encoded}` +
      `&resource=${encoded}&scope=${encoded}+${encoded}`,
  );
});

Deno.test("buildResourceRedemptionBody() encodes special characters", () => {
  assertEquals(
    buildResourceRedemptionBody("a&b", "=c+", "d e", "ä#", ["x y", "z"])
      .toString(),
    `client_id=a%26b&client_secret=%3Dc%2B&grant_type=${BEARER}` +
      "&assertion=d+e&resource=%C3%A4%23&scope=x+y+z",
  );
});

type Kind = "string" | "optional string" | "strings";

const BUILDERS: {
  build: (...args: never[]) => URLSearchParams;
  right: unknown[];
  args: [name: string, kind: Kind][];
}[] = [
  {
    build: buildIdJagExchangeBody,
    right: ["client", "secret", "token", "audience", "resource", ["scope"]],
    args: [
      ["clientId", "string"],
      ["clientSecret", "optional string"],
      ["idToken", "string"],
      ["audience", "string"],
      ["resource", "optional string"],
      ["scopes", "strings"],
    ],
  },
  {
    build: buildResourceRedemptionBody,
    right: ["client", "secret", "jag", "resource", ["scope"]],
    args: [
      ["clientId", "string"],
      ["clientSecret", "optional string"],
      ["idJag", "string"],
      ["resource", "optional string"],
      ["scopes", "strings"],
    ],
  },
];

const NO_STRING: unknown[] = [
  true,
  42,
  1n,
  Symbol("HIDDEN"),
  {},
  { toString: () => "HIDDEN" },
  [],
  ["HIDDEN"],
  () => "HIDDEN",
  new String("HIDDEN"),
  new URL("https://HIDDEN.example"),
];

const WRONG: Record<Kind, unknown[]> = {
  "string": [...NO_STRING, undefined, null, false, 0],
  "optional string": NO_STRING,
  "strings": [
    undefined,
    null,
    false,
    0,
    "",
    "HIDDEN",
    { length: 1, 0: "HIDDEN" },
    new Set(["HIDDEN"]),
    () => ["HIDDEN"],
    [42],
    [null],
    [undefined],
    ["HIDDEN", {}],
    [["HIDDEN"]],
  ],
};

const EXPECTED: Record<Kind, string> = {
  "string": "a string",
  "optional string": "a non-empty string",
  "strings": "an array of strings",
};

for (const { build, right, args } of BUILDERS) {
  for (const [place, [name, kind]] of args.entries()) {
    Deno.test(`${build.name}() rejects a wrong ${name} without quoting it`, () => {
      for (const value of WRONG[kind]) {
        const error = assertThrows(
          () => build(...right.with(place, value) as never[]),
          OAuthClientError,
        );
        assertEquals(error.code, "invalid_argument");
        assertEquals(error.message, `${name} must be ${EXPECTED[kind]}`);
      }
    });
  }
}

Deno.test("buildIdJagExchangeBody() sends scopes as given", () => {
  const scopes = Object.freeze(["b", "a", "b", "", "x y", '"']);
  const body = buildIdJagExchangeBody("c", "s", "t", "a", "r", scopes);
  assertEquals(body.get("scope"), 'b a b  x y "');
});

/** Well-formed Unicode, which a form carries unchanged. */
const strings = fc.string({ unit: "binary" });
const optional = fc.option(strings, { nil: undefined });
const scopeLists = fc.array(strings, { maxLength: 4 });

/** Checks the parameters of an encoded body; those that are undefined are absent. */
function assertBody(
  body: URLSearchParams,
  parameters: [string, string | undefined][],
): void {
  assertEquals(
    [...new URLSearchParams(body.toString())],
    parameters.filter((one): one is [string, string] => one[1] !== undefined),
  );
}

Deno.test("buildIdJagExchangeBody() encodes any arguments so that they can be read back", () => {
  const args = fc.tuple(
    ...[strings, optional, strings, strings, optional, scopeLists] as const,
  );
  fc.assert(
    fc.property(args, (args) => {
      const [id, secret, token, audience, resource, scopes] = args;
      assertBody(buildIdJagExchangeBody(...args), [
        ["client_id", id],
        ["client_secret", secret || undefined],
        ["grant_type", GRANT_TYPE_TOKEN_EXCHANGE],
        ["subject_token", token],
        ["subject_token_type", TOKEN_TYPE_ID_TOKEN],
        ["requested_token_type", TOKEN_TYPE_ID_JAG],
        ["audience", audience],
        ["resource", resource || undefined],
        ["scope", scopes.length > 0 ? scopes.join(" ") : undefined],
      ]);
    }),
    { numRuns: 300 },
  );
});

Deno.test("buildResourceRedemptionBody() encodes any arguments so that they can be read back", () => {
  const args = fc.tuple(
    ...[strings, optional, strings, optional, scopeLists] as const,
  );
  fc.assert(
    fc.property(args, (args) => {
      const [id, secret, jag, resource, scopes] = args;
      assertBody(buildResourceRedemptionBody(...args), [
        ["client_id", id],
        ["client_secret", secret || undefined],
        ["grant_type", GRANT_TYPE_JWT_BEARER],
        ["assertion", jag],
        ["resource", resource || undefined],
        ["scope", scopes.length > 0 ? scopes.join(" ") : undefined],
      ]);
    }),
    { numRuns: 300 },
  );
});
