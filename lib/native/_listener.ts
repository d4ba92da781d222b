import { hinted } from "../core/_hints.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";

export const IPV4 = "127.0.0.1";
const IPV6 = "::1";

/** How often to try another port, because one may be free on one address only. */
const ATTEMPTS = 10;

export type LoopbackHost = "127.0.0.1" | "localhost";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Place {
  readonly host: LoopbackHost;
  /** The address instead of 127.0.0.1. */
  readonly bind: string | undefined;
  readonly port: number;
}

interface Server {
  readonly port: number;
  /** Sets whether the server keeps the process alive. */
  keepAlive(isNeeded: boolean): void;
  /** Stops the server, and closes idle connections of a browser. */
  close(): Promise<void>;
}

export interface Listener extends Server {
  /** Also listens for `localhost`, at the same port. */
  alsoForLocalhost(): Promise<void>;
}

interface Permissions {
  query(descriptor: object): Promise<{ readonly state: string }>;
  request(descriptor: object): Promise<{ readonly state: string }>;
}

/** Returns undefined if the runtime has no permissions. */
async function permission(
  how: keyof Permissions,
  port: number,
  address: string,
): Promise<string> {
  const { Deno } = globalThis as { Deno?: { permissions?: Permissions } };
  const host = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const status = await Deno?.permissions?.[how]({ name: "net", host });
  return status?.state ?? "granted";
}

/** Checks whether the program may listen there, without a prompt. */
async function mayListen(port: number, address: string): Promise<boolean> {
  return await permission("query", port, address) === "granted";
}

/**
 * Without the permission, Deno would exit the program with an error that nothing can
 * catch.
 */
async function requirePermission(port: number, address: string) {
  if (await permission("request", port, address) === "granted") return;
  throw new Error(`Deno requires --allow-net=${address}`);
}

async function listenOn(
  handle: Handler,
  port: number,
  address: string,
): Promise<Server> {
  await requirePermission(port, address);
  // Not at the top: Node 24 needs 30 ms for it, which programs with a session save.
  const { createServer } = await import("node:http");
  return await new Promise((resolve, reject) => {
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

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT";
}

function cannotListen({ host, bind }: Place, port: number, cause: unknown) {
  const { code } = cause as { code?: unknown };
  const reason = code === "EADDRINUSE"
    ? "it is in use, for example by another sign-in that still waits. End " +
      "that program"
    : `${cause}. Allow it`;
  return hinted(
    "network_error",
    `Cannot listen on port ${port} of ${bind ?? host}: ${reason}`,
    [{
      option: "port",
      text: "set port to one that the client is registered with, or that " +
        "its document lists",
    }],
    { cause },
  );
}

/**
 * Listens on every address of a host: the browser selects one for `localhost`, and
 * another user could listen on the other (RFC 8252, section 8.3).
 */
async function listenFor(place: Place, handle: Handler): Promise<Listener> {
  const { host, bind = IPV4 } = place;
  const servers = [await listenOn(handle, place.port, bind)];
  const { port } = servers[0]!;
  let isKept = false;
  let second: Promise<void> | undefined;
  const listenOnSecond = async () => {
    if (isIPv6(bind) || !await mayListen(port, IPV6)) return;
    try {
      const server = await listenOn(handle, port, IPV6);
      server.keepAlive(isKept);
      servers.push(server);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  };
  const keepAlive = (isNeeded: boolean) => {
    isKept = isNeeded;
    for (const server of servers) server.keepAlive(isNeeded);
  };
  const close = async () =>
    void await Promise.all(servers.map((server) => server.close()));
  if (host === "localhost") {
    try {
      await listenOnSecond();
    } catch (error) {
      await close();
      throw error;
    }
    second = Promise.resolve();
  }
  return {
    ...{ port, keepAlive, close },
    alsoForLocalhost: () =>
      second ??= listenOnSecond().catch((cause) => {
        second = undefined;
        throw cannotListen({ ...place, host: "localhost" }, port, cause);
      }),
  };
}

async function listenAnywhere(
  place: Place,
  handle: Handler,
): Promise<Listener> {
  for (let attempt = 1;; attempt++) {
    try {
      return await listenFor({ ...place, port: 0 }, handle);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Listens on a port or, if it is in use and that is allowed, on a free one. */
export async function listen(
  place: Place,
  handle: Handler,
  mayChange: boolean,
): Promise<Listener> {
  const { port } = place;
  try {
    return port === 0
      ? await listenAnywhere(place, handle)
      : await listenFor(place, handle);
  } catch (cause) {
    if (mayChange) return await listenAnywhere(place, handle);
    throw cannotListen(place, port, cause);
  }
}
