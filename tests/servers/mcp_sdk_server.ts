/**
 * A server as people build it with the MCP TypeScript SDK, on loopback: the
 * SDK's express routers, its bearer guard and its own in-memory provider.
 */
// The SDK's `exports` name its types only for subpaths without ".js", and its
// code only for those with it.
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
import express, { type RequestHandler } from "express";
import { errors } from "jose";
import {
  createJwtVerifier,
  readServerMetadata,
  scopesOf,
} from "./_jwt_verifier.ts";
import { listen } from "./_node_http.ts";

export interface IMcpSdkServerOptions {
  /** Where the guarded resource stands; default `/mcp`. */
  path?: string;
  scopes?: string[];
  /** Whether metadata of the resource stands at its own path; default yes. */
  metadataAtPath?: boolean;
  /** Whether metadata of the whole origin stands at the root; default no. */
  metadataAtRoot?: boolean;
  /** Whether the authorization server publishes metadata; default yes. */
  serverMetadata?: boolean;
  /**
   * What a page that does not exist gets: express's own 404 page (the default),
   * a 404 in JSON, or the 200 with which a single-page application answers
   * everything.
   */
  unknownPages?: "html" | "json" | "app";
  /**
   * An `IAuthorizationServer`'s issuer, which makes this a resource server only.
   * By default it is its own authorization server.
   */
  authorizationServer?: string;
}

export interface IMcpSdkServer extends AsyncDisposable {
  origin: string;
  /** The resource identifier, which is the address to ask. */
  resource: string;
  /** As the metadata write it: the SDK ends its own with a slash. */
  issuer: string;
  /** What was asked so far: method and path, without the query. */
  requests: string[];
  close(): Promise<void>;
}

class InMemoryProvider extends DemoInMemoryAuthProvider {
  /** The demo throws plain errors, which the guard turns into a 500. */
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

const unknownPage = {
  html: (_request, _response, next) => next(),
  json: (_request, response) => {
    response.status(404).json({ error: "not_found" });
  },
  app: (_request, response) => {
    response.type("html").send("<!DOCTYPE html><title>App</title>");
  },
} satisfies Record<string, RequestHandler>;

async function createApp(
  origin: string,
  {
    path = "/mcp",
    scopes = ["mcp:read", "mcp:write"],
    metadataAtPath = true,
    metadataAtRoot = false,
    serverMetadata = true,
    unknownPages = "html",
    authorizationServer,
  }: IMcpSdkServerOptions,
) {
  const root = new URL(origin);
  const resource = new URL(origin + path);
  // With no metadata wanted the router still needs a place for them, which is
  // then hidden.
  const described = metadataAtRoot && !metadataAtPath ? root : resource;
  const describedAt = getOAuthProtectedResourceMetadataUrl(described);
  const hasMetadata = metadataAtPath || metadataAtRoot;
  const hidden = new Set<string>();
  if (!hasMetadata) hidden.add(new URL(describedAt).pathname);
  if (!serverMetadata) hidden.add("/.well-known/oauth-authorization-server");

  const router = express.Router();
  // Metadata that a server lacks are pages it does not know, so these requests
  // must reach the same answer as any other unknown one.
  router.use((request, _response, next) => {
    next(hidden.has(request.path) ? "router" : undefined);
  });
  const scopesSupported = scopes;
  let oauthMetadata: OAuthMetadata;
  let verifier: OAuthTokenVerifier;
  if (authorizationServer === undefined) {
    const provider = new InMemoryProvider();
    const asServer = { provider, issuerUrl: root, scopesSupported };
    oauthMetadata = createOAuthMetadata(asServer);
    verifier = provider;
    // express-rate-limit keeps an interval that nothing can stop, which the
    // sanitizers would find.
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
  if (metadataAtPath && metadataAtRoot) {
    router.use(mcpAuthMetadataRouter({
      oauthMetadata,
      resourceServerUrl: root,
      scopesSupported,
    }));
  }

  const guard = requireBearerAuth({
    verifier,
    requiredScopes: scopes,
    ...hasMetadata && { resourceMetadataUrl: describedAt },
    ...authorizationServer !== undefined && { expectedResource: resource },
  });
  const app = express();
  app.use(router);
  app.all(path, guard, (request, response) => {
    response.json({ resource: resource.href, auth: request.auth });
  });
  app.use(unknownPage[unknownPages]);
  return { app, resource: resource.href, issuer: oauthMetadata.issuer };
}

export async function startMcpSdkServer(
  options: IMcpSdkServerOptions = {},
): Promise<IMcpSdkServer> {
  const { origin, requests, close, handle } = await listen();
  try {
    const { app, resource, issuer } = await createApp(origin, options);
    handle(app);
    const common = { origin, requests, close, [Symbol.asyncDispose]: close };
    return { ...common, resource, issuer };
  } catch (error) {
    await close();
    throw error;
  }
}
