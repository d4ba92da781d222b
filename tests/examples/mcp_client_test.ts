/** A client of the MCP SDK with an authorized fetch stays signed in over a restart. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  codeFlow,
  createAuthorizedFetch,
  memoryStore,
} from "@oauth-helper/client";
import { createTestServers } from "@oauth-helper/client/testing";
import { assertEquals } from "@std/assert";

async function handle(request: Request): Promise<Response> {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.registerTool("read", {}, () => ({ content: [] }));
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
  });
  await server.connect(transport);
  return await transport.handleRequest(request);
}

Deno.test("an MCP client stays signed in", async () => {
  const servers = createTestServers({ handle, replaySeconds: 30 });
  const { resource, fetch, now, receiver } = servers;
  const store = memoryStore();
  for (const _start of ["first", "restart"]) {
    const authorize = codeFlow(receiver);
    const api = createAuthorizedFetch(resource, {
      flow: authorize,
      fetch,
      now,
      store,
    });
    const client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StreamableHTTPClientTransport(new URL(resource), {
      fetch: api,
    });
    await client.connect(transport);
    servers.expireAccessTokens();
    await client.callTool({ name: "read" });
    servers.advance(3600);
    servers.failNext("token", "lose_response");
    await client.callTool({ name: "read" });
    await client.close();
  }
  assertEquals(servers.received("authorization").length, 1);
  assertEquals(servers.received("token", "refresh_token").length, 6);
});
