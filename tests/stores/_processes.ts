/** Processes that share a store, and the tests that every store must pass. */

import { assert, assertEquals } from "@std/assert";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { SessionStore } from "../../mod.ts";
import { bundle } from "../support/bundle.ts";
import { startRotatingServer } from "../servers/rotating_server.ts";
import { importMapArgs } from "../../scripts/support/deno.ts";
import { type OpenStore, openStore, type StoreName } from "./_stores.ts";

const PROCESSES = 8;
const ROUNDS = 10;

/** The documented time after which a lock expires, and until others look again. */
const LEASE_MS = 10_250;
/** Less than a lease, and more than anything else takes on a busy machine. */
const SOON_MS = 5_000;

const worker = new URL("_worker.ts", import.meta.url).pathname;

export class Worker implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string, args: string[]) {
    const stdio = ["pipe", "pipe", "inherit"] as const;
    this.#child = spawn(program, args, { stdio: [...stdio] });
    const lines = createInterface({ input: this.#child.stdout });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async readLine(): Promise<string> {
    const { value } = await this.#lines.next();
    return value ?? "ended";
  }

  async send(line: string): Promise<string> {
    this.#child.stdin.write(`${line}\n`);
    return await this.readLine();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode) return;
    const ended = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

export interface Place {
  readonly name: StoreName;
  readonly location: string;
  /** Runs every second process in Node. */
  readonly inNode?: boolean;
}

/** Starts processes, and waits until they are ready. */
export async function startWorkers(
  stack: AsyncDisposableStack,
  { name, location, inNode = false }: Place,
  resource: string,
  count: number,
): Promise<Worker[]> {
  const map = await importMapArgs();
  const deno = ["run", "-A", "--unstable-kv", "--quiet", ...map, worker];
  let bundled = "";
  if (inNode) {
    bundled = await Deno.makeTempFile({ suffix: ".mjs" });
    stack.defer(() => Deno.remove(bundled));
    await bundle(worker, bundled);
  }
  const args = [name, location, resource];
  const workers = Array.from({ length: count }, (_, index) =>
    stack.use(
      inNode && index % 2 === 1
        ? new Worker("node", [bundled, ...args])
        : new Worker(Deno.execPath(), [...deno, ...args]),
    ));
  for (const one of workers) assertEquals(await one.readLine(), "ready");
  return workers;
}

async function open(
  stack: AsyncDisposableStack,
  place: Place,
): Promise<Required<OpenStore["store"]>> {
  const { store, close } = await openStore(place.name, place.location);
  stack.defer(async () => void await close());
  assert(store.lock);
  return store as Required<typeof store>;
}

/** Eight processes find the token expired at once, ten times. */
export async function refreshOnce(place: Place): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startRotatingServer());
  const store = await open(stack, place);
  await store.save(server.session);
  const workers = await startWorkers(stack, place, server.resource, PROCESSES);
  for (let round = 1; round <= ROUNDS; round++) {
    const statuses = await Promise.all(workers.map((one) => one.send("call")));
    assertEquals(statuses, Array(PROCESSES).fill("200"));
    assertEquals([server.refreshes, server.isRevoked], [round, false]);
    server.expire();
  }
}

/** Opens a store whose lock another process holds, until that is disposed of. */
export async function startHolder(
  stack: AsyncDisposableStack,
  place: Place,
): Promise<{ store: Required<SessionStore>; holder: AsyncDisposable }> {
  const store = await open(stack, place);
  const [holder] = await startWorkers(stack, place, "http://127.0.0.1/", 1);
  assertEquals(await holder?.send("hold"), "held");
  return { store, holder: holder! };
}

/** A process is killed with the lock held, which expires, or is broken at once. */
export async function surviveCrash(
  place: Place,
  isBroken = false,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { store, holder } = await startHolder(stack, place);
  await holder[Symbol.asyncDispose]();
  const start = performance.now();
  await store.lock(() => Promise.resolve());
  const waited = performance.now() - start;
  assert(isBroken || waited > SOON_MS, `${waited} ms: the lock was not held`);
  assert(waited < (isBroken ? 0 : LEASE_MS) + SOON_MS, `${waited} ms`);
}

/** A lock is held for longer than a lease, and another process waits. */
export async function holdLong(place: Place): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const store = await open(stack, place);
  const other = await open(stack, place);
  const events: string[] = [];
  const held = Promise.withResolvers<void>();
  const first = store.lock(async () => {
    held.resolve();
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS + 2_000));
    events.push("first");
  });
  await held.promise;
  const start = performance.now();
  await other.lock(() => Promise.resolve(events.push("second")));
  await first;
  assertEquals(events, ["first", "second"]);
  assert(performance.now() - start < LEASE_MS + 2_000 + SOON_MS);
}
