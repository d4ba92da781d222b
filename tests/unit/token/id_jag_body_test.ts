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

Deno.test("buildIdJagExchangeBody() writes every parameter in its order", () => {
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

Deno.test("buildResourceRedemptionBody() writes every parameter in its order", () => {
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

type Kind = "text" | "optional text" | "texts";

const BUILDERS: {
  build: (...args: never[]) => URLSearchParams;
  right: unknown[];
  args: [name: string, kind: Kind][];
}[] = [
  {
    build: buildIdJagExchangeBody,
    right: ["client", "secret", "token", "audience", "resource", ["scope"]],
    args: [
      ["clientId", "text"],
      ["clientSecret", "optional text"],
      ["idToken", "text"],
      ["audience", "text"],
      ["resource", "optional text"],
      ["scopes", "texts"],
    ],
  },
  {
    build: buildResourceRedemptionBody,
    right: ["client", "secret", "jag", "resource", ["scope"]],
    args: [
      ["clientId", "text"],
      ["clientSecret", "optional text"],
      ["idJag", "text"],
      ["resource", "optional text"],
      ["scopes", "texts"],
    ],
  },
];

const NO_TEXT: unknown[] = [
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
  "text": [...NO_TEXT, "", undefined, null, false, 0],
  "optional text": NO_TEXT,
  "texts": [
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

for (const { build, right, args } of BUILDERS) {
  for (const [place, [name, kind]] of args.entries()) {
    Deno.test(`${build.name}() refuses a wrong ${name} without showing it`, () => {
      for (const value of WRONG[kind]) {
        const error = assertThrows(
          () => build(...right.with(place, value) as never[]),
          OAuthClientError,
        );
        assertEquals(error.code, "invalid_argument");
        assertEquals(
          error.message,
          kind === "texts"
            ? `${name} must be an array of strings`
            : `${name} must be a non-empty string`,
        );
      }
    });
  }
}

Deno.test("buildIdJagExchangeBody() keeps the order of the scopes", () => {
  const scopes = Object.freeze(["b", "a", "b"]);
  const body = buildIdJagExchangeBody("c", "s", "t", "a", "r", scopes);
  assertEquals(body.get("scope"), "b a b");
});

/** Well-formed Unicode, which a form can carry unchanged. */
const text = fc.string({ unit: "binary" });
const filled = fc.string({ unit: "binary", minLength: 1 });
const maybe = fc.option(text, { nil: undefined });
const scopeList = fc.array(filled, { maxLength: 4 });

/** Whether the encoded body holds just the members that have a value. */
function assertBody(
  body: URLSearchParams,
  members: [string, string | undefined][],
): void {
  assertEquals(
    [...new URLSearchParams(body.toString())],
    members.filter((member): member is [string, string] => !!member[1]),
  );
}

Deno.test("buildIdJagExchangeBody() can be read back whatever the arguments", () => {
  const args = fc.tuple(filled, maybe, filled, filled, maybe, scopeList);
  fc.assert(
    fc.property(args, (args) => {
      const [id, secret, token, audience, resource, scopes] = args;
      assertBody(buildIdJagExchangeBody(...args), [
        ["client_id", id],
        ["client_secret", secret],
        ["grant_type", GRANT_TYPE_TOKEN_EXCHANGE],
        ["subject_token", token],
        ["subject_token_type", TOKEN_TYPE_ID_TOKEN],
        ["requested_token_type", TOKEN_TYPE_ID_JAG],
        ["audience", audience],
        ["resource", resource],
        ["scope", scopes.join(" ")],
      ]);
    }),
    { numRuns: 300 },
  );
});

Deno.test("buildResourceRedemptionBody() can be read back whatever the arguments", () => {
  const args = fc.tuple(filled, maybe, filled, maybe, scopeList);
  fc.assert(
    fc.property(args, (args) => {
      const [id, secret, jag, resource, scopes] = args;
      assertBody(buildResourceRedemptionBody(...args), [
        ["client_id", id],
        ["client_secret", secret],
        ["grant_type", GRANT_TYPE_JWT_BEARER],
        ["assertion", jag],
        ["resource", resource],
        ["scope", scopes.join(" ")],
      ]);
    }),
    { numRuns: 300 },
  );
});
