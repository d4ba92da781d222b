/** `mcpAuthRouter` and `bearerAuth` of @hono/mcp. */
import { serve } from "@hono/node-server";
import { bearerAuth, mcpAuthRouter } from "@hono/mcp/auth";
import * as errors from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { Hono } from "hono";
import { MemoryProvider } from "./_provider.mjs";

class Provider extends MemoryProvider {
  authorize(client, params, context) {
    context.res = context.html(this.consentPage(client, params));
  }
}

const provider = new Provider(errors);
const port = Number(process.env.PORT);
const origin = `http://127.0.0.1:${port}`;
const app = new Hono();
app.route(
  "/",
  mcpAuthRouter({
    provider,
    issuerUrl: origin,
    scopesSupported: ["mcp:read", "mcp:write"],
  }),
);
app.post(
  "/consent",
  async (c) => c.redirect(provider.answer(await c.req.parseBody())),
);
app.delete(
  "/operator/clients",
  (c) => c.body(null, provider.deleteClient(c.req.query("id")) ? 200 : 404),
);
const verifyToken = (token) => {
  try {
    return Boolean(provider.verifyAccessToken(token));
  } catch {
    return false;
  }
};
app.post("/mcp", bearerAuth({ verifyToken }), (c) => c.json({}));
serve(
  { fetch: app.fetch, hostname: "127.0.0.1", port },
  () => console.log(`${origin}/mcp`),
);
