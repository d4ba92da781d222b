/**
 * The network of the servers for tests: which server is at which URL, and the faults.
 */

import { requireHttpUrl } from "../core/_arguments.ts";
import { OAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import { requireFault } from "./_arguments.ts";
import {
  createAuthorizationServer,
  ENDPOINT_PATHS,
  JWKS_PATH,
} from "./_authorization_server.ts";
import { refusal, settle } from "./_refusals.ts";
import { respondToCall } from "./_resource_server.ts";
import type { ITestRequest, TestEndpoint } from "./request.ts";
import type {
  ITestReceiver,
  ITestServers,
  ITestServersOptions,
} from "./servers.ts";
import type { TestFault } from "./switches.ts";

/**
 * How long a receiver waits for the user: as long as the receivers of programs on a
 * machine.
 */
const VISIT_MS = 300_000;

/** Reads a request for the log. */
async function readRequest(
  request: Request,
  endpoint: TestEndpoint,
): Promise<ITestRequest> {
  const { method, headers } = request;
  const url = new URL(request.url);
  const body = await request.text();
  const params = new URLSearchParams(url.search);
  const type = headers.get("Content-Type") ?? "";
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    for (const [name, value] of new URLSearchParams(body)) {
      params.append(name, value);
    }
  }
  return { endpoint, method, url, headers, body, params };
}

/** The servers, and the network that passes requests to them. */
export interface ITestNetwork {
  readonly servers: ITestServers;
  /** Returns the response; undefined if the connection breaks. */
  respond(request: Request): Promise<Response | undefined>;
}

