/** An assertion is made for each sign-in, and sent to its own server only. */

import { assertEquals } from "@std/assert";
import {
  adviceFor,
  assertionFlow,
  type AssertionFlowOptions,
  type AssertionRequest,
  clientSecretBasic,
  type FlowRequest,
  GRANT_TYPE_JWT_BEARER,
  type OAuthClientError,
  publicClient,
  type Session,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
  contextOf,
  MCP,
  SERVER,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";

const CLIENT = { issuer: AS, client_id: "workload" };
const REQUEST: FlowRequest = {
  context: contextOf(SERVER),
  scopes: ["read"],
};

/** The assertion of a platform, which nobody verifies here. */
function assertionFor(aud: unknown): string {
  return unverifiedJwt({ iss: "https://platform.example", sub: "w1", aud });
}

const ASSERTION = assertionFor(AS);
const granted = json({ access_token: "a1", refresh_token: "r1" });

/** Runs the flow once: the session or the error, and what was requested. */
async function run(
  options: Partial<AssertionFlowOptions> = {},
  answer: Answer = granted,
  request: Partial<FlowRequest> = {},
) {
  using stub = stubFetch({ [TOKEN_ENDPOINT]: answer });
  const authorize = assertionFlow({
    client: CLIENT,
    getAssertion: () => ASSERTION,
    ...options,
  });
  const { fetch } = stub;
  const result: Session | OAuthClientError = await authorize({
    ...{ ...REQUEST, fetch },
    ...request,
  }).catch((error) => error);
  return {
    session: result as Session,
    error: result as OAuthClientError,
    forms: stub.forms,
  };
}

Deno.test("assertionFlow() asks for an assertion for the server, and exchanges it", async () => {
  const asked: AssertionRequest[] = [];
  const { session, forms } = await run(
    {
      getAssertion(request) {
        asked.push(request);
        return Promise.resolve(ASSERTION);
      },
      authorizationDetails: [{ type: "deploy" }],
      parameters: { tenant: "t1" },
    },
    granted,
    { scopes: ["read", "openid", "offline_access"] },
  );
  assertEquals(asked, [{
    audience: AS,
    tokenEndpoint: TOKEN_ENDPOINT,
    resource: MCP,
    scopes: ["read"],
    signal: undefined,
  }]);
  assertEquals(forms, [{
    grant_type: GRANT_TYPE_JWT_BEARER,
    assertion: ASSERTION,
    resource: MCP,
    scope: "read",
    authorization_details: '[{"type":"deploy"}]',
    tenant: "t1",
    client_id: "workload",
  }]);
  assertEquals(session.token, { access_token: "a1", token_type: "Bearer" });
  assertEquals(session.client, { client_id: CLIENT.client_id });
  assertEquals(JSON.stringify(session).includes(ASSERTION), false);
});

Deno.test("assertionFlow() asks for a new assertion each time", async () => {
  using stub = stubFetch({ [TOKEN_ENDPOINT]: granted });
  let count = 0;
  const authorize = assertionFlow({
    client: CLIENT,
    getAssertion: () => assertionFor([AS, `${++count}`]),
  });
  const request = { ...REQUEST, fetch: stub.fetch };
  const session = await authorize(request);
  await authorize({ ...request, session });
  assertEquals(count, 2);
  assertEquals(new Set(stub.requests.map(({ body }) => body)).size, 2);
});

Deno.test("assertionFlow() sends an assertion alone without a client", async () => {
  const { session, forms } = await run({ client: undefined });
  assertEquals(forms[0]?.client_id, undefined);
  // Nothing can be refreshed or revoked by a client without an identifier.
  assertEquals(session.client, undefined);
});

Deno.test("assertionFlow() sends an assertion for another server only where the client names the issuer", async () => {
  const cases: [aud: unknown, isSent: boolean][] = [
    [AS, true],
    [`${AS}/`, true],
    [TOKEN_ENDPOINT, true],
    [["https://other.example", AS], true],
    ["https://other.example", false],
    [["https://other.example"], false],
    [`${AS}.evil.example`, false],
    [undefined, false],
    [5, false],
  ];
  for (const [aud, isSent] of cases) {
    const getAssertion = () => assertionFor(aud);
    const row = JSON.stringify(aud);
    for (const client of [undefined, publicClient("workload")]) {
      const { error, forms } = await run({ client, getAssertion });
      assertEquals(forms.length, isSent ? 1 : 0, row);
      assertEquals(error?.code, isSent ? undefined : "issuer_mismatch", row);
    }
    const { forms } = await run({ getAssertion });
    assertEquals(forms.length, 1, row);
  }
  const opaque = await run({ client: undefined, getAssertion: () => "opaque" });
  assertEquals(opaque.error.code, "issuer_mismatch");
});

Deno.test("assertionFlow() sends no assertion for the token endpoint of another origin that a server names", async () => {
  const endpoint = "https://other.example/token";
  using stub = stubFetch({ [endpoint]: granted });
  const context = contextOf({ ...SERVER, token_endpoint: endpoint });
  const request = { ...REQUEST, context, fetch: stub.fetch };
  const getAssertion = ({ tokenEndpoint = "" }: AssertionRequest) =>
    assertionFor(tokenEndpoint);
  const alone = () => assertionFlow({ getAssertion })(request);
  await assertRejectsCode(alone, "issuer_mismatch");
  assertEquals(stub.requests, []);
  // Many servers have it there.
  await assertionFlow({ client: CLIENT, getAssertion })(request);
  assertEquals(stub.requests.length, 1);
});

Deno.test("assertionFlow() sends nothing to another server than that of the client", async () => {
  let count = 0;
  const { error, forms } = await run({
    client: { issuer: "https://other.example", client_id: "workload" },
    getAssertion: () => `${++count}`,
  });
  assertEquals([error.code, forms, count], ["issuer_mismatch", [], 0]);
});

Deno.test("assertionFlow() repeats nothing after a refusal", async () => {
  const rows = [
    ["invalid_grant", "reauthorize"],
    ["invalid_scope", "give_up"],
    ["unauthorized_client", "give_up"],
    ["invalid_client", "give_up"],
    ["access_denied", "give_up"],
  ] as const;
  await eachRowInTurn(rows, async ([code, action]) => {
    const answer = json({ error: code }, { status: 400 });
    const { error, forms } = await run({}, answer);
    assertEquals([error.error, error.request], [code, "assertion"]);
    assertEquals([forms.length, adviceFor(error).action], [1, action], code);
  });
});

Deno.test("assertionFlow() fails without an assertion, and does not send it after an abort", async () => {
  const empty = await run({ getAssertion: () => "" });
  assertEquals([empty.error.code, empty.forms], ["invalid_argument", []]);
  const controller = new AbortController();
  const getAssertion = () => {
    controller.abort("enough");
    return ASSERTION;
  };
  const { signal } = controller;
  const { error, forms } = await run({ getAssertion }, granted, { signal });
  assertEquals([error, forms], [untyped("enough"), []]);
});

Deno.test("assertionFlow() refuses options of the wrong type when it is created", () => {
  const getAssertion = () => ASSERTION;
  const rows = [
    undefined,
    { client: CLIENT },
    { client: CLIENT, getAssertion: ASSERTION },
    { client: clientSecretBasic("c", "s"), getAssertion },
    { client: "workload", getAssertion },
  ];
  for (const wrong of rows) {
    assertThrowsCode(() => assertionFlow(untyped(wrong)), "invalid_argument");
  }
});
