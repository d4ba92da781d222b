/**
 * Servers on loopback that stand for the hosts of a service: the programs of the tests
 * have the URLs that users write, and `fetch` sends their requests to the sockets.
 */
import { serve } from "../_serve.ts";
import { type HostFetch, mapHosts } from "./_map_hosts.ts";

export interface HostRequest {
  method: string;
  /** The URL at the host that the server stands for. */
  url: URL;
  headers: Headers;
  bearer: string | undefined;
  body: string;
  form: URLSearchParams;
}

export type HostHandler = (
  request: HostRequest,
) => Response | Promise<Response>;

export const notFound = () => new Response("Not Found", { status: 404 });

export interface Hosts extends AsyncDisposable {
  /**
   * Sends requests to these hosts, and fails for any other one. Like that of Workers, it
   * adds no `User-Agent`.
   */
  fetch: HostFetch;
  /** The origins of the sockets, by the origins that they stand for. */
  sockets: Record<string, string>;
  received: HostRequest[];
  /** Returns method and URL, without query, of the requests since the last call. */
  take(): string[];
}

export interface Service extends Hosts {
  /** A user who is signed in and consents at once; fails at an error page. */
  visit(url: URL): Promise<string>;
  visits: URL[];
  /** Ends the refresh tokens of the user, and with `all` the access tokens. */
  revoke(all?: boolean): void;
}

export interface ServiceOptions {
  /** Returns the time in milliseconds since the Unix epoch. @default Date.now */
  now?: () => number;
}

function bearerOf(headers: Headers): string | undefined {
  return /^Bearer (\S+)$/i.exec(headers.get("Authorization") ?? "")?.[1];
}

/**
 * Starts one server for each origin of the table, which has handlers by method and URL,
 * such as `GET https://api.example/users`, and by origin for what is left.
 */
export function startHosts(handlers: Record<string, HostHandler>): Hosts {
  const received: HostRequest[] = [];
  let taken = 0;
  const origins = Object.keys(handlers)
    .map((name) => new URL(name.replace(/^\w+ /, "")).origin);
  const servers = [...new Set(origins)].map((origin) => {
    const server = serve(async (request) => {
      const { method, headers } = request;
      const url = new URL(origin + request.url.slice(server.origin.length));
      const body = await request.text();
      const form = new URLSearchParams(body);
      const bearer = bearerOf(headers);
      const one = { method, url, headers, bearer, body, form };
      received.push(one);
      const handle = handlers[`${method} ${origin}${url.pathname}`] ??
        handlers[origin] ?? notFound;
      return await handle(one);
    });
    return { origin, server };
  });
  const sockets = Object.fromEntries(
    servers.map(({ origin, server }) => [origin, server.origin]),
  );
  const mapped = mapHosts(sockets);
  return {
    async fetch(input, init) {
      const request = new Request(input, init);
      const { origin } = new URL(request.url);
      if (!(origin in sockets)) throw new TypeError(`No host here: ${origin}`);
      // Deno adds its own to a request without the field.
      const agent = request.headers.get("User-Agent") ?? "";
      request.headers.set("User-Agent", agent);
      return await mapped(request);
    },
    sockets,
    received,
    take() {
      const since = received.slice(taken);
      taken = received.length;
      return since.map(({ method, url }) =>
        `${method} ${url.origin}${url.pathname}`
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(({ server }) => server.close()));
    },
  };
}
