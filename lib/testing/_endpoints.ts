/** What each endpoint of both servers responds, as the switches are set. */

import type { createAuthorizationServer } from "./_authorization_server.ts";
import { refusal, settle } from "./_refusals.ts";
import { respondToCall } from "./_resource_server.ts";
import type { ITestRequest } from "./request.ts";
import type { ITestServers } from "./servers.ts";

/** Both servers. */
export interface IEndpoints {
  readonly servers: ITestServers;
  readonly server: ReturnType<typeof createAuthorizationServer>;
  readonly metadataUrl: string;
  readonly scopes: readonly string[];
}

/** Responds to a request. */
export async function respondAt(
  { servers, server, metadataUrl, scopes }: IEndpoints,
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
        resource: servers.resource,
        authorization_servers: [servers.issuer],
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
