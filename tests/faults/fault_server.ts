/**
 * A server on loopback that plays faults. It writes HTTP to a bare socket by hand,
 * so that a response can be wrong in every way. Runs on Deno and on Node.
 */

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { ICertificate } from "./certificate.ts";

/** A request as it came in. */
export interface IFaultRequest {
  readonly method: string;
  readonly path: string;
  /** Header fields, names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a play has to work with. */
export interface IStage {
  readonly request: IFaultRequest;
  /** How many requests the server has seen, this one included. */
  readonly count: number;
  /** The server's own origin. */
  readonly origin: string;
  readonly isOpen: boolean;
  /** Writes bytes; settles when they are on their way or the peer is gone. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes the connection in good order. */
  end(): void;
  /** Closes it with a reset. */
  reset(): void;
  /** Runs a task again and again while the connection stands. */
  every(milliseconds: number, task: () => void): void;
}

/** How a server responds to a request. */
export type Play = (stage: IStage) => void | Promise<void>;

/** A server that runs. */
export interface IFaultServer {
  readonly origin: string;
  readonly requests: readonly IFaultRequest[];
  /**
   * Connections that stand and have brought a request. One without is none of
   * ours: after an abort, Node connects anew by itself.
   */
  readonly open: number;
  /** Whether the peer closes all connections within this time. */
  drained(milliseconds: number): Promise<boolean>;
  close(): Promise<void>;
}

/** How a server is started. */
export interface IFaultServerOptions {
  /** IP address to listen on; 127.0.0.1 when absent. */
  host?: string;
  /** Makes it a TLS server. */
  certificate?: ICertificate;
}

const HEAD_END = "\r\n\r\n";

/** The request in these bytes, once all of it is there. */
function parseRequest(bytes: string): IFaultRequest | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const [start = "", ...lines] = bytes.slice(0, headEnd).split("\r\n");
  const [method = "", path = ""] = start.split(" ");
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  const body = bytes.slice(headEnd + HEAD_END.length);
  const isChunked = headers["transfer-encoding"] === "chunked";
  const isWhole = isChunked
    ? body.endsWith("0" + HEAD_END)
    : body.length >= Number(headers["content-length"] ?? 0);
  return isWhole ? { method, path, headers, body } : undefined;
}

class FaultServer implements IFaultServer {
  readonly requests: IFaultRequest[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #asked = new Set<Socket>();
  readonly #timers = new Set<ReturnType<typeof setInterval>>();
  readonly #server: Server;
  readonly #play: Play;
  readonly #scheme: string;
  #onClose = () => {};
  origin = "";

  constructor(play: Play, { certificate }: IFaultServerOptions) {
    this.#play = play;
    this.#scheme = certificate ? "https" : "http";
    const accept = (socket: Socket) => this.#accept(socket);
    this.#server = certificate
      ? createTlsServer(certificate, accept)
      : createServer(accept);
    // A client that does not trust the certificate breaks the handshake off.
    this.#server.on("tlsClientError", () => {});
  }

  async listen(host: string): Promise<this> {
    await new Promise<void>((resolve) =>
      this.#server.listen(0, host, () => resolve())
    );
    const address = this.#server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const name = host.includes(":") ? `[${host}]` : host;
    this.origin = `${this.#scheme}://${name}:${port}`;
    return this;
  }

  get open(): number {
    return this.#asked.size;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let received = "";
    let isPlaying = false;
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#asked.delete(socket);
      this.#onClose();
    });
    socket.on("data", (data: Uint8Array) => {
      if (isPlaying) return;
      for (const byte of data) received += String.fromCharCode(byte);
      const request = parseRequest(received);
      if (!request) return;
      isPlaying = true;
      this.requests.push(request);
      this.#asked.add(socket);
      this.#perform(socket, request);
    });
  }

  async #perform(socket: Socket, request: IFaultRequest): Promise<void> {
    const isOpen = () => !socket.destroyed && socket.writable;
    const stage: IStage = {
      request,
      count: this.requests.length,
      origin: this.origin,
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
        this.#timers.add(timer);
        socket.on("close", () => clearInterval(timer));
      },
    };
    await this.#play(stage);
  }

  async drained(milliseconds: number): Promise<boolean> {
    if (this.open === 0) return true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    return await new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), milliseconds);
      this.#onClose = () => {
        if (this.open === 0) resolve(true);
      };
    }).finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Starts a server that responds to every request by this play. */
export async function startFaultServer(
  play: Play,
  options: IFaultServerOptions = {},
): Promise<IFaultServer> {
  const server = new FaultServer(play, options);
  return await server.listen(options.host ?? "127.0.0.1");
}
