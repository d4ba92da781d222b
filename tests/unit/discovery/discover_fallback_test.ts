import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { discoverAuthorization, OAuthClientError } from "../../../mod.ts";
import { API, AS, MCP, OAUTH, PRM } from "../../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";

const API_OAUTH = `${API}/.well-known/oauth-authorization-server`;
const API_OPENID = `${API}/.well-known/openid-configuration`;
const MISSING = text("Missing", 404);

const DOWN: [name: string, answer: Answer][] = [
  ["is down", text("Unavailable", 503)],
  ["is too busy", text("Later", 429)],
  ["cannot be reached", failing(new TypeError("Cable cut"))],
  ["is larger than it may be", text(" ".repeat(2_000_000), 200)],
  [
    "is said to be elsewhere",
    () =>
      new Response(null, {
        status: 302,
        headers: { Location: "https://other.example/" },
      }),
  ],
];

for (const [name, answer] of DOWN) {
  Deno.test(`discoverAuthorization() assumes no endpoints where the resource's metadata ${name}`, async () => {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: answer,
      [PRM]: MISSING,
      [API_OAUTH]: MISSING,
      [API_OPENID]: MISSING,
    });
    const error = await assertRejects(
      () => discoverAuthorization(MCP, { fetch: stubbed.fetch }),
      OAuthClientError,
    );
    assertEquals(error.code, "discovery_failed");
    assertEquals(error.attempts?.length, 4);
    assertStringIncludes(error.message, `${PRM}/mcp (`);
  });

  Deno.test(`discoverAuthorization() takes the origin's own metadata where the resource's ${name}`, async () => {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: answer,
      [PRM]: MISSING,
      [API_OAUTH]: json({ issuer: API, token_endpoint: `${API}/token` }),
    });
    const found = await discoverAuthorization(MCP, { fetch: stubbed.fetch });
    assertEquals([found.source, found.issuer], ["fallback", API]);
  });
}

Deno.test("discoverAuthorization() assumes endpoints for a resource that names no server and where none is published", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({ resource: MCP }),
    [API_OAUTH]: MISSING,
    [API_OPENID]: MISSING,
  });
  const found = await discoverAuthorization(MCP, { fetch: stubbed.fetch });
  assertEquals(found.source, "fallback");
  assertEquals(found.serverMetadata.token_endpoint, `${API}/token`);
  assertEquals(found.attempts.map(({ error }) => error !== undefined), [
    false,
    true,
    true,
  ]);
});

Deno.test("discoverAuthorization() leaves out addresses that no user should be sent to", async () => {
  const odd = {
    op_policy_uri: "javascript:alert(1)",
    op_tos_uri: "data:text/html,x",
    service_documentation: " javascript:alert(1)",
    revocation_endpoint: "file:///etc/passwd",
    userinfo_endpoint: "nowhere",
  };
  const kept = {
    issuer: AS,
    token_endpoint: `${AS}/token`,
    jwks_uri: "http://as.example/jwks",
    introspection_endpoint: `${AS}/introspect`,
  };
  const resource = { resource: MCP, authorization_servers: [AS] };
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({
      ...resource,
      resource_documentation: "https://api.example/docs",
      resource_policy_uri: "javascript:alert(1)",
    }),
    [OAUTH]: json({ ...odd, ...kept }),
  });
  const { fetch } = stubbed;
  const found = await discoverAuthorization(MCP, { fetch });
  assertEquals(found.serverMetadata, kept as typeof found.serverMetadata);
  assertEquals(found.resourceMetadata, {
    ...resource,
    resource_documentation: "https://api.example/docs",
  });
});

Deno.test("discoverAuthorization() asks no server that was chosen and not named", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [AS] }),
  });
  const { fetch } = stubbed;
  const choices = [() => "https://other.example", () => `${AS}/`, 5];
  for (const choose of choices) {
    const error = await discoverAuthorization(MCP, {
      fetch,
      selectAuthorizationServer: choose as () => string,
    }).catch((error) => error);
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.code, "invalid_argument");
    assertStringIncludes(error.message, "selectAuthorizationServer");
  }
});

Deno.test("discoverAuthorization() shows no credentials of an address", async () => {
  const address = "https://user:pa55word@api.example/meta";
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({ resource: "https://user:pa55word@api.example/mcp" }),
  });
  const { fetch } = stubbed;
  const error = await assertRejects(
    () =>
      discoverAuthorization(MCP, {
        fetch,
        challenge: `Bearer resource_metadata="${address}"`,
      }),
    OAuthClientError,
  );
  const told = JSON.stringify(error) + error.message +
    error.attempts?.map(({ url, error }) => url + error?.message);
  assertEquals(told.includes("pa55word"), false, told);
});
