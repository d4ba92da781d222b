/** The network of the servers for tests: passes requests and responses. */

import { requireEndpoint, requireValues } from "./_arguments.ts";
import { underSignal } from "../http/_clock.ts";
import { createAuthorizationServer } from "./_authorization_server.ts";
import { DpopProofs } from "./_dpop_proofs.ts";
import { respondAt } from "./_endpoints.ts";
import { Faults } from "./_faults.ts";
import { serverUrls } from "./_server_urls.ts";
import { ServersClock } from "./_servers_clock.ts";
import { switchesOf } from "./_switch_defaults.ts";
import { createReceiver } from "./_test_receiver.ts";
import type { TestEndpoint, TestRequest } from "./request.ts";
import type { TestServers, TestServersOptions } from "./servers.ts";

async function readRequest(
  request: Request,
  endpoint: TestEndpoint,
): Promise<TestRequest> {
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

export interface TestNetwork {
  readonly servers: TestServers;
  /** Returns undefined if the connection breaks. */
  respond(request: Request): Promise<Response | undefined>;
}

/** Returns a `fetch` that reaches only these origins. */
function fetchOf(
  origins: readonly string[],
  respond: TestNetwork["respond"],
): TestServers["fetch"] {
  return async (input, init) => {
    const request = new Request(input, init);
    const { signal, url } = request;
    signal.throwIfAborted();
    if (!origins.includes(new URL(url).origin)) {
      throw new TypeError(`No server for tests is at ${url}`);
    }
    const response = await underSignal(signal, () => respond(request));
    if (!response) throw new TypeError(`The connection to ${url} broke`);
    // An abort also cancels the body and the server's stream.
    const body = response.body?.pipeThrough(new TransformStream(), { signal });
    const delivered = new Response(body ?? null, response);
    return Object.defineProperty(delivered, "url", { value: url });
  };
}

export function networkOf(options: TestServersOptions): TestNetwork {
  const {
    resource = "https://api.example/mcp",
    issuer = "https://auth.example",
    scopes = ["read"],
    clients: given = [],
    now: clock = Date.now,
  } = options;
  const clients = new Map(given.map((one) => [one.client_id, one]));
  const faults = new Faults();
  const time = new ServersClock(clock);
  const { metadataUrl, origins, endpointOf } = serverUrls(resource, issuer);

  async function respond(request: Request): Promise<Response | undefined> {
    requireValues(servers);
    const endpoint = endpointOf(new URL(request.url));
    const received = await readRequest(request.clone(), endpoint);
    servers.requests.push(received);
    const response = await faults.respond(
      endpoint,
      () => respondAt(endpoints, request, received),
    );
    if (response) received.status = response.status;
    return response;
  }

  const fetch = fetchOf(origins, respond);
  const servers: TestServers = {
    ...switchesOf(issuer, options),
    resource,
    issuer,
    fetch,
    now: time.now,
    receiver: createReceiver(fetch, time, () => servers.user === "leaves"),
    requests: [],
    received(endpoint, grantType) {
      requireEndpoint(endpoint);
      return servers.requests.filter((one) =>
        one.endpoint === endpoint &&
        (grantType === undefined || one.params.get("grant_type") === grantType)
      );
    },
    accessTokens: () => server.grants.accessTokens(),
    advance: (seconds) => time.advance(seconds),
    expireAccessTokens: () => server.grants.expireAccessTokens(),
    revoke: () => server.grants.revokeAll(),
    forgetClients: () => clients.clear(),
    failNext: (endpoint, fault) => faults.add(endpoint, fault),
  };
  const server = createAuthorizationServer({
    ...{ issuer, resource, scopes, clients },
    now: time.now,
    switches: servers,
  });
  const proofs = new DpopProofs("resource", servers, time.now);
  const endpoints = { servers, server, proofs, metadataUrl, scopes };
  return { servers, respond };
}
