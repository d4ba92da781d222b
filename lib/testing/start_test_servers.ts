import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { optionsOf } from "./_arguments.ts";
import { networkOf } from "./_network.ts";
import type { TestServers, TestServersOptions } from "./servers.ts";

/** Servers that listen, from {@linkcode startTestServers}. */
export interface RunningTestServers extends TestServers {
  /** Stops the servers, and closes open requests. */
  close(): Promise<void>;
}

/** Pages of any origin may use the servers, because they contain no real data. */
const CORS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "*, Authorization",
  "Access-Control-Allow-Methods": "*",
  "Access-Control-Expose-Headers": "*",
};

/**
 * Node, Deno and Bun. Bundlers for browsers and Workers ignore this, unlike an import.
 */
interface Runtime {
  readonly process: {
    getBuiltinModule(id: "node:http"): typeof import("node:http");
  };
}

async function toRequest(message: IncomingMessage, origin: string) {
  const { url = "/", method = "GET", headers: fields } = message;
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    headers.set(name, String(value));
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of message) chunks.push(chunk);
  // Fetch allows no body for these, which servers ignore there (RFC 9110, section
  // 9.3.1).
  const isBodiless = method === "GET" || method === "HEAD";
  const body = chunks.length > 0 && !isBodiless ? new Blob(chunks) : null;
  return new Request(origin + url, { method, headers, body });
}

/** Sends a response, or closes the connection without one. */
async function send(
  response: Response | undefined,
  outgoing: ServerResponse,
): Promise<void> {
  if (!response) {
    outgoing.destroy();
    return;
  }
  const headers = { ...CORS, ...Object.fromEntries(response.headers) };
  outgoing.writeHead(response.status, headers);
  // A stream may send its first bytes much later.
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  outgoing.once("close", () => void reader?.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader?.read() ?? { done: true };
    if (done) break;
    outgoing.write(value);
  }
  outgoing.end();
}

/**
 * Starts a resource and its authorization server on free ports of 127.0.0.1.
 *
 * For programs that need a socket, in Deno, Node and Bun; the rest is as for
 * {@linkcode createTestServers}. They send CORS header fields.
 *
 * @param options How the servers behave; only the path of `resource` is used.
 * @throws {OAuthClientError} `invalid_argument`, as {@linkcode createTestServers}.
 * @example Give a program the URL of a server that fails once
 * ```ts
 * import { startTestServers } from "@oauth-helper/client/testing";
 *
 * const servers = await startTestServers();
 * servers.failNext("token", 503);
 * const response = await fetch(servers.resource);
 * console.log(response.status, await response.text());
 * await servers.close();
 * ```
 */
export async function startTestServers(
  options: Omit<TestServersOptions, "issuer"> = {},
): Promise<RunningTestServers> {
  const { resource = "https://api.example/mcp", ...rest } = optionsOf(
    options,
  );
  const { createServer } = (globalThis as unknown as Runtime).process
    .getBuiltinModule("node:http");
  const listen = async () => {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as AddressInfo;
    return { server, origin: `http://127.0.0.1:${port}` };
  };
  const [api, auth] = [await listen(), await listen()];
  const { pathname } = new URL(resource);
  const { servers, respond } = networkOf({
    ...rest,
    resource: api.origin + pathname,
    issuer: auth.origin,
  });
  const serve = ({ server, origin }: { server: Server; origin: string }) =>
    server.on("request", async (incoming, outgoing) => {
      if (incoming.method === "OPTIONS") {
        outgoing.writeHead(204, CORS).end();
        return;
      }
      // Deno repeats a POST if a reused connection breaks.
      outgoing.shouldKeepAlive = false;
      try {
        await send(await respond(await toRequest(incoming, origin)), outgoing);
      } catch {
        // The client closed the request early, or a function of the test has thrown.
        outgoing.destroy();
      }
    });
  serve(api);
  serve(auth);
  const stop = ({ server }: { server: Server }) =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const close = async () => void await Promise.all([api, auth].map(stop));
  return Object.preventExtensions(Object.assign(servers, { close }));
}
