/** The authorization code flow with servers built with the MCP TypeScript SDK. */
import { assertEquals } from "@std/assert";
import {
  discoverFrom,
  registerPublicClient,
  signIn,
  statusFor,
} from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import {
  type IMcpSdkServerOptions,
  startMcpSdkServer,
} from "../servers/mcp_sdk_server.ts";

const VARIANTS: [what: string, options: IMcpSdkServerOptions][] = [
  ["with its defaults", {}],
  ["at the root of its origin", { path: "/" }],
  ["with metadata at the root only", { metadataAt: "root" }],
  [
    "without resource metadata, which responds to every path with 200",
    { metadataAt: null, unknownPages: "app" },
  ],
];

for (const [what, options] of VARIANTS) {
  Deno.test(`a client gets from a 401 to a 200 at an MCP SDK server ${what}`, async () => {
    await using server = await startMcpSdkServer(options);
    const context = await discoverFrom(server.resource);
    assertEquals(context.issuer, server.issuer);
    assertEquals(context.scopes, ["mcp:read", "mcp:write"]);
    const client = await registerPublicClient(context);
    const token = await signIn(context, { client });
    assertEquals(await statusFor(server.resource, token), 200);
    const wrong = { access_token: `${token.access_token}x` };
    assertEquals(await statusFor(server.resource, wrong), 401);
  });
}

Deno.test("a client gets from a 401 to a 200 at an MCP SDK server with a token of oidc-provider", async () => {
  await using authorization = await startAuthorizationServer({
    path: "/tenant1",
  });
  await using server = await startMcpSdkServer({
    authorizationServer: authorization.issuer,
  });
  const context = await discoverFrom(server.resource);
  assertEquals(context.issuer, authorization.issuer);
  const client = await registerPublicClient(context);
  const token = await signIn(context, { client });
  assertEquals(await statusFor(context.resource, token), 200);
});

Deno.test("a client gets from a 401 to a 200 at an MCP SDK server without any metadata", async () => {
  await using server = await startMcpSdkServer({
    metadataAt: null,
    serverMetadata: false,
  });
  const context = await discoverFrom(server.resource);
  assertEquals(context.source, "fallback");
  assertEquals(context.serverMetadataUrl, undefined);
  assertEquals(context.issuer, server.origin);
  const client = await registerPublicClient(context);
  const token = await signIn(context, { client });
  assertEquals(await statusFor(server.resource, token), 200);
});
