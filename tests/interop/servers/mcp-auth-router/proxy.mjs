/**
 * `ProxyOAuthServerProvider` in front of another server, which also registers its
 * clients. With the argument `iss`, that one sends its issuer (RFC 9207).
 */
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { ProxyOAuthServerProvider } from "@modelcontextprotocol/sdk/server/auth/providers/proxyProvider.js";
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import * as errors from "@modelcontextprotocol/sdk/server/auth/errors.js";
import express from "express";
import { MemoryProvider } from "./_provider.mjs";

const { PORT, UPSTREAM_PORT } = process.env;
const listen = (app, port) =>
  new Promise((resolve) => app.listen(port, "127.0.0.1", resolve));

const upstreamUrl = `http://127.0.0.1:${UPSTREAM_PORT}`;
const memory = new MemoryProvider(errors);
const upstream = express();
upstream.use(
  mcpAuthRouter({ provider: memory, issuerUrl: new URL(upstreamUrl) }),
);
upstream.post("/consent", express.urlencoded(), (request, response) => {
  const url = new URL(memory.answer(request.body));
  if (process.argv[2] === "iss") url.searchParams.set("iss", upstreamUrl);
  response.redirect(url.href);
});
await listen(upstream, UPSTREAM_PORT);

const resourceServerUrl = new URL(`http://127.0.0.1:${PORT}/mcp`);
const provider = new ProxyOAuthServerProvider({
  endpoints: {
    authorizationUrl: `${upstreamUrl}/authorize`,
    tokenUrl: `${upstreamUrl}/token`,
    revocationUrl: `${upstreamUrl}/revoke`,
    registrationUrl: `${upstreamUrl}/register`,
  },
  verifyAccessToken: (token) => memory.verifyAccessToken(token),
  getClient: (id) => memory.clientsStore.getClient(id),
});
const app = express();
app.use(mcpAuthRouter({
  provider,
  issuerUrl: new URL(resourceServerUrl.origin),
  resourceServerUrl,
}));
const guard = requireBearerAuth({
  verifier: provider,
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
});
app.post("/mcp", guard, (request, response) => response.json(request.auth));
app.delete("/operator/clients", (request, response) => {
  response.sendStatus(memory.deleteClient(request.query.id) ? 200 : 404);
});
await listen(app, PORT);
console.log(resourceServerUrl.href);
