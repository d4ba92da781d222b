/** A resource beside an authorization server: RFC 9728 metadata, RFC 6750 challenges. */
import { createServer } from "node:http";

const { PORT, UPSTREAM_PORT } = process.env;
export const origin = `http://127.0.0.1:${PORT}`;
export const upstream = `http://127.0.0.1:${UPSTREAM_PORT}`;
export const resource = `${origin}/mcp`;

const wellKnown = "/.well-known/oauth-protected-resource";
const json = { "Content-Type": "application/json" };

/**
 * Listens. `scopesOf` returns the scopes of a token that is valid for a resource, else
 * the error of the challenge; `/mcp/admin` requires the scope `admin`. `others` has the
 * scopes of other resources by their paths. `remove` deletes a client, and `handle`
 * serves everything else.
 */
export function serve({
  issuer,
  scopes,
  admin,
  others = {},
  scopesOf,
  remove,
  handle,
  headers,
  scheme = "Bearer",
}) {
  const known = { "/mcp": scopes, ...others };

  async function protect(request, response, path) {
    const challenge = (status, ...params) => {
      const all = [`resource_metadata="${origin}${wellKnown}${path}"`, ...params];
      response.writeHead(status, {
        "WWW-Authenticate": `${scheme} ${all.join(", ")}`,
        ...headers,
      }).end();
    };
    const [given, token] = request.headers.authorization?.split(" ") ?? [];
    if (!token || given !== scheme) return challenge(401);
    const granted = await scopesOf(token, request, origin + path) ??
      "invalid_token";
    if (!Array.isArray(granted)) return challenge(401, `error="${granted}"`);
    const isAdmin = request.url.startsWith("/mcp/admin");
    if (isAdmin && !granted.includes(admin)) {
      return challenge(403, 'error="insufficient_scope"', `scope="${admin}"`);
    }
    response.writeHead(200, json).end(JSON.stringify({ scopes: granted }));
  }

  createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, origin);
    try {
      const described = pathname.startsWith(wellKnown) &&
        pathname.slice(wellKnown.length);
      const called = Object.keys(known).find((one) => pathname.startsWith(one));
      if (described && Object.hasOwn(known, described)) {
        const scopes = known[described];
        response.writeHead(200, json).end(JSON.stringify({
          resource: origin + described,
          authorization_servers: [issuer],
          ...scopes && { scopes_supported: scopes },
        }));
      } else if (pathname === "/operator/clients") {
        await remove(searchParams.get("id"));
        response.end();
      } else if (called) {
        await protect(request, response, called);
      } else if (handle) {
        await handle(request, response);
      } else response.writeHead(404).end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }).listen(PORT, "127.0.0.1", () => process.stdout.write(`${resource}\n`));
}
