/** The OAuth proxy of FastMCP, in front of a server with one client. */
import { FastMCP, OAuthProvider } from "fastmcp";
import { createServer } from "node:http";

const { PORT, UPSTREAM_PORT } = process.env;
const upstream = `http://127.0.0.1:${UPSTREAM_PORT}`;

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, upstream);
  if (pathname === "/authorize") {
    const url = new URL(searchParams.get("redirect_uri"));
    url.searchParams.set("code", crypto.randomUUID());
    url.searchParams.set("state", searchParams.get("state"));
    return response.writeHead(302, { Location: url.href }).end();
  }
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({
    access_token: crypto.randomUUID(),
    refresh_token: crypto.randomUUID(),
    token_type: "Bearer",
    expires_in: 3600,
    scope: "openid profile",
  }));
}).listen(UPSTREAM_PORT, "127.0.0.1");

const server = new FastMCP({
  auth: new OAuthProvider({
    authorizationEndpoint: `${upstream}/authorize`,
    baseUrl: `http://127.0.0.1:${PORT}`,
    clientId: "id",
    clientSecret: "s3cret",
    scopes: ["openid", "profile"],
    tokenEndpoint: `${upstream}/token`,
  }),
  name: "Interop",
  version: "1.0.0",
});
await server.start({
  transportType: "httpStream",
  httpStream: { host: "127.0.0.1", port: Number(PORT) },
});
console.log(`\nhttp://127.0.0.1:${PORT}/mcp`);
