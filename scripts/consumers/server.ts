/**
 * The server of the consumer tests: the responses of `responses.ts`, and URLs that
 * hang, redirect, break off or never end. It allows CORS, for browsers.
 */

import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { authorize, serveResource } from "./responses.ts";

/** A server on loopback; disposing it stops it. */
export interface IConsumerServer extends AsyncDisposable {
  /** Its origin. */
  readonly origin: string;
}

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

async function send(
  response: Response,
  outgoing: ServerResponse,
): Promise<void> {
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  outgoing.writeHead(response.status);
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}

/** Sends a body until the client closes the connection. */
function sendEndless(outgoing: ServerResponse, delayMs: number): void {
  const chunk = new Uint8Array(65_536).fill(32);
  const timer = setInterval(() => outgoing.write(chunk), delayMs);
  outgoing.on("close", () => clearInterval(timer));
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startConsumerServer(): Promise<IConsumerServer> {
  const challenges = new Map<string, string>();
  const open = new Map<ServerResponse, string>();
  let origin = "";

  /** Sends faulty responses; returns false for any other path. */
  function misbehave(path: string, outgoing: ServerResponse): boolean {
    const redirect = (location: string) =>
      outgoing.writeHead(307, { Location: location }).end();
    switch (path) {
      case "/hang":
        return true;
      case "/endless/slow":
        sendEndless(outgoing, 20);
        return true;
      case "/endless/fast":
        sendEndless(outgoing, 1);
        return true;
      case "/broken":
        outgoing.destroy();
        return true;
      case "/redirect/same":
        redirect(`${origin}/document`);
        return true;
      case "/redirect/away":
        redirect(`${origin.replace("127.0.0.1", "localhost")}/document`);
        return true;
      case "/time":
        outgoing.end(String(performance.now()));
        return true;
      case "/open":
        outgoing.end(
          [...open.values()].filter((one) => one !== path).join(" "),
        );
        return true;
    }
    return false;
  }

  // Not `Deno.serve`: it does not always notice that a client disconnected.
  const server = createServer(async (incoming, outgoing) => {
    const path = incoming.url?.replace(/\?.*/, "") ?? "";
    open.set(outgoing, path);
    outgoing.on("close", () => open.delete(outgoing));
    for (const [name, value] of Object.entries(CORS)) {
      outgoing.setHeader(name, value);
    }
    if (incoming.method === "OPTIONS") {
      outgoing.writeHead(204).end();
    } else if (!misbehave(path, outgoing)) {
      const respond = async () => {
        const request = await toRequest(incoming, origin);
        return await authorize(request, path, challenges) ??
          await serveResource(request, path) ??
          new Response("No such page", { status: 404 });
      };
      const failed = (error: unknown) =>
        new Response(String(error), { status: 500 });
      await send(await respond().catch(failed), outgoing);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
