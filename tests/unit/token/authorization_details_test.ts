import { assertEquals } from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  buildClientCredentialsBody,
  buildDeviceTokenBody,
  buildJwtBearerBody,
  buildRefreshTokenBody,
  buildTokenExchangeBody,
  fetchDeviceAuthorization,
  fetchToken,
  type IAuthorizationDetail,
  publicClient,
  refreshToken,
} from "../../../mod.ts";
import {
  AS,
  assertThrowsCode,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";

interface IOptions {
  authorizationDetails?: readonly IAuthorizationDetail[];
}

const DETAILS = [{ type: "a", actions: ["read"] }, { type: "b", x: null }];
const JSON_TEXT = '[{"type":"a","actions":["read"]},{"type":"b","x":null}]';

/** Everything that builds a request in which RFC 9396 allows the parameter. */
const BUILDERS: Record<string, (options: IOptions) => URLSearchParams> = {
  buildAuthorizationUrl: (options) =>
    buildAuthorizationUrl({
      issuer: AS,
      authorization_endpoint: `${AS}/authorize?authorization_details=other`,
      code_challenge_methods_supported: ["S256"],
    }, {
      clientId: "c1",
      redirectUri: "http://127.0.0.1/",
      state: "s",
      codeChallenge: "x",
      ...options,
    }).searchParams,
  buildAuthorizationCodeBody: (options) =>
    buildAuthorizationCodeBody({
      code: "c",
      redirectUri: "http://127.0.0.1/",
      codeVerifier: "v",
      ...options,
    }),
  buildRefreshTokenBody: (options) =>
    buildRefreshTokenBody({ refreshToken: "r", ...options }),
  buildClientCredentialsBody: (options) => buildClientCredentialsBody(options),
  buildDeviceTokenBody: (options) =>
    buildDeviceTokenBody({ deviceCode: "d", ...options }),
  buildJwtBearerBody: (options) =>
    buildJwtBearerBody({ assertion: "j", ...options }),
  buildTokenExchangeBody: (options) =>
    buildTokenExchangeBody({
      subjectToken: "t",
      subjectTokenType: "u",
      ...options,
    }),
};

for (const [name, build] of Object.entries(BUILDERS)) {
  Deno.test(`${name}() sends authorization details as JSON`, () => {
    const body = build({ authorizationDetails: DETAILS });
    assertEquals(body.get("authorization_details"), JSON_TEXT);
    assertEquals(build({}).has("authorization_details"), false);
    const empty = build({ authorizationDetails: [] });
    assertEquals(empty.has("authorization_details"), false);
  });

  Deno.test(`${name}() rejects authorization details that are no list of typed objects`, () => {
    for (
      const value of [
        JSON_TEXT,
        { type: "a" },
        ["a"],
        [null],
        [[]],
        [{}],
        [{ type: "" }],
        [{ type: 7 }],
      ]
    ) {
      assertThrowsCode(
        () => build({ authorizationDetails: untyped(value) }),
        "invalid_argument",
        "authorizationDetails must be an array",
      );
    }
  });
}

Deno.test("fetchDeviceAuthorization() sends authorization details", async () => {
  using stubbed = stubFetch({
    [DEVICE_AUTHORIZATION_ENDPOINT]: json(DEVICE_AUTHORIZATION),
  });
  await fetchDeviceAuthorization(SERVER, {
    client: publicClient("c1"),
    authorizationDetails: DETAILS,
    fetch: stubbed.fetch,
  });
  const form = new URLSearchParams(stubbed.requests[0]!.body);
  assertEquals(form.get("authorization_details"), JSON_TEXT);
});

Deno.test("fetchToken() keeps granted authorization details, and drops anything else in their place", async () => {
  const rows: [sent: unknown, kept: unknown][] = [
    [DETAILS, DETAILS],
    [[], []],
    [JSON_TEXT, undefined],
    [[{}], undefined],
    [null, undefined],
  ];
  for (const [authorization_details, kept] of rows) {
    using stubbed = stubFetch({
      [TOKEN_ENDPOINT]: json({ access_token: "t", authorization_details }),
    });
    const token = await fetchToken(SERVER, buildClientCredentialsBody(), {
      fetch: stubbed.fetch,
    });
    assertEquals<unknown>(token.authorization_details, kept);
    assertEquals("authorization_details" in token, kept !== undefined);
  }
});

Deno.test("refreshToken() keeps the authorization details that the response leaves out", async () => {
  const [a, b] = DETAILS as IAuthorizationDetail[];
  const rows: [
    requested: IAuthorizationDetail[] | undefined,
    returned: IAuthorizationDetail[] | undefined,
    expected: IAuthorizationDetail[],
  ][] = [
    [undefined, undefined, [a!, b!]],
    [[], undefined, [a!, b!]],
    [[a!], undefined, [a!]],
    [[a!], [b!], [b!]],
    [undefined, [b!], [b!]],
  ];
  for (const [authorizationDetails, returned, expected] of rows) {
    using stubbed = stubFetch({
      [TOKEN_ENDPOINT]: json({
        access_token: "t",
        authorization_details: returned,
      }),
    });
    const token = await refreshToken(
      SERVER,
      { refresh_token: "r", authorization_details: [a!, b!] },
      { authorizationDetails, fetch: stubbed.fetch },
    );
    assertEquals(token.authorization_details, expected);
    const form = new URLSearchParams(stubbed.requests[0]!.body);
    assertEquals(
      form.get("authorization_details"),
      authorizationDetails?.length
        ? JSON.stringify(authorizationDetails)
        : null,
    );
  }
});
