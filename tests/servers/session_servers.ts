/**
 * The servers of `./testing` on loopback, with what the tests of sessions need beside:
 * requests by server and path, and handlers that see what was received. What needs a
 * real server is tested with `authorization_server.ts` instead.
 */
import { codeFlow, type CodeFlowOptions } from "../../mod.ts";
import { startTestServers, type TestRequest } from "../../lib/testing/mod.ts";
import { deferred } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";

export interface Received {
  method: string;
  path: string;
  search: string;
  headers: Headers;
  authorization: string | null;
  body: string;
}

type Handler = (
  received: Received,
) => Response | undefined | Promise<Response | undefined>;

export interface SessionServers extends AsyncDisposable {
  issuer: string;
  origin: string;
  /** `<origin>/mcp`; `/mcp/<scope>` requires that scope beside `read`. */
  resource: string;
  /** What the resource received, without requests for metadata. */
  calls: Received[];
  /** What the authorization server received, without requests for metadata. */
  requests: Received[];
  /** Requests to a path of the authorization server, such as `/token`. */
  received(path: string): Received[];
  grants(type: string): URLSearchParams[];
  /** Makes all access tokens invalid, and with `all` the refresh tokens as well. */
  revoke(all?: boolean): void;
  forgetClients(): void;
  tokens(): string[];
  /** Seconds; what token responses have as `expires_in`. */
  lifetime: number;
  server: Handler;
  handler: Handler;
  /** A user who consents at once; `visits` has the URLs that were opened. */
  flow(options?: Partial<CodeFlowOptions>): ReturnType<typeof codeFlow>;
  visits: URL[];
}

export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

/** A handler that holds the requests that match, until the test releases them. */
export function hold(matches: (received: Received) => boolean) {
  const received = deferred<void>();
  const released = deferred<void>();
  return {
    /** Waits until the first of them was received. */
    received: () => within(LIMIT_MS, received.promise),
    release: () => released.resolve(),
    async handler(request: Received): Promise<undefined> {
      if (!matches(request)) return;
      received.resolve();
      await released.promise;
    },
  };
}

function read({ method, url, headers, body }: TestRequest): Received {
  const { pathname: path, search } = url;
  const authorization = headers.get("Authorization");
  return { method, path, search, headers, authorization, body };
}

export async function startSessionServers(): Promise<SessionServers> {
  const running = await startTestServers({
    resourceParameter: "optional",
    serverMetadata: { token_endpoint_auth_methods_supported: ["none"] },
    requiredScopes: ({ url }) =>
      url.pathname.split("/").slice(2, 3).filter(Boolean),
    async intercept(request) {
      if (request.endpoint.endsWith("_metadata")) return undefined;
      const received = read(request);
      if (request.url.origin === running.issuer) {
        servers.requests.push(received);
        return await servers.server(received);
      }
      servers.calls.push(received);
      return await servers.handler(received);
    },
    handle: () =>
      Response.json({ ...servers.calls.at(-1), headers: undefined }),
  });
  const { issuer, resource } = running;
  const servers: SessionServers = {
    issuer,
    origin: new URL(resource).origin,
    resource,
    calls: [],
    requests: [],
    received: (path) => servers.requests.filter((one) => one.path === path),
    grants: (type) =>
      servers.received("/token")
        .map(({ body }) => new URLSearchParams(body))
        .filter((form) => form.get("grant_type") === type),
    revoke: (all) => all ? running.revoke() : running.expireAccessTokens(),
    forgetClients: running.forgetClients,
    tokens: running.accessTokens,
    get lifetime() {
      return running.lifetimeSeconds;
    },
    set lifetime(seconds) {
      running.lifetimeSeconds = seconds;
    },
    server: () => undefined,
    handler: () => undefined,
    visits: [],
    flow: (options) =>
      codeFlow({
        clientMetadata: { client_name: "Session test" },
        redirectUri: REDIRECT_URI,
        visit(url) {
          servers.visits.push(url);
          return running.receiver.visit(url);
        },
        ...options,
      }),
    [Symbol.asyncDispose]: running.close,
  };
  return servers;
}
