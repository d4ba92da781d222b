/**
 * The listening half of the fixtures that are Node programs: a `node:http`
 * server on a free loopback port that leaves nothing open behind it.
 */
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

export interface INodeServer {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  origin: string;
  /** What was asked so far: method and path, without the query. */
  requests: string[];
  /** Sets what answers. Apart from `listen()`, since it may need `origin`. */
  handle(handler: NodeHandler): void;
  close(): Promise<void>;
}

export async function listen(): Promise<INodeServer> {
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
      // close() ends idle connections by itself, but waits without a limit for
      // a request that is still being answered. A test that gave up on such a
      // request must not hang here, and its socket must be gone when the
      // sanitizers look.
      server.closeAllConnections();
      await closed;
    },
  };
}
