import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  clientSecretBasic,
  createDpop,
  fetchIdJag,
  type IFetchIdJagOptions,
  OAuthClientError,
} from "../../../mod.ts";
import {
  AS,
  ID_JAG_CLAIMS,
  ID_JAG_TYPE,
  idJagReply,
  IDP,
  MCP,
  metadataOf,
  NOW,
  signIdJag,
} from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

/** An identity provider's answer with this token. */
function reply(
  access_token: string,
  members: Record<string, unknown> = {},
): Answer {
  return idJagReply(access_token, { expires_in: 300, ...members });
}

/** Asks for an ID-JAG and gives what came of it, with what was sent. */
async function ask(
  answer: Answer,
  options: Partial<IFetchIdJagOptions> = {},
) {
  using stubbed = stubFetch({ [`${IDP}/token`]: answer });
  const result = await fetchIdJag(metadataOf(IDP), {
    fetch: stubbed.fetch,
    subjectToken: "id.to.ken",
    audience: AS,
    now: () => NOW * 1000,
    ...options,
  }).catch((error) => error);
  return { result, requests: stubbed.requests };
}

Deno.test("fetchIdJag() asks the identity provider with its own credentials", async () => {
  const { requests } = await ask(reply(await signIdJag()), {
    client: clientSecretBasic("c-at-idp", "s"),
    resource: MCP,
    scopes: ["read", "write"],
    parameters: { tenant: "t1" },
  });
  assertEquals(requests.length, 1);
  const [request] = requests;
  assertEquals([...new URLSearchParams(request?.body)], [
    ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
    ["subject_token", "id.to.ken"],
    ["subject_token_type", "urn:ietf:params:oauth:token-type:id_token"],
    ["requested_token_type", ID_JAG_TYPE],
    ["audience", AS],
    ["resource", MCP],
    ["scope", "read write"],
    ["tenant", "t1"],
  ]);
  const basic = `Basic ${btoa("c-at-idp:s")}`;
  assertEquals(request?.headers.Authorization, basic);
});

Deno.test("fetchIdJag() exchanges a refresh token or a SAML assertion as well", async () => {
  for (const name of ["refresh_token", "saml2"]) {
    const subjectTokenType = `urn:ietf:params:oauth:token-type:${name}`;
    const { result, requests } = await ask(reply(await signIdJag()), {
      subjectTokenType,
    });
    const body = new URLSearchParams(requests[0]?.body);
    assertEquals(body.get("subject_token_type"), subjectTokenType);
    assertEquals(result.audience, AS);
  }
});

Deno.test("fetchIdJag() gives the assertion, its claims, audience and end", async () => {
  const assertion = await signIdJag({ acr: "mfa", scope: "read" });
  const { result } = await ask(reply(assertion, { expires_in: 9_999 }));
  assertEquals(result, {
    assertion,
    claims: { ...ID_JAG_CLAIMS, acr: "mfa", scope: "read" },
    audience: AS,
    expires_at: NOW + 300,
  });
});

Deno.test("fetchIdJag() gives the scope where the provider said so", async () => {
  const { result } = await ask(reply(await signIdJag(), { scope: "read" }));
  assertEquals(result.scope, "read");
});

const GOOD: [
  name: string,
  token: Promise<string>,
  members?: Record<string, unknown>,
  options?: Partial<IFetchIdJagOptions>,
][] = [
  ["token_type n_a in any case", signIdJag(), { token_type: "n_a" }],
  ["token_type N_a in any case", signIdJag(), { token_type: "N_a" }],
  ["no expires_in", signIdJag(), { expires_in: undefined }],
  ["the typ in any case", signIdJag({}, "OAuth-ID-JAG+JWT")],
  [
    "the typ as a whole media type",
    signIdJag(
      {},
      "application/oauth-id-jag+jwt",
    ),
  ],
  ["aud as an array of one", signIdJag({ aud: [AS] })],
  ["the client asked for", signIdJag(), {}, { resourceClientId: "c-at-as" }],
  ["the resource asked for", signIdJag({ resource: MCP }), {}, {
    resource: MCP,
  }],
  ["the resource asked for by a URL", signIdJag({ resource: MCP }), {}, {
    resource: new URL(MCP),
  }],
  ["that resource in an array", signIdJag({ resource: [MCP] }), {}, {
    resource: MCP,
  }],
  ["no resource though asked for", signIdJag(), {}, { resource: MCP }],
  ["a resource that was not asked for", signIdJag({ resource: MCP })],
  ["a resource where none was to be sent", signIdJag({ resource: MCP }), {}, {
    resource: false,
  }],
  ["an end in the next second", signIdJag({ exp: NOW + 1 })],
  ["a bound key that nobody asked for", signIdJag({ cnf: { jkt: "x" } })],
];

