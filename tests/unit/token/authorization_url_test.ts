/**
 * The URL for the browser has the parameters of the request, and keeps the query of
 * the endpoint.
 */

import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import {
  buildAuthorizationUrl,
  type BuildAuthorizationUrlOptions,
} from "../../../mod.ts";
import { AS, assertThrowsCode, pinThrown } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const SERVER = {
  issuer: AS,
  authorization_endpoint: `${AS}/authorize`,
  code_challenge_methods_supported: ["plain", "S256"],
};
const OPTIONS: BuildAuthorizationUrlOptions = {
  clientId: "c1",
  redirectUri: "http://127.0.0.1:8123/callback?x=1",
  state: "st-1",
  codeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
};
const BASE = {
  response_type: "code",
  client_id: "c1",
  redirect_uri: "http://127.0.0.1:8123/callback?x=1",
  state: "st-1",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
};
const NAMES = [
  ...Object.keys(BASE),
  ...["scope", "resource", "authorization_details"],
];

const build = (
  options: Partial<BuildAuthorizationUrlOptions> = {},
  members: Record<string, unknown> = {},
) =>
  buildAuthorizationUrl(untyped({ ...SERVER, ...members }), {
    ...OPTIONS,
    ...options,
  });

/** The parameters as an object; fails if one is repeated. */
function parametersOf(url: URL): Record<string, string> {
  const keys = [...url.searchParams.keys()];
  assertEquals(new Set(keys).size, keys.length, url.search);
  return Object.fromEntries(url.searchParams);
}

Deno.test("buildAuthorizationUrl() returns the encoded URL", () => {
  const expected =
    "https://as.example/authorize?response_type=code&client_id=c1" +
    "&redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcallback%3Fx%3D1" +
    "&state=st-1" +
    "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" +
    "&code_challenge_method=S256" +
    "&resource=https%3A%2F%2Fapi.example%2Fmcp&scope=read%20a%26b" +
    "&authorization_details=%5B%7B%22type%22%3A%22a%22%7D%5D";
  // An endpoint has no fragment (RFC 6749, section 3.1).
  for (const fragment of ["", "#", "#/login?state=evil&x=1"]) {
    const authorization_endpoint = `${AS}/authorize${fragment}`;
    const url = build({
      redirectUri: new URL(OPTIONS.redirectUri),
      scopes: ["read", "a&b"],
      resource: "https://api.example/mcp",
      authorizationDetails: [{ type: "a" }],
    }, { authorization_endpoint });
    assertEquals(url.href, expected);
  }
});

Deno.test("buildAuthorizationUrl() leaves out what is empty", () => {
  const rows: Partial<BuildAuthorizationUrlOptions>[] = [
    { scopes: undefined, resource: undefined, parameters: undefined },
    { scopes: [], resource: false, authorizationDetails: [], parameters: {} },
    { resource: "", parameters: { prompt: "" } },
  ];
  eachRow(rows, (options) => {
    assertEquals(parametersOf(build(options)), BASE);
  });
});

Deno.test("buildAuthorizationUrl() keeps the query of the endpoint, except its own parameters", () => {
  const query = NAMES.map((name) => `${name}=evil&${name}=twice`).join("&");
  const authorization_endpoint = `${AS}/authorize?tenant=t%201&${query}&p=x`;
  const rows: Partial<BuildAuthorizationUrlOptions>[] = [
    { resource: new URL("https://API.example"), scopes: ["read"] },
    // RFC 8707: byte for byte.
    { resource: "https://API.example:443/mcp" },
    { resource: false, parameters: { tenant: "", prompt: "consent" } },
    { parameters: { tenant: "t2" } },
  ];
  eachRow(rows, (options) => {
    const { resource, scopes, parameters = {} } = options;
    assertEquals(parametersOf(build(options, { authorization_endpoint })), {
      tenant: parameters.tenant || "t 1",
      p: "x",
      ...BASE,
      ...(resource && { resource: String(resource) }),
      ...(scopes && { scope: "read" }),
      ...(parameters.prompt && { prompt: "consent" }),
    });
  });
});

Deno.test("buildAuthorizationUrl() rejects a further parameter that it sets itself", () => {
  const client = ["client_secret", "client_assertion", "client_assertion_type"];
  for (const name of [...NAMES, ...client]) {
    for (const value of ["hush", ""]) {
      const { message } = assertThrowsCode(
        () => build({ parameters: { prompt: "x", [name]: value } }),
        "invalid_argument",
      );
      assertStringIncludes(message, ` ${name},`);
      if (name === "state") pinMessage(message);
    }
  }
});

Deno.test("buildAuthorizationUrl() requires PKCE with S256", () => {
  const rows: [methods: unknown, assumePkce: boolean, isBuilt: boolean][] = [
    [["S256"], false, true],
    [[7, null, "S256"], false, true],
    [undefined, false, false],
    [undefined, true, true],
    [[], false, false],
    [["plain"], false, false],
    [["s256"], false, false],
    // assumePkce does not contradict what the server lists.
    [[], true, false],
    [["plain"], true, false],
    [[["S256"]], true, false],
    // What is not a list counts as none.
    ["S256", false, false],
    ["S256", true, true],
    [{}, true, true],
  ];
  for (const [methods, assumePkce, isBuilt] of rows) {
    const call = () =>
      build({ assumePkce }, { code_challenge_methods_supported: methods });
    if (isBuilt) {
      assertEquals(parametersOf(call()), BASE);
      continue;
    }
    const error = pinThrown(call, "unsupported");
    const isList = Array.isArray(methods);
    assertEquals(error.message.includes("assumePkce"), !isList);
  }
});

Deno.test("buildAuthorizationUrl() requires a usable authorization_endpoint", () => {
  const rows: [endpoint: unknown, code: string][] = [
    ["javascript:alert(1)", "url_refused"],
    ["http://as.example/authorize", "url_refused"],
    [undefined, "unsupported"],
  ];
  for (const [authorization_endpoint, code] of rows) {
    const call = () => build({}, { authorization_endpoint });
    pinThrown(call, code);
  }
  const http = { authorization_endpoint: "http://as.example" };
  assertEquals(build({ allowHttp: true }, http).origin, "http://as.example");
});

Deno.test("buildAuthorizationUrl() names the argument that is wrong", () => {
  // The tests of the bodies of token requests have every wrong value of the last four.
  const rows: [name: string, ...wrong: unknown[]][] = [
    ["clientId", undefined, null, "", 1, {}],
    ["redirectUri", undefined, null, "", 1],
    ["state", undefined, null, "", 1, ["s"]],
    ["codeChallenge", undefined, null, "", 1, {}],
    ["scopes", "read", ["a b"]],
    ["resource", 1],
    ["authorizationDetails", "[]", [{}]],
    ["parameters", null, { x: 1 }],
  ];
  eachRow(rows, ([name, ...wrong]) => {
    for (const value of wrong) {
      const error = pinThrown(
        () => build({ [name]: value }),
        "invalid_argument",
      );
      assertFalse(error.message.includes(OPTIONS.codeChallenge));
    }
  });
  const buildNothing = () => buildAuthorizationUrl(SERVER, untyped(undefined));
  pinThrown(buildNothing, "invalid_argument");
});
