/** @hellocoop/mockin, and a resource that verifies its tokens. */
import { createRemoteJWKSet, jwtVerify } from "jose";
import { createServer } from "node:http";

const { PORT, UPSTREAM_PORT } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const issuer = `http://127.0.0.1:${UPSTREAM_PORT}`;

process.env.PORT = UPSTREAM_PORT;
// The program prints what it does.
console.log = () => {};
await import("@hellocoop/mockin/src/server.js");
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

createServer(async ({ url, headers }, response) => {
  response.setHeader("Content-Type", "application/json");
  const metadata = "/.well-known/oauth-protected-resource/api";
  if (url === metadata) {
    const document = {
      resource: `${origin}/api`,
      authorization_servers: [issuer],
      scopes_supported: ["openid"],
    };
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
}).listen(PORT, "127.0.0.1", () => process.stdout.write(`${origin}/api\n`));
