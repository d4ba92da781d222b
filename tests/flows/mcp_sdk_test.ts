/** The code flow against servers built with the MCP TypeScript SDK. */
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

const variants: [what: string, options: IMcpSdkServerOptions][] = [
  ["as it comes", {}],
  ["at the root of its origin", { path: "/" }],
  ["with metadata at the root as well", { metadataAtRoot: true }],
  [
    "with metadata at the root alone",
    { metadataAtPath: false, metadataAtRoot: true },
  ],
  [
    "without metadata of the resource, in an app that answers everything",
    { metadataAtPath: false, unknownPages: "app" },
  ],
];

for (const [what, options] of variants) {
  Deno.test(`discoverAuthorization() leads from a 401 to a 200 at the MCP SDK, ${what}`, async () => {
    await using server = await startMcpSdkServer(options);
    const context = await discoverFrom(server.resource);
    assertEquals(context.issuer, server.issuer);
    assertEquals(context.scopes, ["mcp:read", "mcp:write"]);
    const client = await registerPublicClient(context);
    const token = await signIn(context, { client });
    assertEquals(token.token_type.toLowerCase(), "bearer");
    assertEquals(await statusFor(server.resource, token), 200);
    const wrong = { access_token: `${token.access_token}x` };
    assertEquals(await statusFor(server.resource, wrong), 401);
  });
}

Deno.test("discoverAuthorization() leads from a 401 to a 200 at the MCP SDK with tokens of oidc-provider", async () => {
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

Deno.test("discoverAuthorization() takes an MCP SDK server without metadata for its own", async () => {
  await using server = await startMcpSdkServer({
    metadataAtPath: false,
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
