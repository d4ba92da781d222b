/** The examples for web servers, as processes with the databases that they use. */

import { createClient } from "redis";
import type { Session } from "@oauth-helper/client";
import { type FlowServers, startFlowServers } from "../servers/_flow.ts";
import { startRedis } from "../servers/redis.ts";
import { bundle } from "../support/bundle.ts";
import { onFreePort, stop } from "../support/free_port.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { createDesk, mapArgs, path } from "./_programs.ts";
import { type Site, testInChromium, testSite } from "./_sites.ts";

interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  /** How many processes run behind the address. */
  readonly processes: number;
  /** Replaces each session in the database. */
  change(update: (session: Session) => void): Promise<void>;
}

/** Registers a client, as the operator of the site does once. */
async function register(
  { protectedResource: { resource } }: FlowServers,
  origin: string,
): Promise<string> {
  await using desk = await createDesk();
  const args = [resource, `${origin}/callback`];
  return (await desk.start("register_client.ts", ...args).output()).trim();
}

class SiteProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #port: number;
  log = "";

  constructor({ command, args, env }: ServerProgram, port: number) {
    this.#port = port;
    this.#child = new Deno.Command(command, {
      args: [...args],
      env: {
        ...env,
        PORT: `${port}`,
        DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
      },
      stdout: "null",
      stderr: "piped",
    }).spawn();
  }

  static start(program: ServerProgram): Promise<SiteProcess> {
    return onFreePort(async (port) => {
      const started = new SiteProcess(program, port);
      try {
        await started.#listening();
        return started;
      } catch (error) {
        await stop(started.#child);
        throw error;
      }
    });
  }

  /** Waits until it listens; rejects with what it has printed if it ends before. */
  async #listening(): Promise<void> {
    const printed = this.#read();
    let hasEnded = false;
    this.#child.status.then(() => hasEnded = true);
    await until(LIMIT_MS, async () => {
      if (hasEnded) {
        await printed;
        throw new Error(this.log);
      }
      try {
        (await Deno.connect({ hostname: "127.0.0.1", port: this.#port }))
          .close();
        return true;
      } catch {
        return false;
      }
    });
  }

  async #read(): Promise<void> {
    const lines = this.#child.stderr.pipeThrough(new TextDecoderStream());
    for await (const text of lines) this.log += text;
  }

  send({ pathname, search }: URL, init: RequestInit): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#port}${pathname}${search}`, init);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
  }
}

/** Starts a site whose requests go to its processes in turn. */
async function startSite(
  origin: string,
  open: (
    stack: AsyncDisposableStack,
    directory: string,
  ) => Promise<ServerProgram>,
): Promise<Site> {
  await using started = new AsyncDisposableStack();
  const servers = started.use(await startFlowServers());
  const directory = await Deno.makeTempDir();
  started.defer(() => Deno.remove(directory, { recursive: true }));
  const program = await open(started, directory);
  const key = crypto.getRandomValues(new Uint8Array(32));
  const env = {
    ...program.env,
    ORIGIN: origin,
    RESOURCE: servers.protectedResource.resource,
    CLIENT: await register(servers, origin),
    COOKIE_KEY: btoa(String.fromCharCode(...key)),
  };
  let processes: SiteProcess[] = [];
  const start = async () => {
    processes = await Promise.all(Array.from(
      { length: program.processes },
      () => SiteProcess.start({ ...program, env }),
    ));
  };
  const end = async () => {
    for (const one of processes.splice(0)) await one[Symbol.asyncDispose]();
  };
  started.defer(end);
  await start();
  const running = started.move();
  let requests = 0;
  return {
    origin,
    servers,
    get log() {
      return processes.map(({ log }) => log).join("");
    },
    send: (url, init) =>
      processes[requests++ % processes.length]!.send(url, init),
    expire: () =>
      program.change(({ token }) => {
        token.expires_at = 1;
      }),
    async restart() {
      await end();
      await start();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Two processes of Node with Express, and Redis. */
const startExpress = (name: string, origin: string) =>
  startSite(origin, async (stack, directory) => {
    const { url } = stack.use(await startRedis());
    const program = `${directory}/express.mjs`;
    await bundle(path(name), program, []);
    return {
      command: "node",
      args: [program],
      env: { REDIS: url },
      processes: 2,
      async change(update) {
        const client = await createClient({ url }).connect();
        for (const key of await client.keys("user:*")) {
          const session = JSON.parse(await client.get(key) ?? "");
          update(session);
          await client.set(key, JSON.stringify(session), {
            expiration: "KEEPTTL",
          });
        }
        await client.close();
      },
    };
  });

const startDeno = (name: string, origin: string) =>
  startSite(origin, async (_, directory) => {
    const database = `${directory}/kv.sqlite3`;
    return {
      command: Deno.execPath(),
      args: [
        ...["run", "--quiet", "--no-prompt", "--unstable-kv"],
        ...await mapArgs(),
        ...["--allow-net=127.0.0.1", "--allow-env"],
        ...[`--allow-read=${directory}`, `--allow-write=${directory}`],
        path(name),
      ],
      env: { KV_PATH: database },
      processes: 1,
      async change(update) {
        const kv = await Deno.openKv(database);
        for await (const entry of kv.list<Session>({ prefix: ["sessions"] })) {
          update(entry.value);
          await kv.set(entry.key, entry.value);
        }
        kv.close();
      },
    };
  });

testSite("express.ts", startExpress);
testInChromium("express.ts", startExpress);
testSite("deno_serve.ts", startDeno);
testSite("hono.ts", startDeno);
