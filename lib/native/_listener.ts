/** An HTTP server on the loopback interface. */

import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { OAuthClientError } from "../core/errors.ts";

// Not `localhost`, which may resolve to another interface (RFC 8252, section 8.3).
const ADDRESS = "127.0.0.1";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A running server. */
export interface IListener {
  readonly port: number;
  /** Sets whether the server keeps the process alive. */
  keepAlive(isNeeded: boolean): void;
  /** Stops the server, and closes the connections that a browser keeps open. */
  close(): Promise<void>;
}

function listenOn(handle: Handler, port: number): Promise<IListener> {
  return new Promise((resolve, reject) => {
    const server = createServer(handle);
    server.once("error", reject);
    server.listen(port, ADDRESS, () => {
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

/** Listens on a port; if it is in use, listens on a free port where that is allowed. */
export async function listen(
  handle: Handler,
  port: number,
  mayChange: boolean,
): Promise<IListener> {
  try {
    return await listenOn(handle, port);
  } catch (cause) {
    if (mayChange) return await listenOn(handle, 0);
    const { code } = cause as { code?: unknown };
    const reason = code === "EADDRINUSE" ? "it is in use" : String(cause);
    throw new OAuthClientError(
      "network_error",
      `Cannot listen on port ${port} of ${ADDRESS}: ${reason} (set port to one ` +
        "that the client is registered with, or that its document lists)",
      { cause },
    );
  }
}
