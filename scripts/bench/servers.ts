/**
 * The pair of servers that the benchmark walks along: a resource that answers 401,
 * and its authorization server, which redirects at once and believes everybody.
 * They do next to nothing, so that the clients are what is measured.
 *
 * Run as a program, this file is the servers: in a process of their own, so that
 * no client shares a thread, a heap or a garbage collector with them. The argument
 * is the delay of each answer in milliseconds. They end with their standard input.
 */

import { fileURLToPath } from "node:url";

/** The pair of servers as a client of this process knows it. */
export interface IServers {
  /** Address of the resource. */
  readonly target: string;
  /** Issuer whose metadata is at the first address. */
  readonly issuer: string;
  /** Issuer with a path, whose metadata is at the third address. */
  readonly tenant: string;
  /** How many requests the servers got since this was last asked. */
  countRequests(): Promise<number>;
  stop(): Promise<void>;
}

const JSON_HEADERS = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
};

function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: JSON_HEADERS });
}

/** Members that the strictest of the clients wants to see in the metadata. */
function serverMetadata(issuer: string, origin: string) {
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    jwks_uri: `${origin}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ["files:read", "files:write"],
  };
}

function resourceServer(url: URL, issuer: string): Response {
  const metadata = "/.well-known/oauth-protected-resource/mcp";
  switch (url.pathname) {
    case "/mcp":
      return new Response(null, {
        status: 401,
        headers: {
          "WWW-Authenticate":
            `Bearer resource_metadata="${url.origin}${metadata}", scope="files:read"`,
        },
      });
    case metadata:
      return json({
        resource: `${url.origin}/mcp`,
        authorization_servers: [issuer],
        scopes_supported: ["files:read"],
      });
    default:
      return new Response("Not found", { status: 404 });
  }
}

function authorize({ searchParams, origin }: URL): Response {
  const redirect = new URL(searchParams.get("redirect_uri") ?? "");
  redirect.searchParams.set("code", "c0de-of-the-benchmark");
  redirect.searchParams.set("state", searchParams.get("state") ?? "");
  redirect.searchParams.set("iss", origin);
  const isWhole = ["client_id", "code_challenge", "resource", "scope"]
    .every((name) => searchParams.get(name));
  return isWhole
    ? new Response(null, {
      status: 302,
      headers: { Location: redirect.href },
    })
    : json({ error: "invalid_request" }, 400);
}

async function token(request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const isWhole = form.get("code") === "c0de-of-the-benchmark" &&
    ["grant_type", "client_id", "redirect_uri", "code_verifier", "resource"]
      .every((name) => form.get(name));
  return isWhole
    ? json({
      access_token: "at-of-the-benchmark",
      token_type: "bearer",
      expires_in: 3600,
      refresh_token: "rt-of-the-benchmark",
      scope: "files:read",
    })
    : json({ error: "invalid_request" }, 400);
}

async function authorizationServer(
  request: Request,
  url: URL,
): Promise<Response> {
  const { origin, pathname } = url;
  switch (pathname) {
    case "/.well-known/oauth-authorization-server":
      return json(serverMetadata(origin, origin));
    case "/tenant/.well-known/openid-configuration":
      return json(serverMetadata(`${origin}/tenant`, origin));
    case "/register":
      return json({ ...await request.json(), client_id: "c1" }, 201);
    case "/authorize":
      return authorize(url);
    case "/token":
      return await token(request);
    default:
      return new Response("Not found", { status: 404 });
  }
}

/** Listens for both servers on one counter. */
async function serve(delayMs: number): Promise<void> {
  let requests = 0;
  const listen = (
    answer: (request: Request, url: URL) => Response | Promise<Response>,
  ) => {
    const { addr } = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      // The crowd of a thousand comes at once.
      tcpBacklog: 4096,
      onListen: () => {},
    }, async (request) => {
      const url = new URL(request.url);
      if (url.pathname === "/requests") {
        const counted = requests;
        requests = 0;
        return json(counted);
      }
      requests++;
      if (delayMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
      return await answer(request, url);
    });
    return `http://127.0.0.1:${addr.port}`;
  };
  const issuer = listen(authorizationServer);
  const resource = listen((_request, url) => resourceServer(url, issuer));
  console.log(JSON.stringify({ issuer, resource }));
  for await (const _ of Deno.stdin.readable) { /* Until it ends. */ }
  Deno.exit();
}

/** Starts the pair of servers in a process of their own. */
export async function startServers(delayMs = 0): Promise<IServers> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-config",
      "--allow-net",
      fileURLToPath(import.meta.url),
      String(delayMs),
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await lines.read();
  const { issuer, resource } = JSON.parse(value ?? "null");
  return {
    target: `${resource}/mcp`,
    issuer,
    tenant: `${issuer}/tenant`,
    async countRequests() {
      return await (await fetch(`${issuer}/requests`)).json();
    },
    async stop() {
      await lines.cancel();
      await child.stdin.close();
      await child.status;
    },
  };
}

if (import.meta.main) await serve(Number(Deno.args[0] ?? 0));
