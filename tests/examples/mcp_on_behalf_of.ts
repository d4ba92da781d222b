import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  adviceFor,
  createAuthorizedFetch,
  exchangeFlow,
  type KnownClient,
  perCaller,
} from "@oauth-helper/client";
import { createRemoteJWKSet, jwtVerify } from "jose";

export interface McpServerOptions {
  /** URL of this MCP server, which the tokens of its callers are for. */
  resource: string;
  /** The authorization server, and where its keys are. */
  issuer: string;
  jwksUri: string;
  /** This server as a client of the authorization server. */
  client: KnownClient;
  /** The API that the tool calls for the caller. */
  api: string;
}

/** Returns the handler of an MCP server whose tool calls an API for its caller. */
export function createHandler(options: McpServerOptions) {
  const { resource, issuer, jwksUri, client, api } = options;
  const keys = createRemoteJWKSet(new URL(jwksUri));
  const { origin, pathname } = new URL(resource);
  const metadataPath = `/.well-known/oauth-protected-resource${pathname}`;
  const apiFor = perCaller((callerToken) =>
    createAuthorizedFetch(api, {
      flow: exchangeFlow({ client, getSubjectToken: () => callerToken }),
    })
  );
  const unauthorized = (error = "") => {
    const challenge =
      `Bearer ${error}resource_metadata="${origin}${metadataPath}"`;
    const headers = { "WWW-Authenticate": challenge };
    return new Response(null, { status: 401, headers });
  };
  return async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname === metadataPath) {
      return Response.json({ resource, authorization_servers: [issuer] });
    }
    const given = request.headers.get("Authorization") ?? "";
    const [, token] = /^Bearer (\S+)$/i.exec(given) ?? [];
    if (!token) return unauthorized();
    // A token that is for another service must not be exchanged.
    const expected = { issuer, audience: resource, typ: "at+jwt" };
    const isValid = await jwtVerify(token, keys, expected)
      .then(() => true, () => false);
    if (!isValid) return unauthorized('error="invalid_token", ');

    let hasEnded = false;
    const server = new McpServer({ name: "notes", version: "1.0.0" });
    server.registerTool("notes", { description: "Your notes" }, async () => {
      try {
        const response = await (await apiFor(token))(api);
        const text = await response.text();
        return { content: [{ type: "text", text }], isError: !response.ok };
      } catch (error) {
        hasEnded = adviceFor(error).action === "reauthorize";
        throw error;
      }
    });
    // As JSON, so that the status can still be 401 after the tool has run.
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    return hasEnded ? unauthorized('error="invalid_token", ') : response;
  };
}
