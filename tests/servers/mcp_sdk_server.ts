/**
 * A server built with the MCP TypeScript SDK, on loopback: the express router of
 * the SDK, its bearer guard and its in-memory provider.
 */
// The package exports its types by subpaths without ".js", its code with it.
// @ts-types="@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider"
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
// @ts-types="@modelcontextprotocol/sdk/server/auth/errors"
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
// @ts-types="@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth"
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
// @ts-types="@modelcontextprotocol/sdk/server/auth/router"
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
// @ts-types="@types/express"
import express from "express";
import { listen } from "./_node_http.ts";

class InMemoryProvider extends DemoInMemoryAuthProvider {
  /** The provider of the SDK throws plain errors, for which the guard sends 500. */
  override async verifyAccessToken(token: string) {
    try {
      return await super.verifyAccessToken(token);
    } catch (error) {
      throw new InvalidTokenError((error as Error).message);
    }
  }
}

/** Starts the server; without metadata, as one of revision 2025-03-26 may be. */
export async function startMcpSdkServer({ hasMetadata = true } = {}) {
  const { origin, close, handle } = await listen();
  const resource = new URL(`${origin}/mcp`);
  const provider = new InMemoryProvider();
  const scopesSupported = ["mcp:read", "mcp:write"];
  // express-rate-limit starts an interval that cannot be stopped, which the
  // sanitizers report.
  const unlimited = { rateLimit: false } as const;
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  const app = express();
  // The SDK always publishes metadata.
  if (!hasMetadata) {
    app.use("/.well-known", (_request, response) => {
      response.sendStatus(404);
    });
  }
  app.use(mcpAuthRouter({
    provider,
    issuerUrl: new URL(origin),
    scopesSupported,
    resourceServerUrl: resource,
    authorizationOptions: unlimited,
    clientRegistrationOptions: unlimited,
    revocationOptions: unlimited,
    tokenOptions: unlimited,
  }));
  const guard = requireBearerAuth({
    verifier: provider,
    requiredScopes: scopesSupported,
    ...hasMetadata && { resourceMetadataUrl },
  });
  app.all("/mcp", guard, (request, response) => {
    response.json({ auth: request.auth });
  });
  handle(app);
  return { origin, resource: resource.href, [Symbol.asyncDispose]: close };
}
