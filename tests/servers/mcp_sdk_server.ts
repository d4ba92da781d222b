/**
 * A server built with the MCP TypeScript SDK, on loopback: the express routers of
 * the SDK, its bearer guard and its in-memory provider.
 */
// The package exports its types by subpaths without ".js", its code with it.
// @ts-types="@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider"
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
// @ts-types="@modelcontextprotocol/sdk/server/auth/errors"
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
// @ts-types="@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth"
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
// @ts-types="@modelcontextprotocol/sdk/server/auth/provider"
import type { OAuthTokenVerifier } from "@modelcontextprotocol/sdk/server/auth/provider.js";
// @ts-types="@modelcontextprotocol/sdk/server/auth/router"
import {
  createOAuthMetadata,
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
  mcpAuthRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
// @ts-types="@modelcontextprotocol/sdk/shared/auth"
import type { OAuthMetadata } from "@modelcontextprotocol/sdk/shared/auth.js";
// @ts-types="@types/express"
import express from "express";
import { errors } from "jose";
import {
  createJwtVerifier,
  readServerMetadata,
  scopesOf,
} from "./_jwt_verifier.ts";
import { listen } from "./_node_http.ts";

export interface IMcpSdkServerOptions {
  /** The path of the protected resource. @default "/mcp" */
  path?: string;
  /**
   * The well-known URL of the resource metadata, that of the resource or that of
   * its origin; `null` for no metadata. @default "path"
   */
  metadataAt?: "path" | "root" | null;
  /** Whether the authorization server publishes metadata. @default true */
  serverMetadata?: boolean;
  /**
   * The response for an unknown path: 404 of express, or 200 and HTML as of a
   * single-page application. @default "html"
   */
  unknownPages?: "html" | "app";
  /**
   * The issuer of the authorization server. @default this server
   */
  authorizationServer?: string;
}

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

function jwtTokenVerifier(issuer: string, resource: URL): OAuthTokenVerifier {
  const verify = createJwtVerifier([issuer], resource.href);
  return {
    async verifyAccessToken(token) {
      try {
        const claims = await verify(token);
        const { client_id, exp } = claims;
        return {
          token,
          resource,
          clientId: String(client_id),
          scopes: scopesOf(claims),
          ...exp !== undefined && { expiresAt: exp },
        };
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new InvalidTokenError(error.message);
      }
    },
  };
}

const scopesSupported = ["mcp:read", "mcp:write"];

async function createApp(
  origin: string,
  {
    path = "/mcp",
    metadataAt = "path",
    serverMetadata = true,
    unknownPages = "html",
    authorizationServer,
  }: IMcpSdkServerOptions,
) {
  const root = new URL(origin);
  const resource = new URL(origin + path);
  const described = metadataAt === "root" ? root : resource;
  const describedAt = getOAuthProtectedResourceMetadataUrl(described);
  const hasMetadata = metadataAt !== null;
  // The SDK always publishes metadata; requests for these paths do not reach it.
  const hidden = new Set<string>();
  if (!hasMetadata) hidden.add(new URL(describedAt).pathname);
  if (!serverMetadata) hidden.add("/.well-known/oauth-authorization-server");

  const router = express.Router();
  router.use((request, _response, next) => {
    next(hidden.has(request.path) ? "router" : undefined);
  });
  let oauthMetadata: OAuthMetadata;
  let verifier: OAuthTokenVerifier;
  if (authorizationServer === undefined) {
    const provider = new InMemoryProvider();
    const asServer = { provider, issuerUrl: root, scopesSupported };
    oauthMetadata = createOAuthMetadata(asServer);
    verifier = provider;
    // express-rate-limit starts an interval that cannot be stopped, which the
    // sanitizers report.
    const unlimited = { rateLimit: false } as const;
    router.use(mcpAuthRouter({
      ...asServer,
      resourceServerUrl: described,
      authorizationOptions: unlimited,
      clientRegistrationOptions: unlimited,
      revocationOptions: unlimited,
      tokenOptions: unlimited,
    }));
  } else {
    oauthMetadata = await readServerMetadata(authorizationServer);
    verifier = jwtTokenVerifier(authorizationServer, resource);
    router.use(mcpAuthMetadataRouter({
      oauthMetadata,
      resourceServerUrl: described,
      scopesSupported,
    }));
  }

  const guard = requireBearerAuth({
    verifier,
    requiredScopes: scopesSupported,
    ...hasMetadata && { resourceMetadataUrl: describedAt },
    ...authorizationServer !== undefined && { expectedResource: resource },
  });
  const app = express();
  app.use(router);
  app.all(path, guard, (request, response) => {
    response.json({ resource: resource.href, auth: request.auth });
  });
  app.use((_request, response, next) => {
    if (unknownPages === "html") next();
    else response.type("html").send("<!DOCTYPE html><title>App</title>");
  });
  return { app, resource: resource.href, issuer: oauthMetadata.issuer };
}

export async function startMcpSdkServer(options: IMcpSdkServerOptions = {}) {
  const { origin, close, handle } = await listen();
  try {
    const { app, ...described } = await createApp(origin, options);
    handle(app);
    return { origin, ...described, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
