import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { SignJWT } from "jose";
import {
  clientSecretBasic,
  createDpop,
  fetchIdJag,
  type IAuthorizationServerMetadata,
  type IFetchIdJagOptions,
  OAuthClientError,
} from "../mod.ts";
import {
  type Answer,
  failing,
  json,
  never,
  stubFetch,
  text,
  untyped,
} from "./_stub_fetch.ts";

const IDP = "https://idp.example";
const IDP_TOKEN = `${IDP}/token`;
const AS = "https://as.example";
const MCP = "https://api.example/mcp";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const NOW = 1_000;
const IDP_SERVER: IAuthorizationServerMetadata = {
  issuer: IDP,
  token_endpoint: IDP_TOKEN,
  response_types_supported: ["code"],
};
const CLAIMS = {
  iss: IDP,
  sub: "u1",
  aud: AS,
  client_id: "c-at-as",
  jti: "j1",
  iat: NOW - 5,
  exp: NOW + 300,
};
const KEY = new TextEncoder().encode("k".repeat(32));

/** Signs an ID-JAG; members that are undefined are left out. */
async function sign(
  claims: Record<string, unknown> = {},
  typ: string | undefined = "oauth-id-jag+jwt",
): Promise<string> {
  return await new SignJWT({ ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: "HS256", typ: typ || untyped(undefined) })
    .sign(KEY);
}

/** An identity provider's answer with this token. */
function reply(
  access_token: string,
  members: Record<string, unknown> = {},
): Answer {
  return json({
    access_token,
    issued_token_type: ID_JAG,
    token_type: "N_A",
    expires_in: 300,
    ...members,
  });
}

/** Asks for an ID-JAG and gives what came of it, with what was sent. */
async function ask(
  answer: Answer,
  options: Partial<IFetchIdJagOptions> = {},
) {
  using stubbed = stubFetch({ [IDP_TOKEN]: answer });
  const result = await fetchIdJag(IDP_SERVER, {
    fetch: stubbed.fetch,
    subjectToken: "id.to.ken",
    audience: AS,
    now: () => NOW * 1000,
    ...options,
  }).catch((error) => error);
  return { result, requests: stubbed.requests };
}

