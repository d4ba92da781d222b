/**
 * An MCP server on loopback, made with the MCP TypeScript SDK: a resource server of
 * an authorization server, whose tool `write` requires a scope of its own.
 */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/streamableHttp"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { text as readText } from "node:stream/consumers";
import { createJwtVerifier, scopesOf } from "./_jwt_verifier.ts";
import { listen } from "./_node_http.ts";

interface TestMcpServer extends AsyncDisposable {
  /** The resource identifier, which is the URL of the MCP endpoint. */
  resource: string;
  /** Tokens that count as revoked. */
  revoked: Set<string>;
  accepted: Set<string>;
}

function createServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  for (const name of ["read", "write"]) {
    server.registerTool(name, { description: name }, () => ({
      content: [{ type: "text", text: `${name} done` }],
    }));
  }
  return server;
}

export async function startMcpServer(issuer: string): Promise<TestMcpServer> {
  const { origin, handle, close } = await listen();
  const resource = `${origin}/mcp`;
  const metadataPath = "/.well-known/oauth-protected-resource/mcp";
  const verify = createJwtVerifier([issuer], resource);
  const revoked = new Set<string>();
  const accepted = new Set<string>();

  handle(async (request, response) => {
    if (request.url === metadataPath) {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({
        resource,
        authorization_servers: [issuer],
        scopes_supported: ["mcp:read"],
      }));
      return;
    }
    const text = await readText(request);
    const refuse = (status: number, parameters: string) =>
      response.writeHead(status, {
        "WWW-Authenticate": `Bearer ${parameters}, ` +
          `resource_metadata="${origin}${metadataPath}"`,
      }).end();
    const token = request.headers.authorization?.slice("Bearer ".length) ?? "";
    const claims = revoked.has(token)
      ? undefined
      : await verify(token).catch(() => undefined);
    if (!claims) return refuse(401, 'error="invalid_token"');
    const message = text ? JSON.parse(text) : {};
    const isWrite = message.params?.name === "write";
    if (isWrite && !scopesOf(claims).includes("mcp:write")) {
      return refuse(403, 'error="insufficient_scope", scope="mcp:write"');
    }
    accepted.add(token);
    // Without sessions of the protocol, each request has a server of its own.
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: true,
    });
    const server = createServer();
    response.on("close", () => void server.close());
    // deno-lint-ignore no-explicit-any
    await server.connect(transport as any);
    await transport.handleRequest(
      request,
      response,
      text ? message : undefined,
    );
  });
  return { resource, revoked, accepted, [Symbol.asyncDispose]: close };
}
