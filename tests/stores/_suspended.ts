/**
 * Processes that are suspended in the moment before they save, for longer than their lock
 * lasts: by a laptop's lid, or a platform that pauses what has no request.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { codeFlow, createAuthorizedFetch } from "../../mod.ts";
import { startTestServers } from "../../lib/testing/mod.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import { type Place, startWorkers, type Worker } from "./_processes.ts";
import { openStore } from "./_stores.ts";

/** Whether a process can be suspended, and seen to be. */
export const canSuspend = Deno.build.os === "linux";

const COUNTERS = 4;
const TIMES = 50;

async function isSuspended({ pid }: Worker): Promise<boolean> {
  return (await Deno.readTextFile(`/proc/${pid}/stat`)).includes(") T ");
}

/** What another process does meanwhile. */
type Change = "signs in" | "signs out";

/**
 * A process has refreshed, and is suspended before it saves. Its lock is lost, and another
 * process signs in or out. Returns what the first one then prints, and whether the store
 * has what the other one has left.
 *
 * @param isIgnoring Whether the first one saves whatever is stored.
 */
async function suspend(
  place: Place,
  change: Change,
  { loseLock, isIgnoring }: {
    loseLock: () => Promise<unknown>;
    isIgnoring: boolean;
  },
): Promise<[printed: string, isLeft: boolean]> {
  await using stack = new AsyncDisposableStack();
  const servers = await startTestServers();
  stack.defer(servers.close);
  const { resource, receiver } = servers;
  const { store, close } = await openStore(place.name, place.location);
  stack.defer(async () => void await close());
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { store, flow: authorize });
  await api.signIn();
  servers.expireAccessTokens();
  const [worker] = await startWorkers(stack, place, resource, 1);
  assert(worker);
  if (isIgnoring) await worker.send("ignore");
  await worker.send("suspend");
  const called = worker.send("call");
  await until(LIMIT_MS, () => isSuspended(worker));
  assertEquals(servers.received("token", "refresh_token").length, 1);
  // As after a lease, for which this test does not wait.
  await loseLock();
  if (change === "signs in") await api.signIn({ fresh: true });
  else await api.revoke();
  const left = await store.load();
  Deno.kill(worker.pid, "SIGCONT");
  const printed = await within(LIMIT_MS, called);
  const isLeft = JSON.stringify(await store.load()) === JSON.stringify(left);
  return [printed, isLeft];
}

/**
 * Checks that a suspended process undoes neither a sign-in nor a sign-out of another one,
 * and that it would if its store did not compare.
 */
export async function keepChanges(
  place: Place,
  loseLock: () => Promise<unknown>,
): Promise<void> {
  const run = (change: Change, isIgnoring = false) =>
    suspend(place, change, { loseLock, isIgnoring });
  assertEquals(await run("signs in"), ["200", true]);
  const [printed, isLeft] = await run("signs out");
  assertMatch(printed, /The session was revoked/);
  assertEquals(isLeft, true);
  for (const change of ["signs in", "signs out"] as const) {
    const [, isLeft] = await run(change, true);
    assertEquals(isLeft, false, change);
  }
}

/** Suspends one process after the other for a moment, until a task has ended. */
async function disturb(
  workers: readonly Worker[],
  task: Promise<unknown>,
): Promise<void> {
  let hasEnded = false;
  const end = () => hasEnded = true;
  task.then(end, end);
  const pause = () =>
    new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  while (!hasEnded) {
    const { pid } = workers[Math.floor(Math.random() * workers.length)]!;
    Deno.kill(pid, "SIGSTOP");
    await pause();
    Deno.kill(pid, "SIGCONT");
    await pause();
  }
}

/** Checks that processes which add to a number without the lock lose no addition. */
export async function countAll(place: Place): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { store, close } = await openStore(place.name, place.location);
  stack.defer(async () => void await close());
  await store.save({ ...SESSION, scopes: ["0"] });
  const resource = "http://127.0.0.1/";
  const workers = await startWorkers(stack, place, resource, COUNTERS);
  const counted = Promise.all(workers.map((one) => one.send(`count ${TIMES}`)));
  await disturb(workers, counted);
  assertEquals(await counted, Array(COUNTERS).fill("counted"));
  assertEquals((await store.load())?.scopes, [String(COUNTERS * TIMES)]);
}
