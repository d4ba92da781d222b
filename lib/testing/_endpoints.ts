/** The responses of both servers' endpoints, according to the switches. */

import type { createAuthorizationServer } from "./_authorization_server.ts";
import type { DpopProofs } from "./_dpop_proofs.ts";
import { refusal, settle } from "./_refusals.ts";
import { respondToCall } from "./_resource_server.ts";
import type { TestRequest } from "./request.ts";
import type { TestServers } from "./servers.ts";

export interface Endpoints {
  readonly servers: TestServers;
  readonly server: ReturnType<typeof createAuthorizationServer>;
  readonly proofs: DpopProofs;
  readonly metadataUrl: string;
  readonly scopes: readonly string[];
}

export async function respondAt(
  { servers, server, proofs, metadataUrl, scopes }: Endpoints,
  request: Request,
  received: TestRequest,
): Promise<Response> {
  const { endpoint } = received;
  const response = await servers.intercept(received);
  if (response) return response;
  const seconds = servers.retryAfterSeconds[endpoint];
  if (seconds !== undefined) {
    return refusal("temporarily_unavailable", "Too many requests", 429, {
      "Retry-After": `${seconds}`,
    });
  }
  switch (endpoint) {
    case "resource":
      return await respondToCall(request, received, {
        ...{ servers, proofs, metadataUrl },
        grants: server.grants,
      });
    case "resource_metadata":
      return Response.json({
        resource: servers.resource,
        authorization_servers: [servers.issuer],
        scopes_supported: scopes,
        ...servers.dpop === "required" && {
          dpop_bound_access_tokens_required: true,
        },
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
