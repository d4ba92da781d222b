import { within } from "../support/within.ts";

/** Milliseconds; where they do not suffice, the test runner reports the server. */
const CLOSE_MS = 5_000;

/** Starts a server on a free loopback port that prints nothing. */
export function serve(handler: (request: Request) => Promise<Response>) {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    handler,
  );
  return {
    /** `http://127.0.0.1:<port>`, without a slash at the end. */
    origin: `http://127.0.0.1:${server.addr.port}`,
    /** Waits for requests under way, but not for those that a failed test holds. */
    close: () => within(CLOSE_MS, server.shutdown()).catch(() => {}),
  };
}
