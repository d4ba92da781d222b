/**
 * An authorization server and a resource on loopback that a test controls:
 * tokens are strings that can be made invalid, and every response can be replaced.
 * What needs a real server is tested with `authorization_server.ts` instead.
 */
import { codeFlow, type ICodeFlowOptions } from "../../mod.ts";
import { deferred } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { serve } from "./_serve.ts";

/** A request that one of the servers received. */
export interface IReceived {
  method: string;
  path: string;
  search: string;
  headers: Headers;
  authorization: string | null;
  body: string;
}

type Handler = (
  received: IReceived,
) => Response | undefined | Promise<Response | undefined>;

export interface ISessionServers extends AsyncDisposable {
  issuer: string;
  origin: string;
  /** `<origin>/mcp`; `/mcp/<scope>` requires that scope beside `read`. */
  resource: string;
  /** What the resource received, without requests for metadata. */
  calls: IReceived[];
  /** What the authorization server received, without requests for metadata. */
  requests: IReceived[];
  /** Requests to a path of the authorization server, such as `/token`. */
  received(path: string): IReceived[];
  /** The forms of token requests with this grant type. */
  grants(type: string): URLSearchParams[];
  /** Makes all access tokens invalid, and with `all` the refresh tokens as well. */
  revoke(all?: boolean): void;
  /** Deletes the registered clients. */
  forgetClients(): void;
  /** Access tokens with their scopes. */
  tokens: Map<string, string[]>;
  /** Seconds; what token responses have as `expires_in`. */
  lifetime: number | undefined;
  /** Answers in place of the authorization server. */
  server: Handler;
  /** Answers in place of the resource. */
  handler: Handler;
  /** A user who consents at once; `visits` has the URLs that were opened. */
  flow(options?: Partial<ICodeFlowOptions>): ReturnType<typeof codeFlow>;
  visits: URL[];
}

export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

/** A handler that holds the requests that match, until the test releases them. */
export function hold(matches: (received: IReceived) => boolean) {
  const received = deferred<void>();
  const released = deferred<void>();
  return {
    /** Waits until the first of them was received. */
    received: () => within(LIMIT_MS, received.promise),
    release: () => released.resolve(),
    async handler(request: IReceived): Promise<undefined> {
      if (!matches(request)) return;
      received.resolve();
      await released.promise;
    },
  };
}

async function read(request: Request): Promise<IReceived> {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    path: pathname,
    search,
    headers: request.headers,
    authorization: request.headers.get("Authorization"),
    body: await request.text(),
  };
}

export function startSessionServers(): ISessionServers {
  const clients = new Set<string>();
  const codes = new Map<string, string[]>();
  const refreshTokens = new Map<string, string[]>();
  let count = 0;

  function issue(scopes: string[]): Response {
    count++;
    servers.tokens.set(`at${count}`, scopes);
    refreshTokens.set(`rt${count}`, scopes);
    return Response.json({
      access_token: `at${count}`,
      refresh_token: `rt${count}`,
      token_type: "Bearer",
      scope: scopes.join(" "),
      expires_in: servers.lifetime,
    });
  }

  function token(form: URLSearchParams): Response {
    const refuse = (error: string) => Response.json({ error }, { status: 400 });
    if (!clients.has(form.get("client_id") ?? "")) {
      return Response.json({ error: "invalid_client" }, { status: 401 });
    }
    const [store, value] = form.get("grant_type") === "refresh_token"
      ? [refreshTokens, form.get("refresh_token")]
      : [codes, form.get("code") ?? form.get("device_code")];
    const scopes = store.get(value ?? "");
    if (!scopes) {
      // RFC 9700, section 4.14.2: a second use revokes the whole family.
      if (store === refreshTokens) servers.revoke(true);
      return refuse("invalid_grant");
    }
    store.delete(value!);
    return issue(scopes);
  }

  const as = serve(async (request) => {
    const { origin: issuer } = as;
    const received = await read(request);
    if (received.path.startsWith("/.well-known/")) {
      return Response.json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        revocation_endpoint: `${issuer}/revoke`,
        device_authorization_endpoint: `${issuer}/device`,
        code_challenge_methods_supported: ["S256"],
        response_types_supported: ["code"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
      });
    }
    servers.requests.push(received);
    const given = await servers.server(received);
    if (given) return given;
    const query = new URLSearchParams(received.search);
    const form = new URLSearchParams(received.body);
    const scopes = (query.get("scope") ?? form.get("scope") ?? "").split(" ");
    switch (received.path) {
      case "/register": {
        const client_id = `client${++count}`;
        clients.add(client_id);
        return Response.json({ ...JSON.parse(received.body), client_id });
      }
      case "/authorize": {
        const code = `code${++count}`;
        codes.set(code, scopes);
        const callback = new URL(query.get("redirect_uri")!);
        const state = query.get("state")!;
        callback.search = `${new URLSearchParams({
          code,
          state,
          iss: issuer,
        })}`;
        return Response.redirect(callback);
      }
      case "/device":
        codes.set(`device${++count}`, scopes);
        return Response.json({
          device_code: `device${count}`,
          user_code: "WDJB-MJHT",
          verification_uri: `${issuer}/activate`,
          expires_in: 600,
        });
      case "/token":
        return token(form);
      case "/revoke":
        servers.tokens.delete(form.get("token")!);
        refreshTokens.delete(form.get("token")!);
        return new Response();
    }
    return new Response(null, { status: 404 });
  });

  const rs = serve(async (request) => {
    const received = await read(request);
    const { path, authorization } = received;
    if (path.startsWith("/.well-known/")) {
      return path.endsWith("/mcp")
        ? Response.json({
          resource: `${rs.origin}/mcp`,
          authorization_servers: [as.origin],
          scopes_supported: ["read"],
        })
        : new Response(null, { status: 404 });
    }
    servers.calls.push(received);
    const given = await servers.handler(received);
    if (given) return given;
    const refuse = (status: number, parameters: string) =>
      new Response("refused", {
        status,
        headers: { "WWW-Authenticate": `Bearer ${parameters}` },
      });
    const metadata =
      `resource_metadata="${rs.origin}/.well-known/oauth-protected-resource/mcp"`;
    const scopes = servers.tokens.get(authorization?.slice(7) ?? "");
    if (!scopes) return refuse(401, metadata);
    const scope = path.split("/")[2];
    if (scope && !scopes.includes(scope)) {
      return refuse(403, `error="insufficient_scope", scope="${scope}"`);
    }
    return Response.json({ ...received, headers: undefined });
  });

  const servers: ISessionServers = {
    issuer: as.origin,
    origin: rs.origin,
    resource: `${rs.origin}/mcp`,
    calls: [],
    requests: [],
    received: (path) => servers.requests.filter((one) => one.path === path),
    grants: (type) =>
      servers.received("/token")
        .map(({ body }) => new URLSearchParams(body))
        .filter((form) => form.get("grant_type") === type),
    revoke(all) {
      servers.tokens.clear();
      if (all) refreshTokens.clear();
    },
    forgetClients: () => clients.clear(),
    tokens: new Map(),
    lifetime: 3600,
    server: () => undefined,
    handler: () => undefined,
    visits: [],
    flow: (options) =>
      codeFlow({
        clientMetadata: { client_name: "Session test" },
        redirectUri: REDIRECT_URI,
        visit: async (url) => {
          servers.visits.push(url);
          const response = await fetch(url, { redirect: "manual" });
          await response.body?.cancel();
          return response.headers.get("Location") ?? "";
        },
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all([as.close(), rs.close()]);
    },
  };
  return servers;
}
