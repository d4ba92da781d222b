/** A resource and its authorization server on loopback, healthy unless changed. */

import { readArguments } from "../../lib/cli/_arguments.ts";
import { type DoctorIo, runDoctor } from "../../lib/cli/commands/_doctor.ts";
import type { Host } from "../../lib/cli/_host.ts";
import { explain } from "../../lib/cli/_remedy.ts";
import type { FetchLike } from "../../mod.ts";
import {
  diagnose,
  type DiagnoseOptions,
  type Diagnosis,
} from "../../lib/doctor/mod.ts";

export interface Served {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

/** What the server serves. Tests change it before the first request. */
export interface Model {
  readonly origin: string;
  /** The response to a request of the resource without a token. */
  resource: Served;
  documents: Record<string, Served>;
  /** Members of the metadata of the resource, and of the server. */
  resourceMetadata: Record<string, unknown>;
  serverMetadata: Record<string, unknown>;
  /** Paths without an `Access-Control-Allow-Origin`. */
  noCors: Set<string>;
  /** Responses by method and path, before all else. */
  handlers: Record<string, (request: Request) => Response | Promise<Response>>;
}

export const RESOURCE_PATH = "/.well-known/oauth-protected-resource/mcp";
export const ROOT_PATH = "/.well-known/oauth-protected-resource";
export const SERVER_PATH = "/.well-known/oauth-authorization-server/as";
export const OPENID_PATH = "/.well-known/openid-configuration/as";
export const APPENDED_PATH = "/as/.well-known/openid-configuration";

const JSON_TYPE = { "Content-Type": "application/json" };

export function served(
  body: unknown,
  init: { status?: number; headers?: Record<string, string> } = {},
): Served {
  return {
    status: init.status ?? 200,
    body,
    headers: { ...init.headers ?? JSON_TYPE },
  };
}

/** Returns a server without any deviation. */
export function healthyModel(origin: string): Model {
  const resourceMetadata = {
    resource: `${origin}/mcp`,
    authorization_servers: [`${origin}/as`],
    scopes_supported: ["read", "write"],
    bearer_methods_supported: ["header"],
  };
  const serverMetadata = {
    issuer: `${origin}/as`,
    authorization_endpoint: `${origin}/as/authorize`,
    token_endpoint: `${origin}/as/token`,
    registration_endpoint: `${origin}/as/register`,
    scopes_supported: ["read", "write"],
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  };
  return {
    origin,
    resource: served("", {
      status: 401,
      headers: {
        "WWW-Authenticate":
          `Bearer resource_metadata="${origin}${RESOURCE_PATH}", scope="read"`,
        "Access-Control-Expose-Headers": "WWW-Authenticate",
      },
    }),
    resourceMetadata,
    serverMetadata,
    documents: {
      [RESOURCE_PATH]: served(resourceMetadata),
      [SERVER_PATH]: served(serverMetadata),
    },
    noCors: new Set(),
    handlers: {},
  };
}

function respond(
  { status, body, headers }: Served,
  path: string,
  model: Model,
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const cors = { "Access-Control-Allow-Origin": "*" };
  return new Response([204, 304].includes(status) ? null : text, {
    status,
    headers: { ...(model.noCors.has(path) ? {} : cors), ...headers },
  });
}

export async function handle(
  model: Model,
  request: Request,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  // Deno closes the connection of a request whose body was not read.
  const body = await request.text();
  const handler = model.handlers[`${request.method} ${pathname}`] ??
    model.handlers[pathname];
  if (handler) {
    const text = () => Promise.resolve(body);
    const json = () => Promise.resolve(JSON.parse(body));
    return await handler(Object.assign(request, { text, json }));
  }
  if (request.method === "OPTIONS") {
    return respond(served("", { status: 204, headers: {} }), pathname, model);
  }
  if (pathname === "/mcp") return respond(model.resource, pathname, model);
  if (pathname === "/as/register") {
    const client = { client_id: "c1", client_secret: "s3cret-of-client" };
    return respond(served(client, { status: 201 }), pathname, model);
  }
  const missing = served("Not found", { status: 404, headers: {} });
  return respond(model.documents[pathname] ?? missing, pathname, model);
}

export interface World extends AsyncDisposable {
  readonly model: Model;
  readonly target: string;
  /** The requests so far, as method and path. */
  readonly requests: string[];
}

export function startWorld(
  change: (model: Model) => void = () => {},
  certificate?: { key: string; cert: string },
): World {
  const requests: string[] = [];
  const models: Model[] = [];
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const handler = (request: Request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    const [model] = models;
    return model ? handle(model, request) : new Response(null);
  };
  const server = certificate
    ? Deno.serve({ ...options, ...certificate }, handler)
    : Deno.serve(options, handler);
  const scheme = certificate ? "https" : "http";
  const model = healthyModel(`${scheme}://127.0.0.1:${server.addr.port}`);
  models.push(model);
  change(model);
  return {
    model,
    target: `${model.origin}/mcp`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The URL of the resource of `remote()`. */
export const TARGET = "https://api.example/mcp";

/** Returns a fetch function of such a server that is not on loopback. */
export function remote(change: (model: Model) => void): FetchLike {
  const model = healthyModel("https://api.example");
  change(model);
  return (url, init) => handle(model, new Request(url, init));
}

export const idsOf = ({ findings }: Diagnosis): string[] =>
  findings.map(({ severity, id }) => `${severity} ${id}`);

export async function diagnosed(
  change: (model: Model) => void = () => {},
  options: DiagnoseOptions = {},
  path = "/mcp",
) {
  await using world = startWorld(change);
  const { model, requests } = world;
  const diagnosis = await diagnose(model.origin + path, options);
  return { ...diagnosis, ids: idsOf(diagnosis), model, requests };
}

/** Runs the command; returns what it printed, and its exit status. */
export async function run(
  args: readonly string[],
  { colour = false, signal, printError, ...io }: DoctorIo & {
    colour?: boolean;
    signal?: AbortSignal;
    printError?: Host["printError"];
  } = {},
) {
  const out: string[] = [];
  const errors: string[] = [];
  const progress: string[] = [];
  const host: Host = {
    platform: "linux",
    env: {},
    isTerminal: () => true,
    hasColours: () => colour,
    print: (line) => out.push(line),
    flush: () => Promise.resolve(),
    printError: printError ?? ((line) => errors.push(line)),
    printProgress: (text) => progress.push(text),
    endSignal: () => signal ?? new AbortController().signal,
  };
  let status: number;
  try {
    status = await runDoctor(readArguments("doctor", args), host, io);
  } catch (error) {
    const { exitCode, message } = explain(error);
    errors.push(message);
    status = exitCode;
  }
  return { status, text: out.join("\n"), errors, progress };
}
