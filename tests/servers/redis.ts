/** A Redis server of a test. */

import { onFreePort, stop } from "../support/free_port.ts";
import { printed } from "../support/printed.ts";

/** Starts a server that keeps nothing. */
export function startRedis() {
  return onFreePort(startOn);
}

async function startOn(port: number) {
  const settings = { port, bind: "127.0.0.1", save: "", appendonly: "no" };
  const args = Object.entries(settings).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ]);
  const server = new Deno.Command("redis-server", { args, stdout: "piped" })
    .spawn();
  const { ended } = await printed(
    server.stdout,
    /ready to accept connections/i,
  ).catch(async (error) => {
    await stop(server);
    throw error;
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.kill("SIGKILL");
      await Promise.all([server.status, ended]);
    },
  };
}

export async function withRedis(
  task: (url: string) => Promise<void>,
): Promise<void> {
  await using server = await startRedis();
  await task(server.url);
}
