/** The demo provider of the SDK, as its example starts it: an own port for OAuth. */
import { setupAuthServer } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import express from "express";

const { PORT, UPSTREAM_PORT } = process.env;
const mcpServerUrl = new URL(`http://127.0.0.1:${PORT}/mcp`);
const oauthMetadata = setupAuthServer({
  authServerUrl: new URL(`http://127.0.0.1:${UPSTREAM_PORT}`),
  mcpServerUrl,
  strictResource: true,
});
const verifier = {
  async verifyAccessToken(token) {
    const response = await fetch(oauthMetadata.introspection_endpoint, {
      method: "POST",
      body: new URLSearchParams({ token }),
    });
    if (!response.ok) {
      throw new Error(`Invalid or expired token: ${await response.text()}`);
    }
    const { client_id, scope, exp, aud } = await response.json();
    if (aud !== mcpServerUrl.href) {
      throw new Error(`Unexpected audience: ${aud}`);
    }
    return {
      token,
      clientId: client_id,
      scopes: scope.split(" "),
      expiresAt: exp,
    };
  },
};
const app = express();
app.use(mcpAuthMetadataRouter({
  oauthMetadata,
  resourceServerUrl: mcpServerUrl,
  scopesSupported: ["mcp:tools"],
}));
const guard = requireBearerAuth({
  verifier,
  requiredScopes: [],
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(mcpServerUrl),
});
app.post("/mcp", guard, (request, response) => response.json(request.auth));
app.listen(PORT, "127.0.0.1", () => console.log(mcpServerUrl.href));
