/** The authorized fetch of a resource at `MCP` whose responses a test makes. */

import {
  type AuthorizedFetchOptions,
  createAuthorizedFetch,
  type KnownClient,
  memoryStore,
  type Session,
} from "../../mod.ts";
import { AS, MCP, OAUTH, PRM, SERVER } from "./fixtures.ts";

export const SESSION: Session & { client: NonNullable<Session["client"]> } = {
  version: 1,
  issuer: AS,
  resource: MCP,
  scopes: ["read"],
  token: {
    access_token: "s3cret-access/token+1",
    token_type: "Bearer",
    refresh_token: "s3cret-refresh/token+1",
  },
  client: { client_id: "c1", token_endpoint_auth_method: "none" },
  server: { token_endpoint: SERVER.token_endpoint },
};

/** The client of the session, as functions of one message take it. */
export const SESSION_CLIENT: KnownClient = { ...SESSION.client, issuer: AS };

export interface Received {
  url: string;
  method: string;
  headers: Headers;
  body: string;
}

/** Makes a response; undefined for that of a server without faults. */
export type Respond = (
  received: Received,
) => Response | undefined | Promise<Response | undefined>;

const DOCUMENTS: Record<string, unknown> = {
  [`${PRM}/mcp`]: { resource: MCP, authorization_servers: [AS] },
  [OAUTH]: SERVER,
};

/**
 * Creates a fetch with a session in memory, and lists what its servers received, and
 * the URLs of it. `respond` comes before the documents of a
 * discovery; any other request is responded to with 200.
 */
export function resourceFetch(
  respond: Respond = () => undefined,
  options: Partial<AuthorizedFetchOptions> = {},
) {
  const received: Received[] = [];
  const urls: string[] = [];
  const api = createAuthorizedFetch(MCP, {
    flow: () => Promise.reject(new Error("A user is asked")),
    store: memoryStore(SESSION),
    async fetch(input, init) {
      const request = new Request(input, init);
      init?.signal?.throwIfAborted();
      const { url, method, headers } = request;
      const one = { url, method, headers, body: await request.text() };
      received.push(one);
      urls.push(url);
      return await respond(one) ?? Response.json(DOCUMENTS[url] ?? {});
    },
    ...options,
  });
  return { api, received, urls };
}

/** Responds by URL, where the table has it. */
export function byUrl(routes: Record<string, Respond>): Respond {
  return (received) => routes[received.url]?.(received);
}

export function redirection(location: string, status = 307): Response {
  return new Response(null, { status, headers: { Location: location } });
}

/** A 401 of the resource to another fetch, as `renew()` receives it. */
export function unauthorizedAt(url: string = MCP, challenge = ""): Response {
  const headers = { "WWW-Authenticate": `Bearer ${challenge}` };
  const response = new Response(null, { status: 401, headers });
  return Object.defineProperty(response, "url", {
    value: url,
    configurable: true,
  });
}
