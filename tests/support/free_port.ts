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
