/**
 * Returns a port of loopback on which nothing listens. It is below those that a system
 * chooses by itself, so that no listener or connection of another test obtains it.
 */
function freePort(): number {
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

/**
 * Starts a program that is given its port, or two, by its configuration; again, on others,
 * while the error contains that a port is in use. Servers of the tests themselves listen
 * on port 0, and return the port that they have.
 */
export async function onFreePort<T>(
  start: (port: number, second: number) => T | Promise<T>,
): Promise<T> {
  for (let made = 1;; made++) {
    try {
      return await start(freePort(), freePort());
    } catch (error) {
      const isTaken =
        /EADDRINUSE|(address|port) (is )?already in use|port \d+ .*in use/i
          .test(String(error));
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
