/**
 * Each leg of cross-app access sends its credentials and its assertion to its own
 * server.
 */

import {
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
} from "@std/assert";
import {
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  fetchIdJag,
  type FetchIdJagOptions,
  OAuthClientError,
  redeemIdJag,
  type RedeemIdJagOptions,
  TOKEN_TYPE_ACCESS_TOKEN,
} from "../../../mod.ts";
import {
  AS,
  assertInvalidArgument,
  ID_JAG_CLAIMS,
  ID_JAG_TYPE,
  idJagReply,
  IDP,
  MCP,
  metadataOf,
  NOW,
  pinRejected,
  SERVER,
  signIdJag,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const TYP = "oauth-id-jag+jwt";
const TOKEN_TYPE_SAML2 = "urn:ietf:params:oauth:token-type:saml2";

/** A JWT that is not signed, as a library would not sign it. */
function unsigned(
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): string {
  // JSON can have a number that is infinite.
  const payload = JSON.stringify({ ...ID_JAG_CLAIMS, ...claims })
    .replace('"INFINITE"', "1e400");
  const head = JSON.stringify({ alg: "none", typ: TYP, ...header });
  return `${btoa(head)}.${btoa(payload)}.`;
}

/** Fetches an ID-JAG: the result or the error, and what was requested. */
async function fetchFrom(
  answer: Answer,
  options: Partial<FetchIdJagOptions> = {},
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

const granted = json({ access_token: "t", token_type: "Bearer" });

/** Redeems an ID-JAG: the result or the error, and what was requested. */
async function redeem(
  assertion: string,
  options: RedeemIdJagOptions = {},
  metadata = SERVER,
  answer: Answer = granted,
) {
  using stubbed = stubFetch({ [`${metadata.issuer}/token`]: answer });
  const result = await redeemIdJag(metadata, { assertion }, {
    fetch: stubbed.fetch,
    now: () => NOW * 1000,
    ...options,
  }).catch((error) => error);
  return { result, requests: stubbed.requests };
}

function assertInvalid(result: unknown, named: string): void {
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "invalid_id_jag", result.message);
  assertStringIncludes(pinMessage(result).message, named);
}

Deno.test("fetchIdJag() requests an ID-JAG with the credentials at the identity provider", async () => {
  const assertion = await signIdJag({ acr: "mfa", resource: [MCP] });
  const answer = idJagReply(assertion, { expires_in: 9_999, scope: "read" });
  const { result, requests } = await fetchFrom(answer, {
    client: clientSecretBasic("c-at-idp", "s"),
    resource: MCP,
    scopes: ["read", "write"],
    parameters: { tenant: "t1" },
    resourceClientId: "c-at-as",
    subjectTokenType: TOKEN_TYPE_SAML2,
  });
  assertEquals(result, {
    assertion,
    claims: { ...ID_JAG_CLAIMS, acr: "mfa", resource: [MCP] },
    audience: AS,
    expires_at: NOW + 300,
    scope: "read",
  });
  assertEquals(requests.length, 1);
  assertEquals([...new URLSearchParams(requests[0]?.body)], [
    ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
    ["subject_token", "id.to.ken"],
    ["subject_token_type", TOKEN_TYPE_SAML2],
    ["requested_token_type", ID_JAG_TYPE],
    ["audience", AS],
    ["resource", MCP],
    ["scope", "read write"],
    ["tenant", "t1"],
  ]);
  const basic = `Basic ${btoa("c-at-idp:s")}`;
  assertEquals(requests[0]?.headers.Authorization, basic);
});

const GOOD = unsigned({});

type Row = [
  token: string,
  members?: Record<string, unknown>,
  options?: Partial<FetchIdJagOptions>,
];

Deno.test("fetchIdJag() accepts every ID-JAG that matches the request", async () => {
  const rows: Row[] = [
    [await signIdJag(), { token_type: "n_a" }],
    [unsigned({}, { typ: "OAuth-ID-JAG+JWT" })],
    [unsigned({}, { typ: `application/${TYP}` })],
    [unsigned({ aud: [AS] })],
    [unsigned({ resource: MCP }), {}, { resource: new URL(MCP) }],
    // A claim that was not requested, or is missing.
    [GOOD, {}, { resource: MCP }],
    [unsigned({ resource: MCP }), {}, { resource: false }],
    [unsigned({ cnf: { jkt: "x" } })],
    [unsigned({ exp: NOW + 1 })],
  ];
  await eachRowInTurn(rows, async ([token, members, options]) => {
    const { result } = await fetchFrom(idJagReply(token, members), options);
    assertEquals(result.assertion, token);
  });
});

/** ID-JAGs with each of these values of a claim. */
const claiming = (name: string, ...values: unknown[]): Row[] =>
  values.map((value) => [unsigned({ [name]: value })]);

/** By what the message names, and a word more if there are two of them. */
const REFUSED: Record<string, Row[]> = {
  "JWT": ["opaque", "a.b", "a.b.c", "\u20ac.e30.e30", `${GOOD}.x`]
    .map((token) => [token]),
  "issued_token_type": [undefined, null, 1, [], "x", TOKEN_TYPE_ACCESS_TOKEN]
    .map((issued_token_type) => [GOOD, { issued_token_type }]),
  "token_type": [
    [GOOD, { token_type: "Bearer" }],
    [GOOD, { token_type: "DPoP" }],
  ],
  "typ": [
    ...["JWT", "at+jwt", "application/jwt", undefined, {}, [TYP], 7, null],
    { toString: 1, valueOf: 1 },
  ].map((typ) => [unsigned({}, { typ })]),
  "iss is missing": claiming("iss", undefined, "", 7, null, ["x"]),
  "sub": claiming("sub", undefined, "", 7, null, ["x"]),
  "jti": claiming("jti", undefined, "", 7, null, ["x"]),
  "client_id is missing": claiming("client_id", undefined, "", 7, null, ["x"]),
  "iat": claiming("iat", undefined, "9999", null, {}, "INFINITE"),
  "exp": claiming("exp", undefined, "9999", null, {}, "INFINITE"),
  "iss": claiming("iss", "https://evil.example", `${IDP}/t`),
  "aud": claiming(
    "aud",
    ...["https://evil.example", `${AS}/`, undefined, []],
    ...[[AS, "https://x.example"], [AS, AS]],
  ),
  "client_id": [[GOOD, {}, { resourceClientId: "c2" }]],
  "resource": ["https://x.example", [MCP, "https://x.example"]]
    .map((resource) => [unsigned({ resource }), {}, { resource: MCP }]),
  "": claiming("exp", NOW, 0),
};

for (const [problem, rows] of Object.entries(REFUSED)) {
  Deno.test(`fetchIdJag() refuses an ID-JAG: ${problem || "it has expired"}`, async () => {
    await eachRowInTurn(rows, async ([token, members, options]) => {
      const { result } = await fetchFrom(idJagReply(token, members), options);
      assertInvalid(result, problem.replace(/ .*/, ""));
    });
  });
}

Deno.test("both legs compare the key of the ID-JAG with the DPoP key", async () => {
  const dpop = await createDpop();
  const other = await createDpop();
  const bound = json({ access_token: "t", token_type: "DPoP" });
  const rows: [cnf: unknown, isAccepted: boolean][] = [
    [{ jkt: dpop.thumbprint }, true],
    [{ jkt: other.thumbprint }, false],
    [{ jkt: "" }, false],
    [{}, false],
    [dpop.thumbprint, false],
    [undefined, false],
    [null, false],
  ];
  await eachRowInTurn(rows, async ([cnf, isAccepted]) => {
    const token = unsigned({ cnf });
    const first = await fetchFrom(idJagReply(token), { dpop });
    const second = await redeem(token, { dpop }, SERVER, bound);
    assertEquals(second.requests.length, isAccepted ? 1 : 0);
    if (isAccepted) {
      assertEquals(first.result.assertion, token);
      assertEquals(second.result.access_token, "t");
    } else {
      assertInvalid(first.result, "cnf.jkt");
      assertInvalid(second.result, "cnf.jkt");
    }
  });
});

Deno.test("redeemIdJag() sends the assertion with the credentials at this server", async () => {
  const assertion = await signIdJag({ aud: [AS] });
  const { result, requests } = await redeem(assertion, {
    client: clientSecretBasic("c-at-as", "s2"),
    resource: MCP,
    scopes: ["read"],
    parameters: { x: "1" },
  });
  assertEquals(result, { access_token: "t", token_type: "Bearer" });
  assertEquals([...new URLSearchParams(requests[0]?.body)], [
    ["grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
    ["assertion", assertion],
    ["resource", MCP],
    ["scope", "read"],
    ["x", "1"],
  ]);
  const basic = `Basic ${btoa("c-at-as:s2")}`;
  assertEquals(requests[0]?.headers.Authorization, basic);
});

Deno.test("redeemIdJag() sends an ID-JAG to no server but its audience", async () => {
  const evil = "https://evil.example";
  for (const issuer of [`${AS}/`, `${AS}/t`, "https://AS.example", IDP, evil]) {
    using stubbed = stubFetch({});
    const { fetch } = stubbed;
    // The stored audience and claims could have been changed.
    const idJag = {
      assertion: await signIdJag(),
      audience: issuer,
      claims: { ...ID_JAG_CLAIMS, aud: issuer },
      expires_at: 9e9,
    };
    await pinRejected(
      () => redeemIdJag(metadataOf(issuer), idJag, { fetch, now: () => 0 }),
      "issuer_mismatch",
    );
  }
  for (const aud of [undefined, [], [AS, evil]]) {
    const { result, requests } = await redeem(unsigned({ aud }));
    assertEquals([result.code, requests.length], ["issuer_mismatch", 0]);
  }
});

Deno.test("redeemIdJag() makes no request with an ID-JAG that is not usable", async () => {
  const client = clientSecretPost("c-at-idp", "s1");
  const stranger = clientSecretPost("c-at-as", "s", { issuer: IDP });
  const rows: [token: string, options: RedeemIdJagOptions, part: string][] = [
    [GOOD, { client }, "client_id"],
    [unsigned({ exp: NOW }), {}, ""],
    [unsigned({}, { typ: "JWT" }), {}, "typ"],
    ["opaque", {}, "JWT"],
  ];
  await eachRowInTurn(rows, async ([token, options, part]) => {
    const { result, requests } = await redeem(token, options);
    assertInvalid(result, part);
    assertEquals(requests, []);
  });
  const { result } = await redeem(GOOD, { client: stranger });
  assertEquals(result.code, "issuer_mismatch");
  assertEquals((await redeem(unsigned({ exp: NOW + 1 }))).requests.length, 1);
});

Deno.test("cross-app access rejects invalid arguments before any request", async () => {
  const rows: [Record<string, unknown>, name: string][] = [
    [{ subjectToken: "" }, "subjectToken"],
    [{ subjectToken: undefined }, "subjectToken"],
    [{ subjectTokenType: "" }, "subjectTokenType"],
    [{ audience: "" }, "audience"],
    [{ parameters: { subject_token: "x" } }, "parameters"],
  ];
  await eachRowInTurn(rows, async ([options, name]) => {
    const { result, requests } = await fetchFrom(json({}), options);
    await assertInvalidArgument(() => Promise.reject(result), name);
    assertEquals(requests, []);
  });
  for (const idJag of ["a.b.c", { assertion: "" }]) {
    const call = () => redeemIdJag(SERVER, untyped(idJag), {});
    await assertInvalidArgument(call, "idJag.assertion");
  }
});
