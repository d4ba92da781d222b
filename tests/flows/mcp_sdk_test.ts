/** The authorization code flow with servers built with the MCP TypeScript SDK. */
import { assertEquals } from "@std/assert";
import {
  discoverFrom,
  registerPublicClient,
  signIn,
  statusFor,
} from "../servers/_flow.ts";
import { startMcpSdkServer } from "../servers/mcp_sdk_server.ts";

for (const hasMetadata of [true, false]) {
  const what = hasMetadata ? "with its defaults" : "without any metadata";
  Deno.test(`a client gets from a 401 to a 200 at an MCP SDK server ${what}`, async () => {
    await using server = await startMcpSdkServer({ hasMetadata });
    const { origin, resource } = server;
    const context = await discoverFrom(resource);
    assertEquals(new URL(context.issuer).origin, origin);
    assertEquals(context.scopes, ["mcp:read", "mcp:write"]);
    assertEquals(context.source === "fallback", !hasMetadata);
    assertEquals(context.serverMetadataUrl !== undefined, hasMetadata);
    const client = await registerPublicClient(context);
    const token = await signIn(context, { client });
    assertEquals(await statusFor(resource, token), 200);
    const wrong = { access_token: `${token.access_token}x` };
    assertEquals(await statusFor(resource, wrong), 401);
  });
}
