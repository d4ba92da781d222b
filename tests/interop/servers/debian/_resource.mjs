/**
 * A resource beside a server that runs as a process of its own: RFC 9728 metadata,
 * RFC 6750 challenges, and introspection of each token.
 */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";

const { PORT, UPSTREAM_PORT } = process.env;

/** Where the resource is. */
export const origin = `http://127.0.0.1:${PORT}`;

/** Where the authorization server is. */
export const upstream = `http://127.0.0.1:${UPSTREAM_PORT}`;

/** An empty folder for whatever the server keeps. */
export const data = `${process.cwd()}/data`;
rmSync(data, { recursive: true, force: true });
mkdirSync(data);

const metadata = "/.well-known/oauth-protected-resource/mcp";
const json = { "Content-Type": "application/json" };

/** Introspects tokens as a client of the server. */
export const introspection = (url, id, secret) => async (token) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ token }),
  });
  const { active, scope = "" } = response.ok ? await response.json() : {};
  return active ? scope.split(" ") : undefined;
};

/** Runs a program that ends with this one; resolves when it listens. */
export async function run([program, ...args], env = {}) {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.on("exit", (code) => process.exit(code ?? 1));
  process.on("exit", () => child.kill("SIGKILL"));
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => process.exit());
  }
  while (!await fetch(upstream, { redirect: "manual" }).catch(() => {})) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Listens. `scopesOf` returns the scopes of a token that is valid; `remove` deletes a
 * client, and `handle` serves everything else.
 */
export function serve({ issuer, scopes, admin, scopesOf, remove, handle }) {
  async function protect(request, response) {
    const challenge = (status, ...params) => {
      const all = [`resource_metadata="${origin}${metadata}"`, ...params];
      response.writeHead(status, {
        "WWW-Authenticate": `Bearer ${all.join(", ")}`,
      }).end();
    };
    const [, token] = request.headers.authorization?.split(" ") ?? [];
    if (!token) return challenge(401);
    const granted = await scopesOf(token);
    if (!granted) return challenge(401, 'error="invalid_token"');
    const isAdmin = request.url.startsWith("/mcp/admin");
    if (isAdmin && !granted.includes(admin)) {
      return challenge(403, 'error="insufficient_scope"', `scope="${admin}"`);
    }
    response.writeHead(200, json).end(JSON.stringify({ scopes: granted }));
  }

  createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, origin);
    try {
      if (pathname === metadata) {
        response.writeHead(200, json).end(JSON.stringify({
          resource: `${origin}/mcp`,
          authorization_servers: [issuer],
          ...scopes && { scopes_supported: scopes },
        }));
      } else if (pathname === "/operator/clients") {
        await remove(searchParams.get("id"));
        response.end();
      } else if (pathname.startsWith("/mcp")) {
        await protect(request, response);
      } else if (handle) {
        await handle(request, response);
      } else response.writeHead(404).end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }).listen(PORT, "127.0.0.1", () => console.log(`${origin}/mcp`));
}
