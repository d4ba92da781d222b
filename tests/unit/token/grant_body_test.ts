import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  buildAuthorizationCodeBody,
  buildClientCredentialsBody,
  buildDeviceTokenBody,
  buildJwtBearerBody,
  buildRefreshTokenBody,
  buildTokenExchangeBody,
  type ITokenBodyOptions,
  OAuthClientError,
  TOKEN_TYPE_ACCESS_TOKEN,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
} from "../../../mod.ts";

// Secrets begin with a word that must not appear in any message.
const CODE = { code: "hush-c", redirectUri: "r1", codeVerifier: "hush-v" };
const EXCHANGE = {
  subjectToken: "hush-s",
  subjectTokenType: TOKEN_TYPE_ID_TOKEN,
};
const ACTOR = { actorToken: "hush-a", actorTokenType: "t" };
const URN = "urn%3Aietf%3Aparams%3Aoauth%3A";

interface IBuilder {
  name: string;
  build: (options: ITokenBodyOptions) => URLSearchParams;
  /** The options that it cannot do without. */
  required: object;
  /** What those make of the body. */
  text: string;
  /** Names of all members of its own. */
  members: string[];
}

// deno-lint-ignore no-explicit-any
type AnyBuild = any;

const BUILDERS: IBuilder[] = [
  {
    name: "buildAuthorizationCodeBody",
    build: buildAuthorizationCodeBody as AnyBuild,
    required: CODE,
    text: "grant_type=authorization_code&code=hush-c&redirect_uri=r1" +
      "&code_verifier=hush-v",
    members: ["code", "redirect_uri", "code_verifier"],
  },
  {
    name: "buildRefreshTokenBody",
    build: buildRefreshTokenBody as AnyBuild,
    required: { refreshToken: "hush-r" },
    text: "grant_type=refresh_token&refresh_token=hush-r",
    members: ["refresh_token"],
  },
  {
    name: "buildClientCredentialsBody",
    build: buildClientCredentialsBody,
    required: {},
    text: "grant_type=client_credentials",
    members: [],
  },
  {
    name: "buildDeviceTokenBody",
    build: buildDeviceTokenBody as AnyBuild,
    required: { deviceCode: "hush-d" },
    text: `grant_type=${URN}grant-type%3Adevice_code&device_code=hush-d`,
    members: ["device_code"],
  },
  {
    name: "buildJwtBearerBody",
    build: buildJwtBearerBody as AnyBuild,
    required: { assertion: "hush-j" },
    text: `grant_type=${URN}grant-type%3Ajwt-bearer&assertion=hush-j`,
    members: ["assertion"],
  },
  {
    name: "buildTokenExchangeBody",
    build: buildTokenExchangeBody as AnyBuild,
    required: EXCHANGE,
    text: `grant_type=${URN}grant-type%3Atoken-exchange&subject_token=hush-s` +
      `&subject_token_type=${URN}token-type%3Aid_token`,
    members: [
      "subject_token",
      "subject_token_type",
      "requested_token_type",
      "audience",
      "actor_token",
      "actor_token_type",
    ],
  },
];

for (const { name, build, required, text, members } of BUILDERS) {
  Deno.test(`${name}() writes what is required and nothing else`, () => {
    for (
      const options of [
        {},
        { resource: undefined, scopes: undefined, parameters: undefined },
        { resource: false, scopes: [], parameters: {} },
        { resource: "", parameters: { x: "" } },
      ] as const
    ) {
      const body = build({ ...required, ...options });
      assert(body instanceof URLSearchParams);
      assertEquals(body.toString(), text);
    }
  });

  Deno.test(`${name}() adds resource, scope and further parameters, encoded`, () => {
    const body = build({
      ...required,
      resource: "https://API.example:443/m%20p?a=b",
      scopes: ["read", "a&b", "\u00fc"],
      parameters: { "x y": "1+1=2", z: "\u{1f600}" },
    });
    assertEquals(
      body.toString(),
      `${text}&resource=https%3A%2F%2FAPI.example%3A443%2Fm%2520p%3Fa%3Db` +
        "&scope=read+a%26b+%C3%BC&x+y=1%2B1%3D2&z=%F0%9F%98%80",
    );
  });

  Deno.test(`${name}() lets no further parameter replace or repeat its own`, () => {
    const own = ["grant_type", ...members, "resource", "scope"];
    const parameters = Object.fromEntries(own.map((key) => [key, "evil"]));
    for (const resource of [undefined, false, "", "https://api.example"]) {
      const scopes = resource ? ["read"] : undefined;
      const options = { ...required, resource, scopes } as ITokenBodyOptions;
      assertEquals(
        build({ ...options, parameters: { ...parameters, x: "1" } }).toString(),
        build({ ...options, parameters: { x: "1" } }).toString(),
      );
    }
    const body = build({ ...required, parameters });
    assertEquals(body.toString(), text);
  });

  Deno.test(`${name}() carries any value unharmed`, () => {
    const value = fc.string({ unit: "grapheme", minLength: 1 });
    const scope = fc.string({ minLength: 1 }).filter((one) => !/ /.test(one));
    const names = Object.keys(required);
    fc.assert(fc.property(
      fc.array(value, { minLength: names.length, maxLength: names.length }),
      value,
      fc.array(scope, { minLength: 1 }),
      (values, resource, scopes) => {
        const mine = Object.fromEntries(
          names.map((key, i) => [key, values[i]]),
        );
        const body = build({ ...mine, resource, scopes } as ITokenBodyOptions);
        const read = [...new URLSearchParams(body.toString())];
        assertEquals(read.slice(1), [
          ...values.map((one, i) => [members[i]!, one] as [string, string]),
          ["resource", resource],
          ["scope", scopes.join(" ")],
        ]);
      },
    ));
  });

  Deno.test(`${name}() names the option that is missing or of the wrong type`, () => {
    const rows: [option: string, wrong: unknown[]][] = [
      ...Object.keys(required).map((option): [string, unknown[]] => [
        option,
        [undefined, null, "", 0, 1, {}, ["hush"], false],
      ]),
      ["resource", [1, true, {}, ["hush"], new URL("https://hush.example")]],
      ["scopes", ["hush", 1, {}, [1], ["hush", null], new Set(["hush"])]],
      ["parameters", [null, "hush", 1, true]],
      ["parameters", [{ x: {} }, { x: 1 }, { x: null }, { x: ["hush"] }]],
      ["parameters", [new Map([["x", "hush"]]), new Headers({ x: "hush" })]],
    ];
    for (const [option, wrong] of rows) {
      for (const value of wrong) {
        const error = assertThrows(
          () => build({ ...required, [option]: value }),
          OAuthClientError,
          `${option} must be`,
          `${option}: ${Deno.inspect(value)}`,
        );
        assertEquals(error.code, "invalid_argument");
        assertFalse(/hush/.test(error.message), error.message);
      }
    }
  });

  Deno.test(`${name}() takes a client_id for a client without authentication`, () => {
    const body = build({ ...required, parameters: { client_id: "c1" } });
    assertEquals(body.toString(), `${text}&client_id=c1`);
  });

  Deno.test(`${name}() leaves its options as they were`, () => {
    const parameters = Object.freeze({ x: "1" });
    const scopes = Object.freeze(["b", "a"]);
    const options = Object.freeze({ ...required, parameters, scopes });
    build(options).append("y", "2");
    assertEquals(build(options).toString(), `${text}&scope=b+a&x=1`);
  });
}

