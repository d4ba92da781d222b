/** mcp-handler (Vercel) with its guard; oidc-provider issues the tokens. */
import { serve } from "@hono/node-server";
import {
  createMcpHandler,
  protectedResourceHandler,
  withMcpAuth,
} from "mcp-handler";
import Provider from "oidc-provider";
import { optionsFor } from "../_shared/provider_options.mjs";

const { PORT, UPSTREAM_PORT } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const issuer = `http://127.0.0.1:${UPSTREAM_PORT}`;
const scopes = ["mcp:read", "mcp:write"];

const provider = new Provider(issuer, optionsFor(origin, scopes));
provider.listen(UPSTREAM_PORT, "127.0.0.1");

async function verifyToken(_request, token) {
  const found = token && await provider.AccessToken.find(token);
  if (!found?.isValid) return undefined;
  return { token, clientId: found.clientId, scopes: [...found.scopes] };
}
const handler = createMcpHandler(() => {});
const guard = (...requiredScopes) =>
  withMcpAuth(handler, verifyToken, { required: true, requiredScopes });

const routes = {
  "/.well-known/oauth-protected-resource": protectedResourceHandler({
    authServerUrls: [issuer],
  }),
  "/mcp": guard("mcp:read"),
  "/mcp/admin": guard("mcp:read", "mcp:write"),
  "/operator/clients": async (request) => {
    const id = new URL(request.url).searchParams.get("id");
    await provider.Client.adapter.destroy(id);
    return new Response();
  },
};
serve({
  hostname: "127.0.0.1",
  port: Number(PORT),
  fetch: (request) =>
    routes[new URL(request.url).pathname]?.(request) ??
      new Response(null, { status: 404 }),
}, () => console.log(`${origin}/mcp`));
