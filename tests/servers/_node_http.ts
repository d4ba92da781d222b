/** A `node:http` server on a free loopback port, which closes completely. */
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
) => void;

export interface NodeServer {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  origin: string;
  /** The requests so far: method and path, without the query. */
  requests: string[];
  /** Sets the handler, which may need `origin`. */
  handle(handler: NodeHandler): void;
  close(): Promise<void>;
}

export async function listen(): Promise<NodeServer> {
  const requests: string[] = [];
  let handler: NodeHandler = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split("?", 1)[0]}`);
    handler(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    handle(given) {
      handler = given;
    },
    async close() {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve, reject) => {
        server.close((error) => error ? reject(error) : resolve());
      });
      // close() waits for requests without a limit, also for those that a test has
      // aborted.
      server.closeAllConnections();
      await closed;
    },
  };
}
