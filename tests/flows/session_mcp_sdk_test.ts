/** The authorized fetch within the transports of the MCP SDK, 1.x and 2.x. */
import { assert, assertEquals, assertRejects } from "@std/assert";
// @ts-types="@modelcontextprotocol/sdk/client/index"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as v2 from "@modelcontextprotocol/client";
import {
  type AuthorizedFetch,
  codeFlow,
  createAuthorizedFetch,
  type Flow,
} from "../../mod.ts";
import { REDIRECT_URI } from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { createBrowser } from "../servers/browser.ts";
import { startMcpServer } from "../servers/mcp_server.ts";

interface McpClient {
  callTool(request: { name: string }): Promise<unknown>;
  close(): Promise<void>;
}

const INFO = { name: "test", version: "1.0.0" };

const clients: [
  version: string,
  connect: (url: URL, fetch: AuthorizedFetch) => Promise<McpClient>,
][] = [
  ["1.x", async (url, fetch) => {
    const client = new Client(INFO);
    const transport = new StreamableHTTPClientTransport(url, { fetch });
    // deno-lint-ignore no-explicit-any
    await client.connect(transport as any);
    return client as unknown as McpClient;
  }],
  ["2.x", async (url, fetch) => {
    const client = new v2.Client(INFO);
    await client.connect(new v2.StreamableHTTPClientTransport(url, { fetch }));
    return client as unknown as McpClient;
  }],
];

for (const [version, connect] of clients) {
  Deno.test(`createAuthorizedFetch() is the fetch of the MCP SDK ${version}`, async () => {
    await using server = await startAuthorizationServer();
    await using mcp = await startMcpServer(server.issuer);
    let now = Date.now();
    const visits: URL[] = [];
    const browser = createBrowser();
    const api = createAuthorizedFetch(mcp.resource, {
      now: () => now,
      flow: codeFlow({
        clientMetadata: { client_name: "MCP test" },
        redirectUri: REDIRECT_URI,
        visit(url) {
          visits.push(url);
          return browser.authorize(url);
        },
      }),
    });
    const tokens = () =>
      server.requests.filter((one) => one === "POST /token").length;
    const client = await connect(new URL(mcp.resource), api);
    const call = async (name: string) =>
      assertEquals(await client.callTool({ name }), {
        content: [{ type: "text", text: `${name} done` }],
      });
    await call("read");
    assertEquals([visits.length, tokens()], [1, 1]);

    now += 3_600_000;
    await call("read");
    assertEquals([visits.length, tokens()], [1, 2]);

    for (const token of mcp.accepted) mcp.revoked.add(token);
    await Promise.all([1, 2, 3, 4].map(() => call("read")));
    assertEquals([visits.length, tokens()], [1, 3]);

    await call("write");
    assertEquals([visits.length, tokens()], [2, 4]);
    const scopes = visits[1]!.searchParams.get("scope")?.split(" ");
    assertEquals(scopes?.toSorted(), [
      "mcp:read",
      "mcp:write",
      "offline_access",
    ]);
    await client.close();
  });

  Deno.test(`createAuthorizedFetch() lets an error of authorize reach connect() of the MCP SDK ${version}`, async () => {
    await using server = await startAuthorizationServer();
    await using mcp = await startMcpServer(server.issuer);
    const reason = new Error("not today");
    const authorize: Flow = () => Promise.reject(reason);
    const api = createAuthorizedFetch(mcp.resource, { flow: authorize });
    const error = await assertRejects(() =>
      connect(new URL(mcp.resource), api)
    );
    assert(error === reason);
  });
}

Deno.test("createAuthorizedFetch().renew() serves as the authProvider of the MCP SDK 2.x", async () => {
  await using server = await startAuthorizationServer();
  await using mcp = await startMcpServer(server.issuer);
  const browser = createBrowser();
  let visits = 0;
  const api = createAuthorizedFetch(mcp.resource, {
    flow: codeFlow({
      clientMetadata: { client_name: "MCP test" },
      redirectUri: REDIRECT_URI,
      visit(url) {
        visits++;
        return browser.authorize(url);
      },
    }),
  });
  const client = new v2.Client(INFO);
  const transport = new v2.StreamableHTTPClientTransport(
    new URL(mcp.resource),
    {
      authProvider: {
        token: async () => (await api.session())?.token.access_token,
        onUnauthorized: async ({ response }) => void await api.renew(response),
      },
    },
  );
  await client.connect(transport);
  await client.callTool({ name: "read" });
  for (const token of mcp.accepted) mcp.revoked.add(token);
  await client.callTool({ name: "read" });
  assertEquals(visits, 1);
  await client.close();
});
