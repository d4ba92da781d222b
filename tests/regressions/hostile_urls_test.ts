/** URLs and texts that a server chooses to obtain, to hide or to repeat a value. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  clientAssertion,
  createDpop,
  OAuthClientError,
  parseAuthorizationResponse,
  registerClient,
} from "../../mod.ts";
import {
  asm,
  codes,
  discovered,
  prm,
  undiscovered,
} from "../support/discover.ts";
import {
  API,
  AS,
  assertThrowsCode,
  OAUTH,
  PRM,
  REGISTRATION_ENDPOINT,
  SERVER,
} from "../support/fixtures.ts";
import { json, redirect, stubFetch, text } from "../support/stub_fetch.ts";
import { tokenErrorOf } from "../support/request_token.ts";

Deno.test("registerClient() ends with an error that repeats a secret which is a part of [redacted]", async () => {
  for (const value of ["redacted", "[redacted]", "redacted]"]) {
    using stub = stubFetch({
      [REGISTRATION_ENDPOINT]: text(`token ${value} is not valid`, 401),
    });
    const headers = { Authorization: `Bearer ${value}` };
    await assertRejects(
      () => registerClient(SERVER, {}, { headers, fetch: stub.fetch }),
      OAuthClientError,
      "token [redacted] is not valid",
    );
  }
});

Deno.test("fetchToken() keeps the assertion of the first try secret after a retry", async () => {
  const sent: string[] = [];
  const headers = { "DPoP-Nonce": "n1" };
  const error = await tokenErrorOf((request) => {
    const form = new URLSearchParams(request.body);
    sent.push(form.get("client_assertion")!);
    const members = sent.length === 1
      ? { error: "use_dpop_nonce" }
      : { error: "invalid_client", error_description: sent[0] };
    return Response.json(members, { status: 400, headers });
  }, {
    client: clientAssertion("c1", () => `s3cret-assertion-${sent.length}`),
    dpop: await createDpop(),
  });
  assertEquals(sent.length, 2);
  assertEquals(error.error_description, undefined);
});

Deno.test("discoverAuthorization() returns no control or bidi characters to show", async () => {
  const { resourceMetadata, serverMetadata } = await discovered({
    [`${PRM}/mcp`]: prm({
      resource_name: "Bank\u001b[2J\u202e",
      resource_documentation: "https://x.example/\u001b]0;pwn\u0007",
      resource_policy_uri: ["javascript:alert(1)"],
    }),
    [OAUTH]: asm(AS, {
      x_name: "A\u0085\u2066\n Bank",
      op_tos_uri: 7,
      service_documentation: "https://x.example/\u202ecod",
      userinfo_endpoint: ["https://x.example/"],
    }),
  });
  assertEquals(resourceMetadata, {
    resource: `${API}/mcp`,
    resource_name: "Bank[2J",
    authorization_servers: [AS],
  });
  const kept: Record<string, unknown> = { ...serverMetadata };
  assertEquals(kept, {
    issuer: AS,
    token_endpoint: `${AS}/token`,
    x_name: "A  Bank",
  });
});

Deno.test("parseAuthorizationResponse() cleans and cuts what the server says", () => {
  const parameters = new URLSearchParams({
    state: "s1",
    error: "access_denied",
    error_description: "x".repeat(50_000),
    error_uri: "https://x.example/\u001b]0;pwn\u0007\u202e",
  });
  const expected = { state: "s1", serverMetadata: SERVER };
  const error = assertThrowsCode(
    () => parseAuthorizationResponse(parameters, expected),
    "oauth_error",
  );
  assertEquals(error.error_description?.length, 2_000);
  assertEquals(error.error_uri, "https://x.example/]0;pwn");
});
