/** A Redis server of a test. */

import { freePort } from "../support/free_port.ts";

/** A running server. */
export interface IRedisServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server that keeps nothing. */
export async function startRedis(): Promise<IRedisServer> {
  const port = freePort();
  const settings = { port, bind: "127.0.0.1", save: "", appendonly: "no" };
  const args = Object.entries(settings).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ]);
  const server = new Deno.Command("redis-server", { args, stdout: "piped" })
    .spawn();
  const started = Promise.withResolvers<void>();
  const output = (async () => {
    let text = "";
    const chunks = server.stdout.pipeThrough(new TextDecoderStream());
    for await (const chunk of chunks) {
      text += chunk;
      if (/ready to accept connections/i.test(text)) started.resolve();
    }
    started.reject(new Error(text));
  })();
  await started.promise;
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.kill("SIGKILL");
      await Promise.all([server.status, output]);
    },
  };
}

/** Runs a task with a server. */
export async function withRedis(
  task: (url: string) => Promise<void>,
): Promise<void> {
  await using server = await startRedis();
  await task(server.url);
}