for (const [name, token, members, options] of GOOD) {
  Deno.test(`fetchIdJag() takes an ID-JAG with ${name}`, async () => {
    const assertion = await token;
    const { result } = await ask(reply(assertion, members), options);
    assertEquals(result.assertion, assertion);
  });
}

const ID_JAG_JWT_TYPE = "oauth-id-jag+jwt";
const opaque = ["opaque", "a.b", "a.b.c", "\u20ac.e30.e30"];
const BAD: [
  name: string,
  token: Promise<string>,
  problem: string,
  members?: Record<string, unknown>,
  options?: Partial<IFetchIdJagOptions>,
][] = [
  ...opaque.map((text): typeof BAD[0] => [
    `no JWT but ${text}`,
    Promise.resolve(text),
    "it is not a JWT",
  ]),
  ["no issued_token_type", signIdJag(), "issued_token_type", {
    issued_token_type: undefined,
  }],
  ["issued_token_type null", signIdJag(), "issued_token_type", {
    issued_token_type: null,
  }],
  ["an access token's type", signIdJag(), "issued_token_type", {
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
  }],
  ["token_type Bearer", signIdJag(), "token_type", { token_type: "Bearer" }],
  ["token_type DPoP", signIdJag(), "token_type", { token_type: "DPoP" }],
  ["typ JWT", signIdJag({}, "JWT"), "typ"],
  ["typ at+jwt", signIdJag({}, "at+jwt"), "typ"],
  ["no typ", signIdJag({}, ""), "typ"],
  [
    "typ with a media type's prefix only",
    signIdJag({}, "application/jwt"),
    "typ",
  ],
  ...[{ toString: 1, valueOf: 1 }, {}, [ID_JAG_JWT_TYPE], 7, null].map(
    (typ): typeof BAD[0] => [
      `typ ${JSON.stringify(typ)}`,
      unchecked({}, { typ }),
      "typ",
    ],
  ),
  ...["iss", "sub", "jti", "client_id"].flatMap(
    (claim): typeof BAD =>
      [undefined, "", 7, null, ["x"]].map((value) => [
        `${claim} ${JSON.stringify(value)}`,
        signIdJag({ [claim]: value }),
        claim,
      ]),
  ),
  ...["iat", "exp"].flatMap(
    (claim): typeof BAD =>
      [undefined, "9999", null, {}].map((value) => [
        `${claim} ${JSON.stringify(value)}`,
        // The library that signs refuses such times itself.
        unchecked({ [claim]: value }),
        claim,
      ]),
  ),
  ...["iat", "exp"].map((claim): typeof BAD[0] => [
    `${claim} without bounds`,
    uncheckedText(
      JSON.stringify({ ...ID_JAG_CLAIMS, [claim]: "?" }).replace(
        '"?"',
        "1e400",
      ),
    ),
    claim,
  ]),
  ["another iss", signIdJag({ iss: "https://evil.example" }), "iss"],
  ["iss with a path", signIdJag({ iss: `${IDP}/t` }), "iss"],
  ["another aud", signIdJag({ aud: "https://evil.example" }), "aud"],
  ["aud with a slash more", signIdJag({ aud: `${AS}/` }), "aud"],
  ["no aud", signIdJag({ aud: undefined }), "aud"],
  ["two auds", signIdJag({ aud: [AS, "https://x.example"] }), "aud"],
  ["an empty array for aud", signIdJag({ aud: [] }), "aud"],
  ["the same aud twice", signIdJag({ aud: [AS, AS] }), "aud"],
  ["another client", signIdJag(), "client_id", {}, { resourceClientId: "c2" }],
  [
    "another resource",
    signIdJag({ resource: "https://x.example" }),
    "resource",
    {},
    {
      resource: MCP,
    },
  ],
  [
    "two resources",
    signIdJag({ resource: [MCP, "https://x.example"] }),
    "resource",
    {},
    {
      resource: MCP,
    },
  ],
  ["an end that has come", signIdJag({ exp: NOW }), "expired"],
  ["an end long past", signIdJag({ exp: 0 }), "expired"],
];

