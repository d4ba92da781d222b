/**
 * The server of the consumer tests: the responses of `responses.ts`, and URLs that
 * hang, redirect, break off or never end. It allows CORS, for browsers.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { listen } from "../../tests/servers/_node_http.ts";
import { createResponder } from "./responses.ts";

const CORS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "authorization, content-type, dpop",
  "Access-Control-Expose-Headers": "www-authenticate, location, dpop-nonce",
};

async function toRequest(
  incoming: IncomingMessage,
  origin: string,
): Promise<Request> {
  const { method = "GET", url = "/", headers } = incoming;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const fields = Object.entries(headers).map(([name, value]) =>
    [name, String(value)] as [string, string]
  );
  const body = chunks.length > 0 ? new Blob(chunks) : null;
  return new Request(origin + url, { method, headers: fields, body });
}

/** Sends a body until the client closes the connection. */
function sendEndless(outgoing: ServerResponse, delayMs: number): void {
  const chunk = new Uint8Array(65_536).fill(32);
  const timer = setInterval(() => outgoing.write(chunk), delayMs);
  outgoing.on("close", () => clearInterval(timer));
}

/** Starts the server on a free port of 127.0.0.1; disposing of it stops it. */
export async function startConsumerServer(): Promise<
  AsyncDisposable & { readonly origin: string }
> {
  // Not `Deno.serve`: it does not always notice that a client disconnected.
  const { origin, handle, close } = await listen();
  const respond = createResponder();
  const open = new Map<ServerResponse, string>();
  const redirect = (outgoing: ServerResponse, to: string) =>
    outgoing.writeHead(307, { Location: `${to}/document` }).end();
  /** What is wrong at these paths. */
  const faults: Record<string, (outgoing: ServerResponse) => unknown> = {
    "/hang": () => {},
    "/endless/slow": (outgoing) => sendEndless(outgoing, 20),
    "/endless/fast": (outgoing) => sendEndless(outgoing, 1),
    "/broken": (outgoing) => outgoing.destroy(),
    "/redirect/same": (outgoing) => redirect(outgoing, origin),
    "/redirect/away": (outgoing) =>
      redirect(outgoing, origin.replace("127.0.0.1", "localhost")),
    "/open": (outgoing) =>
      outgoing.end(
        [...open.values()].filter((one) => one !== "/open").join(" "),
      ),
  };

  handle(async (incoming, outgoing) => {
    const path = incoming.url?.replace(/\?.*/, "") ?? "";
    open.set(outgoing, path);
    outgoing.on("close", () => open.delete(outgoing));
    for (const [name, value] of Object.entries(CORS)) {
      outgoing.setHeader(name, value);
    }
    const fault = faults[path];
    if (incoming.method === "OPTIONS") {
      outgoing.writeHead(204).end();
    } else if (fault) {
      fault(outgoing);
    } else {
      const response = await respond(await toRequest(incoming, origin))
        .catch((error) => new Response(String(error), { status: 500 }));
      for (const [name, value] of response.headers) {
        outgoing.setHeader(name, value);
      }
      outgoing.writeHead(response.status);
      outgoing.end(new Uint8Array(await response.arrayBuffer()));
    }
  });
  return { origin, [Symbol.asyncDispose]: close };
}
