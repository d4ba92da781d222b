/**
 * The pair of servers of the benchmark: a resource that responds with 401 without the
 * token, and its authorization server, which checks little and redirects without asking a user.
 * They do almost nothing, so that mainly the clients are measured.
 *
 * Run as a program, this file is the servers. In a process of their own they share
 * no thread, heap or garbage collector with a client. The argument is the delay of
 * each response in milliseconds. They stop when their standard input ends.
 */

import { fileURLToPath } from "node:url";

export interface Addresses {
  readonly target: string;
  /** Issuer whose metadata is at the first URL. */
  readonly issuer: string;
  /** Issuer with a path, whose metadata is at the third URL. */
  readonly tenant: string;
}

export interface Servers extends Addresses, AsyncDisposable {}

/** The token that the authorization server issues, and the resource accepts. */
export const ACCESS_TOKEN = "at-of-the-benchmark";

const JSON_HEADERS = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
};

function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: JSON_HEADERS });
}

/** Metadata with the members that the strictest client requires. */
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

function resourceServer(
  { headers }: Request,
  { origin, pathname }: URL,
  issuer: string,
): Response {
  const metadata = "/.well-known/oauth-protected-resource/mcp";
  if (pathname === metadata) {
    return json({
      resource: `${origin}/mcp`,
      authorization_servers: [issuer],
      scopes_supported: ["files:read"],
    });
  }
  if (headers.get("authorization") === `Bearer ${ACCESS_TOKEN}`) {
    return json({ ok: true });
  }
  const challenge =
    `Bearer resource_metadata="${origin}${metadata}", scope="files:read"`;
  return new Response(null, {
    status: 401,
    headers: { "WWW-Authenticate": challenge },
  });
}

/** Responds only to a client that has sent all of these. */
function requiring(params: URLSearchParams, names: string[], good: Response) {
  return names.every((name) => params.get(name))
    ? good
    : json({ error: "invalid_request" }, 400);
}

function authorize({ searchParams, origin }: URL): Response {
  const redirect = new URL(searchParams.get("redirect_uri") ?? "");
  redirect.searchParams.set("code", "c0de-of-the-benchmark");
  redirect.searchParams.set("state", searchParams.get("state") ?? "");
  redirect.searchParams.set("iss", origin);
  const headers = { Location: redirect.href };
  return requiring(
    searchParams,
    ["client_id", "code_challenge", "resource", "scope"],
    new Response(null, { status: 302, headers }),
  );
}

async function token(request: Request): Promise<Response> {
  return requiring(
    new URLSearchParams(await request.text()),
    [
      "grant_type",
      "client_id",
      "code",
      "redirect_uri",
      "resource",
      "code_verifier",
    ],
    json({
      access_token: ACCESS_TOKEN,
      token_type: "bearer",
      expires_in: 3600,
      refresh_token: "rt-of-the-benchmark",
      scope: "files:read",
    }),
  );
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

/** Starts both servers. */
async function serve(delayMs: number): Promise<void> {
  const listen = (
    respond: (request: Request, url: URL) => Response | Promise<Response>,
  ) => {
    const { addr } = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      // A thousand discoveries start at once.
      tcpBacklog: 4096,
      onListen: () => {},
    }, async (request) => {
      if (delayMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
      return await respond(request, new URL(request.url));
    });
    return `http://127.0.0.1:${addr.port}`;
  };
  const issuer = listen(authorizationServer);
  const resource = listen((request, url) =>
    resourceServer(request, url, issuer)
  );
  console.log(JSON.stringify({ issuer, resource }));
  for await (const _ of Deno.stdin.readable) { /* Wait for its end. */ }
  Deno.exit();
}

/** Starts the pair of servers in a process of their own. */
export async function startServers(delayMs = 0): Promise<Servers> {
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
    async [Symbol.asyncDispose]() {
      await lines.cancel();
      await child.stdin.close();
      await child.status;
    },
  };
}

if (import.meta.main) await serve(Number(Deno.args[0] ?? 0));