/** A JWT whose claims are this JSON. */
function uncheckedText(
  claims: string,
  members: Record<string, unknown> = {},
): Promise<string> {
  const header = { alg: "none", typ: ID_JAG_JWT_TYPE, ...members };
  return Promise.resolve(`${btoa(JSON.stringify(header))}.${btoa(claims)}.`);
}

/** A JWT with claims and members of the header that a library would not sign. */
function unchecked(
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  return uncheckedText(JSON.stringify({ ...ID_JAG_CLAIMS, ...claims }), header);
}

for (const [name, token, problem, members, options] of BAD) {
  Deno.test(`fetchIdJag() refuses an ID-JAG with ${name}`, async () => {
    const { result } = await ask(reply(await token, members), options);
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "invalid_id_jag");
    assertStringIncludes(result.message, problem);
  });
}

Deno.test("fetchIdJag() compares the key of the ID-JAG with its own", async () => {
  const dpop = await createDpop();
  const other = await createDpop();
  const rows: [cnf: unknown, isTaken: boolean][] = [
    [{ jkt: dpop.thumbprint }, true],
    [{ jkt: other.thumbprint }, false],
    [{ jkt: "" }, false],
    [{}, false],
    [dpop.thumbprint, false],
    [undefined, false],
    [null, false],
  ];
  for (const [cnf, isTaken] of rows) {
    const answer = reply(await signIdJag({ cnf }));
    const { result, requests } = await ask(answer, { dpop });
    assertEquals(typeof requests[0]?.headers.DPoP, "string");
    if (isTaken) {
      assertEquals(result.audience, AS);
    } else {
      assertInstanceOf(result, OAuthClientError);
      assertEquals(result.code, "invalid_id_jag");
      assertStringIncludes(result.message, "cnf.jkt");
    }
  }
});

Deno.test("fetchIdJag() keeps what the provider wants for a new sign-in", async () => {
  const answer = json({
    error: "insufficient_user_authentication",
    error_description: "Sign in again",
    max_age: 60,
    acr_values: "mfa phr",
  }, { status: 400 });
  const { result } = await ask(answer);
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "oauth_error");
  assertEquals(result.error, "insufficient_user_authentication");
  assertEquals(result.errorResponse?.max_age, 60);
  assertEquals(result.errorResponse?.acr_values, "mfa phr");
});

Deno.test("fetchIdJag() tells the failures of a token request as they are", async () => {
  const rows: [Answer, code: string][] = [
    [failing(new TypeError("Cable cut")), "network_error"],
    [text("<html>", 502), "unexpected_status"],
    [text("<html>", 200), "invalid_response"],
    [
      json({ issued_token_type: ID_JAG_TYPE, token_type: "N_A" }),
      "invalid_response",
    ],
    [json({ error: "invalid_client" }, { status: 401 }), "oauth_error"],
  ];
  for (const [answer, code] of rows) {
    const { result } = await ask(answer);
    assertInstanceOf(result, OAuthClientError);
    assertEquals(String(result.code), code);
  }
});

Deno.test("fetchIdJag() sends nothing without subject token or audience, or with another issuer's client", async () => {
  const client = clientSecretBasic("c", "s", { issuer: AS });
  const rows: [Record<string, unknown>, code: string][] = [
    [{ subjectToken: "" }, "invalid_argument"],
    [{ subjectToken: undefined }, "invalid_argument"],
    [{ subjectTokenType: "" }, "invalid_argument"],
    [{ audience: "" }, "invalid_argument"],
    [{ audience: undefined }, "invalid_argument"],
    [{ client }, "issuer_mismatch"],
  ];
  for (const [options, code] of rows) {
    const { result, requests } = await ask(json({}), options);
    assertInstanceOf(result, OAuthClientError);
    assertEquals(String(result.code), code);
    assertEquals(requests, []);
  }
});

Deno.test("fetchIdJag() ends with the reason of an abort", async () => {
  const { answer, signal, reason } = aborted();
  const { result } = await ask(answer, { signal });
  assertEquals(result, reason);
});

Deno.test("fetchIdJag() refuses options that are no object", async () => {
  const error = await assertRejects(
    () => untyped(fetchIdJag)(metadataOf(IDP), null),
    OAuthClientError,
    "options must be an object",
  );
  assertEquals(error.code, "invalid_argument");
});
