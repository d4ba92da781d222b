/**
 * A server on loopback that plays faults. It writes HTTP to a bare socket by hand,
 * so that a response can be wrong in every way. Runs on Deno and on Node.
 */

import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Certificate } from "./certificate.ts";

interface FaultRequest {
  readonly path: string;
  readonly body: string;
}

export interface Stage {
  readonly request: FaultRequest;
  /** How many requests the server has seen, this one included. */
  readonly count: number;
  /** The server's own origin. */
  readonly origin: string;
  readonly isOpen: boolean;
  /** Writes bytes; settles when they are on their way or the peer is gone. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes the connection in good order. */
  end(): void;
  reset(): void;
  /** Runs a task again and again while the connection stands. */
  every(milliseconds: number, task: () => void): void;
}

export type Play = (stage: Stage) => void | Promise<void>;

export interface FaultServer {
  readonly origin: string;
  readonly requests: readonly FaultRequest[];
  /**
   * Connections that stand and have brought a request. One without is none of
   * ours: after an abort, Node connects anew by itself.
   */
  readonly open: number;
  /** Whether the peer closes all connections within this time. */
  drained(milliseconds: number): Promise<boolean>;
  close(): Promise<void>;
}

const HEAD_END = "\r\n\r\n";

function parseRequest(bytes: string): FaultRequest | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = bytes.slice(0, headEnd);
  const body = bytes.slice(headEnd + HEAD_END.length);
  const [, length = 0] = /^content-length: *(\d+)/im.exec(head) ?? [];
  const isWhole = /^transfer-encoding: *chunked/im.test(head)
    ? body.endsWith("0" + HEAD_END)
    : body.length >= Number(length);
  return isWhole ? { path: head.split(" ")[1] ?? "", body } : undefined;
}

/**
 * Starts a server that responds to every request by this play: on this IP address, and
 * with TLS if there is a certificate.
 */
export async function startFaultServer(
  play: Play,
  { host = "127.0.0.1", certificate }: {
    host?: string;
    certificate?: Certificate;
  } = {},
): Promise<FaultServer> {
  const requests: FaultRequest[] = [];
  const sockets = new Set<Socket>();
  const asked = new Set<Socket>();
  const timers = new Set<ReturnType<typeof setInterval>>();
  let onClose = () => {};

  function stageOf(socket: Socket, request: FaultRequest): Stage {
    const isOpen = () => !socket.destroyed && socket.writable;
    return {
      request,
      count: requests.length,
      origin,
      get isOpen() {
        return isOpen();
      },
      write: (data) =>
        new Promise((resolve) => {
          if (!isOpen()) return resolve();
          const done = () => {
            socket.off("close", done);
            resolve();
          };
          socket.on("close", done);
          socket.write(data, done);
        }),
      end: () => void socket.end(),
      reset: () => void socket.resetAndDestroy(),
      every: (milliseconds, task) => {
        const timer = setInterval(task, milliseconds);
        timers.add(timer);
        socket.on("close", () => clearInterval(timer));
      },
    };
  }

  function accept(socket: Socket): void {
    sockets.add(socket);
    let received = "";
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      asked.delete(socket);
      onClose();
    });
    socket.on("data", (data: Uint8Array) => {
      if (asked.has(socket)) return;
      for (const byte of data) received += String.fromCharCode(byte);
      const request = parseRequest(received);
      if (!request) return;
      requests.push(request);
      asked.add(socket);
      void play(stageOf(socket, request));
    });
  }

  const server = certificate
    ? createTlsServer(certificate, accept)
    : createServer(accept);
  // A client that does not trust the certificate breaks the handshake off.
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  const origin = `${certificate ? "https" : "http"}://${name}:${port}`;
  return {
    origin,
    requests,
    get open() {
      return asked.size;
    },
    async drained(milliseconds) {
      if (asked.size === 0) return true;
      let timer: ReturnType<typeof setTimeout> | undefined;
      return await new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), milliseconds);
        onClose = () => {
          if (asked.size === 0) resolve(true);
        };
      }).finally(() => clearTimeout(timer));
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