Deno.test("fetchIdJag() asks the identity provider with its own credentials", async () => {
  const { requests } = await ask(reply(await sign()), {
    client: clientSecretBasic("c-at-idp", "s"),
    resource: MCP,
    scopes: ["read", "write"],
    parameters: { tenant: "t1", audience: "https://evil.example" },
  });
  assertEquals(requests.length, 1);
  const [request] = requests;
  assertEquals([...new URLSearchParams(request?.body)], [
    ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
    ["subject_token", "id.to.ken"],
    ["subject_token_type", "urn:ietf:params:oauth:token-type:id_token"],
    ["requested_token_type", ID_JAG],
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
    const { result, requests } = await ask(reply(await sign()), {
      subjectTokenType,
    });
    const body = new URLSearchParams(requests[0]?.body);
    assertEquals(body.get("subject_token_type"), subjectTokenType);
    assertEquals(result.audience, AS);
  }
});

Deno.test("fetchIdJag() gives the assertion, its claims, audience and end", async () => {
  const assertion = await sign({ acr: "mfa", scope: "read" });
  const { result } = await ask(reply(assertion, { expires_in: 9_999 }));
  assertEquals(result, {
    assertion,
    claims: { ...CLAIMS, acr: "mfa", scope: "read" },
    audience: AS,
    expires_at: NOW + 300,
  });
});

Deno.test("fetchIdJag() gives the scope where the provider said so", async () => {
  const { result } = await ask(reply(await sign(), { scope: "read" }));
  assertEquals(result.scope, "read");
});

const GOOD: [
  name: string,
  token: Promise<string>,
  members?: Record<string, unknown>,
  options?: Partial<IFetchIdJagOptions>,
][] = [
  ["token_type n_a in any case", sign(), { token_type: "n_a" }],
  ["token_type N_a in any case", sign(), { token_type: "N_a" }],
  ["no expires_in", sign(), { expires_in: undefined }],
  ["the typ in any case", sign({}, "OAuth-ID-JAG+JWT")],
  ["aud as an array of one", sign({ aud: [AS] })],
  ["the client asked for", sign(), {}, { resourceClientId: "c-at-as" }],
  ["the resource asked for", sign({ resource: MCP }), {}, { resource: MCP }],
  ["that resource in an array", sign({ resource: [MCP] }), {}, {
    resource: MCP,
  }],
  ["no resource though asked for", sign(), {}, { resource: MCP }],
  ["a resource that was not asked for", sign({ resource: MCP })],
  ["a resource where none was to be sent", sign({ resource: MCP }), {}, {
    resource: false,
  }],
  ["an end in the next second", sign({ exp: NOW + 1 })],
  ["a bound key that nobody asked for", sign({ cnf: { jkt: "x" } })],
];

for (const [name, token, members, options] of GOOD) {
  Deno.test(`fetchIdJag() takes an ID-JAG with ${name}`, async () => {
    const assertion = await token;
    const { result } = await ask(reply(assertion, members), options);
    assertEquals(result.assertion, assertion);
  });
}

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
  ["no issued_token_type", sign(), "issued_token_type", {
    issued_token_type: undefined,
  }],
  ["issued_token_type null", sign(), "issued_token_type", {
    issued_token_type: null,
  }],
  ["an access token's type", sign(), "issued_token_type", {
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
  }],
  ["token_type Bearer", sign(), "token_type", { token_type: "Bearer" }],
  ["token_type DPoP", sign(), "token_type", { token_type: "DPoP" }],
  ["typ JWT", sign({}, "JWT"), "typ"],
  ["typ at+jwt", sign({}, "at+jwt"), "typ"],
  ["no typ", sign({}, ""), "typ"],
  ["typ with a media type's prefix only", sign({}, "application/jwt"), "typ"],
  ...["iss", "sub", "jti", "client_id"].flatMap(
    (claim): typeof BAD =>
      [undefined, "", 7, null, ["x"]].map((value) => [
        `${claim} ${JSON.stringify(value)}`,
        sign({ [claim]: value }),
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
  ["another iss", sign({ iss: "https://evil.example" }), "iss"],
  ["iss with a path", sign({ iss: `${IDP}/t` }), "iss"],
  ["another aud", sign({ aud: "https://evil.example" }), "aud"],
  ["aud with a slash more", sign({ aud: `${AS}/` }), "aud"],
  ["no aud", sign({ aud: undefined }), "aud"],
  ["two auds", sign({ aud: [AS, "https://x.example"] }), "aud"],
  ["an empty array for aud", sign({ aud: [] }), "aud"],
  ["the same aud twice", sign({ aud: [AS, AS] }), "aud"],
  ["another client", sign(), "client_id", {}, { resourceClientId: "c2" }],
  [
    "another resource",
    sign({ resource: "https://x.example" }),
    "resource",
    {},
    {
      resource: MCP,
    },
  ],
  [
    "two resources",
    sign({ resource: [MCP, "https://x.example"] }),
    "resource",
    {},
    {
      resource: MCP,
    },
  ],
  ["an end that has come", sign({ exp: NOW }), "expired"],
  ["an end long past", sign({ exp: 0 }), "expired"],
];

/** A JWT with claims that a library would not sign. */
function unchecked(claims: Record<string, unknown>): Promise<string> {
  const part = (value: unknown) => btoa(JSON.stringify(value));
  const header = part({ alg: "none", typ: "oauth-id-jag+jwt" });
  return Promise.resolve(`${header}.${part({ ...CLAIMS, ...claims })}.`);
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
    const answer = reply(await sign({ cnf }));
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
  assertEquals(result.code, "server_error");
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
      json({ issued_token_type: ID_JAG, token_type: "N_A" }),
      "invalid_response",
    ],
    [json({ error: "invalid_client" }, { status: 401 }), "server_error"],
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
  const reason = { why: "enough" };
  const controller = new AbortController();
  const { result } = await ask(() => {
    queueMicrotask(() => controller.abort(reason));
    return never();
  }, { signal: controller.signal });
  assertEquals(result, reason);
});

Deno.test("fetchIdJag() refuses options that are no object", async () => {
  const error = await assertRejects(
    () => untyped(fetchIdJag)(IDP_SERVER, null),
    OAuthClientError,
    "options must be an object",
  );
  assertEquals(error.code, "invalid_argument");
});