Deno.test("every body builder but one refuses to go without options", () => {
  for (const { name, build } of BUILDERS) {
    for (const options of [undefined, null, "hush", 1]) {
      const isOptional = name === "buildClientCredentialsBody";
      if (isOptional && options === undefined) continue;
      const error = assertThrows(
        () => build(options as unknown as ITokenBodyOptions),
        OAuthClientError,
        "options must be an object",
        name,
      );
      assertEquals(error.code, "invalid_argument");
      assertFalse(/hush/.test(error.message));
    }
  }
  assertEquals(
    buildClientCredentialsBody().toString(),
    "grant_type=client_credentials",
  );
});

Deno.test("buildTokenExchangeBody() writes every member in its order", () => {
  const body = buildTokenExchangeBody({
    ...EXCHANGE,
    requestedTokenType: TOKEN_TYPE_ID_JAG,
    audience: "https://as.example",
    actorToken: "hush-a",
    actorTokenType: TOKEN_TYPE_ACCESS_TOKEN,
    resource: "https://api.example",
    scopes: ["read", "write"],
    parameters: { x: "1" },
  });
  assertEquals(
    body.toString(),
    `grant_type=${URN}grant-type%3Atoken-exchange&subject_token=hush-s` +
      `&subject_token_type=${URN}token-type%3Aid_token` +
      `&requested_token_type=${URN}token-type%3Aid-jag` +
      "&audience=https%3A%2F%2Fas.example&actor_token=hush-a" +
      `&actor_token_type=${URN}token-type%3Aaccess_token` +
      "&resource=https%3A%2F%2Fapi.example&scope=read+write&x=1",
  );
});

Deno.test("buildTokenExchangeBody() wants actor token and its type together", () => {
  for (const [one, value] of Object.entries(ACTOR)) {
    for (const other of [{}, { actorToken: "", actorTokenType: "" }]) {
      const error = assertThrows(
        () => buildTokenExchangeBody({ ...EXCHANGE, ...other, [one]: value }),
        OAuthClientError,
        "actorToken must be given together with actorTokenType",
      );
      assertEquals(error.code, "invalid_argument");
      assertFalse(/hush/.test(error.message));
    }
  }
  const body = buildTokenExchangeBody({ ...EXCHANGE, ...ACTOR });
  assertEquals(body.get("actor_token"), "hush-a");
});

Deno.test("buildTokenExchangeBody() names the optional member of the wrong type", () => {
  for (
    const [options, name] of [
      [{ requestedTokenType: 1 }, "requestedTokenType"],
      [{ audience: new URL("https://hush.example") }, "audience"],
      [{ audience: ["hush"] }, "audience"],
      [{ ...ACTOR, actorToken: 1 }, "actorToken"],
      [{ ...ACTOR, actorTokenType: {} }, "actorTokenType"],
    ] as const
  ) {
    const error = assertThrows(
      () => buildTokenExchangeBody({ ...EXCHANGE, ...options } as AnyBuild),
      OAuthClientError,
      `${name} must be`,
    );
    assertEquals(error.code, "invalid_argument");
    assertFalse(/hush/.test(error.message));
  }
});