/** Creates the servers for one kind of network. */
export function createNetwork({
  resource = "https://api.example/mcp",
  issuer = "https://auth.example",
  scopes = ["read"],
  clients: given = [],
  now: clock = Date.now,
  lifetimeSeconds = 3600,
  refreshTokens = true,
  rotate = true,
  replaySeconds = 0,
  requiredScopes = [],
  requiredAcr = null,
  withheldScopes = [],
  refusedScopes = [],
  user = "consents",
  iss = issuer,
  resourceParameter = "required",
  retryAfter = {},
  serverMetadata = {},
  resourceMetadata = {},
  intercept = () => undefined,
  handle = (_request, token) => Response.json({ ok: true, ...token }),
}: ITestServersOptions): ITestNetwork {
  const clients = new Map(given.map((one) => [one.client_id, one]));
  const faults: [TestEndpoint, TestFault][] = [];
  let movedMs = 0;
  const moved: (() => void)[] = [];
  const now = () => clock() + movedMs;
  const { origin, pathname } = requireHttpUrl("options.resource", resource);
  const wellKnown = (name: string, path: string) =>
    `/.well-known/${name}${path === "/" ? "" : path}`;
  const metadataUrl = origin + wellKnown("oauth-protected-resource", pathname);
  const as = requireHttpUrl("options.issuer", issuer);
  const urls = new Map<string, TestEndpoint>([
    [metadataUrl, "resource_metadata"],
    [
      as.origin + wellKnown("oauth-authorization-server", as.pathname),
      "server_metadata",
    ],
    [issuer + JWKS_PATH, "jwks"],
    ...Object.entries(ENDPOINT_PATHS).map(([name, path]) =>
      [issuer + path, name as keyof typeof ENDPOINT_PATHS] as const
    ),
  ]);

  function endpointOf(request: Request): TestEndpoint {
    const url = new URL(request.url);
    const known = urls.get(url.origin + url.pathname);
    if (known) return known;
    const base = pathname.replace(/\/$/, "");
    const isBelow = `${url.pathname}/`.startsWith(`${base}/`);
    return url.origin === origin && isBelow ? "resource" : "unknown";
  }

  async function act(
    request: Request,
    received: ITestRequest,
  ): Promise<Response> {
    const { endpoint } = received;
    const response = await servers.intercept(received);
    if (response) return response;
    const seconds = servers.retryAfter[endpoint];
    if (seconds !== undefined) {
      return refusal("temporarily_unavailable", "Too many requests", 429, {
        "Retry-After": `${seconds}`,
      });
    }
    switch (endpoint) {
      case "resource":
        return await respondToCall(request, received, {
          ...{ servers, metadataUrl },
          grants: server.grants,
        });
      case "resource_metadata":
        return Response.json({
          resource,
          authorization_servers: [issuer],
          scopes_supported: scopes,
          ...servers.resourceMetadata,
        });
      case "server_metadata":
        return Response.json(server.metadata());
      case "jwks":
        return Response.json(await server.jwks());
      case "unknown":
        return new Response("Nothing is here", { status: 404 });
      default:
        return await settle(() => server.respond(endpoint, received));
    }
  }

  async function respond(request: Request): Promise<Response | undefined> {
    const endpoint = endpointOf(request);
    const received = await readRequest(request.clone(), endpoint);
    servers.requests.push(received);
    const index = faults.findIndex(([name]) => name === endpoint);
    const fault = index < 0 ? undefined : faults.splice(index, 1)[0]![1];
    if (fault === "lose_request") return undefined;
    if (fault === "hang") return await new Promise(() => {});
    const response = typeof fault === "number"
      ? Response.json({ error: "temporarily_unavailable" }, {
        status: fault,
        headers: { "Retry-After": "1" },
      })
      : fault instanceof Response
      ? fault
      : await act(request, received);
    if (fault === "lose_response") return undefined;
    received.status = response.status;
    return response;
  }

  async function fetch(
    input: string | URL | Request,
    init?: RequestInit,
  ): Promise<Response> {
    const request = new Request(input, init);
    const { signal, url } = request;
    signal.throwIfAborted();
    if (![origin, as.origin].includes(new URL(url).origin)) {
      throw new TypeError(`No server for tests is at ${url}`);
    }
    const response = await underSignal(signal, () => respond(request));
    if (!response) throw new TypeError(`The connection to ${url} broke`);
    // An abort ends the body as well, and cancels the stream of the server.
    const body = response.body?.pipeThrough(new TransformStream(), { signal });
    const delivered = new Response(body ?? null, response);
    return Object.defineProperty(delivered, "url", { value: url });
  }

  /** Resolves when the clock of the servers has been moved to a time. */
  async function timeAt(time: number): Promise<void> {
    while (now() < time) await new Promise<void>((end) => moved.push(end));
  }

  const receiver: ITestReceiver = {
    redirectUri: "http://127.0.0.1:33418/callback",
    clientMetadata: { client_name: "Test" },
    async visit(url, { signal } = {}) {
      const endsAt = now() + VISIT_MS;
      const response = await fetch(url, signal ? { signal } : {});
      const location = response.headers.get("Location");
      if (location !== null) return location;
      if (response.ok && servers.user === "leaves") {
        await underSignal(signal, () => timeAt(endsAt));
        const message = "The user has not signed in within 5 minutes";
        throw new OAuthClientError("timeout", message);
      }
      throw new Error(
        `The user sees a page: ${response.status} ${await response.text()}`,
      );
    },
  };

  const servers: ITestServers = {
    lifetimeSeconds,
    refreshTokens,
    rotate,
    replaySeconds,
    requiredScopes,
    requiredAcr,
    withheldScopes,
    refusedScopes,
    user,
    iss,
    resourceParameter,
    retryAfter,
    serverMetadata,
    resourceMetadata,
    intercept,
    handle,
    resource,
    issuer,
    fetch,
    now,
    receiver,
    requests: [],
    received: (endpoint, grantType) =>
      servers.requests.filter((one) =>
        one.endpoint === endpoint &&
        (grantType === undefined || one.params.get("grant_type") === grantType)
      ),
    accessTokens: () => server.grants.accessTokens(),
    advance(seconds) {
      movedMs += seconds * 1000;
      for (const look of moved.splice(0)) look();
    },
    expireAccessTokens: () => server.grants.expireAccessTokens(),
    revoke: () => server.grants.revokeAll(),
    forgetClients: () => clients.clear(),
    failNext(endpoint, fault) {
      requireFault(endpoint, fault);
      // One response may be given several times, and is sent each time.
      const own = fault instanceof Response ? fault.clone() : fault;
      faults.push([endpoint, own]);
    },
  };
  const server = createAuthorizationServer({
    ...{ issuer, resource, scopes, clients, now },
    switches: servers,
  });
  return { servers, respond };
}
