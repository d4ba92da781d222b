/**
 * A process that shares a session with others. Arguments: store, location and URL
 * of the resource. For each line on the standard input it does what the line says,
 * and prints one line:
 *
 * - `call` requests the resource and prints the status.
 * - `hold` acquires the lock and keeps it.
 * - `suspend` lets the process suspend itself at its next save, right before the store
 *   changes.
 * - `ignore` lets it save whatever is stored, as a store that does not compare does.
 * - `count 50` adds 1 to the number in the session 50 times.
 */

import process from "node:process";
import { createInterface } from "node:readline";
import {
  createAuthorizedFetch,
  type SessionStore,
  type StoredSession,
} from "../../mod.ts";
import { openStore, type StoreName } from "./_stores.ts";

/** Longer than the system takes to suspend all threads of a process. */
const SUSPENDED_MS = 50;

const [name, location = "", resource = ""] = process.argv.slice(2);
let [willSuspend, isSaving, isIgnoring] = [false, false, false];

function beforeChange(): void {
  if (!isSaving || !willSuspend) return;
  willSuspend = false;
  process.kill(process.pid, "SIGSTOP");
  const memory = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(memory, 0, 0, SUSPENDED_MS);
}

const opened = await openStore(name as StoreName, location, beforeChange);
const store: SessionStore = {
  ...opened.store,
  async save(session, former) {
    isSaving = true;
    try {
      const compared = isIgnoring ? undefined : former;
      return await opened.store.save(session, compared);
    } finally {
      isSaving = false;
    }
  },
};
const api = createAuthorizedFetch(resource, {
  store,
  flow: () => Promise.reject(new Error("The user would have to sign in")),
});

async function call(): Promise<string> {
  try {
    const response = await api(resource);
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    return String(error);
  }
}

function hold(): Promise<string> {
  return new Promise((resolve) => {
    store.lock?.(() => {
      resolve("held");
      return new Promise(() => {});
    });
  });
}

function next(session: StoredSession): StoredSession {
  return { ...session, scopes: [String(Number(session.scopes[0]) + 1)] };
}

async function count(times: number): Promise<string> {
  for (let done = 0; done < times;) {
    const session = await store.load();
    if (!session) return "no session";
    if (await store.save(next(session), session) !== false) done++;
  }
  return "counted";
}

async function run(line: string): Promise<string> {
  const [command, times] = line.split(" ");
  if (command === "hold") return await hold();
  if (command === "count") return await count(Number(times));
  if (command === "call") return await call();
  willSuspend ||= command === "suspend";
  isIgnoring ||= command === "ignore";
  return "ok";
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  console.log(await run(line));
}
process.exit();
