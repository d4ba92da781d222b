/**
 * Returns a port of loopback on which nothing listens, for a program to be started. The
 * port is below those that a system chooses by itself, so that no listener or connection
 * of another test obtains it before the program listens.
 */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

/** How many ports are tried: another program may take one before the server listens. */
const ATTEMPTS = 5;

/** Starts a server on a free port, and on another while it prints that its port is in use. */
export async function onFreePort<T>(
  start: (port: number) => Promise<T>,
): Promise<T> {
  for (let made = 1;; made++) {
    try {
      return await start(freePort());
    } catch (error) {
      const isTaken = /address already in use/i.test(String(error));
      if (!isTaken || made === ATTEMPTS) throw error;
    }
  }
}

/** Ends a server that did not start, which may have ended by itself. */
export async function stop(server: Deno.ChildProcess): Promise<void> {
  try {
    server.kill("SIGKILL");
  } catch {
    // It has ended.
  }
  await server.status;
}
