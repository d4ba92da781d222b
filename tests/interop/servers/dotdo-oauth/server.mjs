/** @dotdo/oauth with users of its own, and a resource on the same origin. */
import { createOAuth21Server, MemoryOAuthStorage } from "@dotdo/oauth";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const { PORT, EMAIL, PASSWORD } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const storage = new MemoryOAuthStorage();
const challenge = `Bearer resource_metadata="${origin}` +
  '/.well-known/oauth-protected-resource"';

const app = new Hono();
app.all("/mcp", async (context) => {
  const [, value = ""] = context.req.header("Authorization")?.split(" ") ?? [];
  const token = await storage.getAccessToken(value);
  return token && token.expiresAt > Date.now()
    ? context.json({ scope: token.scope })
    : context.body(null, 401, { "WWW-Authenticate": challenge });
});
app.route(
  "/",
  createOAuth21Server({
    issuer: origin,
    storage,
    devMode: {
      enabled: true,
      users: [{ id: "alice", email: EMAIL, password: PASSWORD }],
    },
  }),
);
serve(
  { fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" },
  () => console.log(`${origin}/mcp`),
);
