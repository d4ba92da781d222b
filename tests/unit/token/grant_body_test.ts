/** The body of each grant has the parameters of its standard, in encoded form. */

import {
  assert,
  assertEquals,
  assertFalse,
  assertStringIncludes,
} from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildClientCredentialsBody,
  buildDeviceTokenBody,
  buildJwtBearerBody,
  buildRefreshTokenBody,
  buildTokenExchangeBody,
  TOKEN_TYPE_ID_TOKEN,
  type TokenBodyOptions,
} from "../../../mod.ts";
import { assertThrowsCode, pinThrown } from "../../support/fixtures.ts";
import { eachRow } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

// Secrets begin with a word that must not appear in any message.
const CODE = { code: "hush-c", redirectUri: "r1", codeVerifier: "hush-v" };
const EXCHANGE = {
  subjectToken: "hush-s",
  subjectTokenType: TOKEN_TYPE_ID_TOKEN,
};
const ACTOR = { actorToken: "hush-a", actorTokenType: "t" };
const URN = "urn%3Aietf%3Aparams%3Aoauth%3A";

// deno-lint-ignore no-explicit-any
type AnyBuild = any;

/** The required options, the body with these alone, names of its parameters. */
type Row = [build: AnyBuild, required: object, text: string, members: string[]];

const BUILDERS: Row[] = [
  [
    buildAuthorizationCodeBody,
    CODE,
    "grant_type=authorization_code&code=hush-c&redirect_uri=r1" +
    "&code_verifier=hush-v",
    ["code", "redirect_uri", "code_verifier"],
  ],
  [
    buildRefreshTokenBody,
    { refreshToken: "hush-r" },
    "grant_type=refresh_token&refresh_token=hush-r",
    ["refresh_token"],
  ],
  [buildClientCredentialsBody, {}, "grant_type=client_credentials", []],
  [
    buildDeviceTokenBody,
    { deviceCode: "hush-d" },
    `grant_type=${URN}grant-type%3Adevice_code&device_code=hush-d`,
    ["device_code"],
  ],
  [
    buildJwtBearerBody,
    { assertion: "hush-j" },
    `grant_type=${URN}grant-type%3Ajwt-bearer&assertion=hush-j`,
    ["assertion"],
  ],
  [
    buildTokenExchangeBody,
    EXCHANGE,
    `grant_type=${URN}grant-type%3Atoken-exchange&subject_token=hush-s` +
    `&subject_token_type=${URN}token-type%3Aid_token`,
    [
      ...["subject_token", "subject_token_type", "requested_token_type"],
      ...["audience", "actor_token", "actor_token_type"],
    ],
  ],
];

for (const [build, required, text, members] of BUILDERS) {
  const { name } = build;

  Deno.test(`${name}() returns the required parameters and no others`, () => {
    const empty: TokenBodyOptions[] = [
      {},
      { resource: undefined, scopes: undefined, parameters: undefined },
      { resource: false, scopes: [], parameters: {}, authorizationDetails: [] },
      { resource: "", parameters: { x: "" } },
    ];
    for (const options of empty) {
      const body = build({ ...required, ...options });
      assert(body instanceof URLSearchParams);
      assertEquals(body.toString(), text);
    }
  });

  Deno.test(`${name}() adds resource, scope, details and further parameters in encoded form`, () => {
    const resource = "https://API.example/m%20p?a=b";
    const options = Object.freeze({
      ...required,
      resource,
      scopes: Object.freeze(["read", "a&b", "https://a.example/.default"]),
      authorizationDetails: Object.freeze([{ type: "b", x: null }]),
      parameters: Object.freeze({ "x y": "1+1=2", z: "\u{1f600}" }),
    });
    const url = build({ ...options, resource: new URL(resource) });
    assertEquals(url.get("resource"), "https://api.example/m%20p?a=b");
    assertEquals(
      build(options).toString(),
      `${text}&resource=https%3A%2F%2FAPI.example%2Fm%2520p%3Fa%3Db` +
        "&scope=read+a%26b+https%3A%2F%2Fa.example%2F.default" +
        "&authorization_details=%5B%7B%22type%22%3A%22b%22%2C%22x%22%3Anull%7D%5D" +
        "&x+y=1%2B1%3D2&z=%F0%9F%98%80",
    );
  });

  Deno.test(`${name}() rejects a further parameter that the request sets itself`, () => {
    const names = [
      ...["grant_type", ...members, "resource", "scope"],
      ...["authorization_details", "client_id", "client_secret"],
      ...["client_assertion", "client_assertion_type"],
    ];
    for (const key of names) {
      for (const value of ["hush", ""]) {
        const { message } = assertThrowsCode(
          () => build({ ...required, parameters: { x: "1", [key]: value } }),
          "invalid_argument",
        );
        assertStringIncludes(message, ` ${key},`);
        if (key === "resource") pinMessage(message);
      }
    }
  });

  Deno.test(`${name}() names the option that is missing or has the wrong type`, () => {
    const rows: [option: string, wrong: unknown[]][] = [
      ...Object.keys(required).map((option): [string, unknown[]] => [
        option,
        [undefined, null, "", 0, 1, {}, ["hush"], false],
      ]),
      ["resource", [1, true, {}, ["hush"]]],
      ["scopes", ["hush", 1, {}, [1], ["hush", null], new Set(["hush"])]],
      ["scopes", [[""], ["read write"], ["read", 'say"'], ["\u00e9"]]],
      ["authorizationDetails", ['[{"type":"hush"}]', { type: "hush" }]],
      ["authorizationDetails", [["hush"], [null], [[]], [{}], [{ type: 7 }]]],
      ["authorizationDetails", [[{ type: "" }]]],
      ["parameters", [null, "hush", 1, true]],
      ["parameters", [{ x: {} }, { x: 1 }, { x: null }, { x: ["hush"] }]],
      ["parameters", [new Map([["x", "hush"]]), new Headers({ x: "hush" })]],
    ];
    eachRow(rows, ([option, wrong]) => {
      for (const value of wrong) {
        const { message } = pinThrown(
          () => build({ ...required, [option]: value }),
          "invalid_argument",
        );
        assertStringIncludes(message, option);
        assertFalse(/hush/.test(message), message);
      }
    });
  });
}

Deno.test("buildClientCredentialsBody() requires no options", () => {
  assertEquals(
    buildClientCredentialsBody().toString(),
    "grant_type=client_credentials",
  );
});

Deno.test("buildAuthorizationCodeBody() accepts a URL as redirectUri", () => {
  const redirectUri = new URL("http://127.0.0.1:33418/");
  const body = buildAuthorizationCodeBody({ ...CODE, redirectUri });
  assertEquals(body.get("redirect_uri"), "http://127.0.0.1:33418/");
});

Deno.test("buildTokenExchangeBody() rejects wrong optional parameters", () => {
  const rows = [
    { actorToken: "hush-a" },
    { actorTokenType: "t" },
    { ...ACTOR, actorToken: "" },
    { requestedTokenType: 1 },
    { audience: new URL("https://hush.example") },
    { ...ACTOR, actorToken: 1 },
    { ...ACTOR, actorTokenType: {} },
  ];
  eachRow(rows, (options) => {
    const error = pinThrown(
      () => buildTokenExchangeBody({ ...EXCHANGE, ...options } as AnyBuild),
      "invalid_argument",
    );
    assertFalse(/hush/.test(error.message));
  });
});
