/** An HTTP server on the loopback interface. */

import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { OAuthClientError } from "../core/errors.ts";

const IPV4 = "127.0.0.1";
const IPV6 = "::1";

/** How often another free port is tried, as one may be free on one address only. */
const ATTEMPTS = 10;

/** The host of a redirect URI. */
export type LoopbackHost = "127.0.0.1" | "localhost";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A running server. */
export interface IListener {
  readonly port: number;
  /** Sets whether the server keeps the process alive. */
  keepAlive(isNeeded: boolean): void;
  /** Stops the server, and closes the connections that a browser keeps open. */
  close(): Promise<void>;
}

function listenOn(
  handle: Handler,
  port: number,
  address: string,
): Promise<IListener> {
  return new Promise((resolve, reject) => {
    const server = createServer(handle);
    server.once("error", reject);
    server.listen(port, address, () => {
      server.unref();
      resolve({
        port: (server.address() as AddressInfo).port,
        keepAlive: (isNeeded) => isNeeded ? server.ref() : server.unref(),
        close: () =>
          new Promise((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
          }),
      });
    });
  });
}

interface IPermissions {
  query(descriptor: object): Promise<{ readonly state: string }>;
}

/** Checks whether this program may listen: Deno throws where no handler catches it. */
async function mayListen(address: string, port: number): Promise<boolean> {
  const { Deno } = globalThis as { Deno?: { permissions?: IPermissions } };
  const net = { name: "net", host: `[${address}]:${port}` };
  const status = await Deno?.permissions?.query(net);
  return (status?.state ?? "granted") === "granted";
}

/** Checks whether a machine has no such address. */
function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT";
}

/**
 * Listens on every address that the browser may use for a host: it decides which of the
 * two it tries for `localhost`, and another user of the machine could listen on the
 * other one (RFC 8252, section 8.3).
 */
async function listenFor(
  host: LoopbackHost,
  handle: Handler,
  port: number,
): Promise<IListener> {
  const first = await listenOn(handle, port, IPV4);
  if (host !== "localhost" || !await mayListen(IPV6, first.port)) return first;
  let second: IListener;
  try {
    second = await listenOn(handle, first.port, IPV6);
  } catch (error) {
    if (isMissing(error)) return first;
    await first.close();
    throw error;
  }
  return {
    port: first.port,
    keepAlive(isNeeded) {
      first.keepAlive(isNeeded);
      second.keepAlive(isNeeded);
    },
    close: async () => void await Promise.all([first.close(), second.close()]),
  };
}

/** Listens on a free port. */
async function listenAnywhere(
  host: LoopbackHost,
  handle: Handler,
): Promise<IListener> {
  for (let attempt = 1;; attempt++) {
    try {
      return await listenFor(host, handle, 0);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Listens on a port; if it is in use, listens on a free port where that is allowed. */
export async function listen(
  host: LoopbackHost,
  handle: Handler,
  port: number,
  mayChange: boolean,
): Promise<IListener> {
  try {
    return port === 0
      ? await listenAnywhere(host, handle)
      : await listenFor(host, handle, port);
  } catch (cause) {
    if (mayChange) return await listenAnywhere(host, handle);
    const { code } = cause as { code?: unknown };
    const reason = code === "EADDRINUSE"
      ? "it is in use, for example by another sign-in that still waits. End " +
        "that program"
      : `${cause}. Allow it`;
    throw new OAuthClientError(
      "network_error",
      `Cannot listen on port ${port} of ${host}: ${reason}, or set port to one ` +
        "that the client is registered with, or that its document lists",
      { cause },
    );
  }
}
