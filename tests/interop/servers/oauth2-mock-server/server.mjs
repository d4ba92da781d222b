/** oauth2-mock-server, and a resource that verifies its tokens. */
import { createRemoteJWKSet, jwtVerify } from "jose";
import { createServer } from "node:http";
import { OAuth2Server } from "oauth2-mock-server";

const { PORT, UPSTREAM_PORT } = process.env;
const origin = `http://127.0.0.1:${PORT}`;

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
await server.start(Number(UPSTREAM_PORT), "127.0.0.1");
const issuer = server.issuer.url;
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

createServer(async ({ url, headers }, response) => {
  response.setHeader("Content-Type", "application/json");
  const metadata = "/.well-known/oauth-protected-resource/api";
  if (url === metadata) {
    const resource = `${origin}/api`;
    const document = { resource, authorization_servers: [issuer] };
    return response.end(JSON.stringify(document));
  }
  const token = headers.authorization?.replace("Bearer ", "") ?? "";
  try {
    const { payload } = await jwtVerify(token, keys, { issuer });
    response.end(JSON.stringify(payload));
  } catch {
    const challenge = `Bearer resource_metadata="${origin}${metadata}"`;
    response.writeHead(401, { "WWW-Authenticate": challenge }).end();
  }
}).listen(PORT, "127.0.0.1", () => console.log(`${origin}/api`));
