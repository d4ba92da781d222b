/** `mcpAuthRouter` with express; the argument is the package that it comes from. */
import express from "express";
import { MemoryProvider } from "./_provider.mjs";

const sdk = "@modelcontextprotocol/sdk/server/auth";
const legacy = "@modelcontextprotocol/server-legacy/auth";
const modules = process.argv[2] === "legacy"
  ? [legacy]
  : [`${sdk}/router.js`, `${sdk}/errors.js`, `${sdk}/middleware/bearerAuth.js`];
const auth = Object.assign(
  {},
  ...await Promise.all(modules.map((m) => import(m))),
);

const origin = `http://127.0.0.1:${process.env.PORT}`;
const resourceServerUrl = new URL(`${origin}/mcp`);
const provider = new MemoryProvider(auth);
if (process.argv[3] === "no-secret") {
  // What the proxy of mcp-use registers: a method that needs a secret, and none.
  const { registerClient } = provider.clientsStore;
  provider.clientsStore.registerClient = (client) => ({
    ...registerClient(client),
    token_endpoint_auth_method: "client_secret_post",
  });
}
const app = express();

app.use(auth.mcpAuthRouter({
  provider,
  issuerUrl: new URL(origin),
  resourceServerUrl,
  scopesSupported: ["mcp:read", "mcp:write"],
}));
app.post("/consent", express.urlencoded(), (request, response) => {
  response.redirect(provider.answer(request.body));
});
const guard = (...requiredScopes) =>
  auth.requireBearerAuth({
    verifier: provider,
    requiredScopes,
    resourceMetadataUrl: auth.getOAuthProtectedResourceMetadataUrl(
      resourceServerUrl,
    ),
  });
const greet = (request, response) => response.json(request.auth);
app.post("/mcp", guard("mcp:read"), greet);
app.post("/mcp/admin", guard("mcp:read", "mcp:write"), greet);
app.delete("/operator/clients", (request, response) => {
  response.sendStatus(provider.deleteClient(request.query.id) ? 200 : 404);
});
app.listen(
  process.env.PORT,
  "127.0.0.1",
  () => console.log(resourceServerUrl.href),
);
