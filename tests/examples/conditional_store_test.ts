/** The example of a store in a database without locks, with a stand-in. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { createAuthorizedFetch } from "../../mod.ts";
import { startRotatingServer } from "../servers/rotating_server.ts";
import {
  assertCompares,
  assertOneReplaces,
} from "../support/comparing_store.ts";
import { SESSION } from "../support/resource.ts";
import { skipWaits } from "../support/timers.ts";
import { LIMIT_MS, turn, within } from "../support/within.ts";
import { conditionalStore, type Table } from "./conditional_store.ts";

/** A table where others write between a read and a write, so that conditions fail. */
function createTable(): Table & { readonly failures: number } {
  const rows = new Map<string, { value: string; version: string }>();
  let [version, failures] = [0, 0];
  return {
    get failures() {
      return failures;
    },
    async get(key) {
      await turn();
      return rows.get(key);
    },
    async put(key, value, former) {
      await turn();
      const isFormer = rows.get(key)?.version === former;
      if (isFormer) rows.set(key, { value, version: `${++version}` });
      else failures++;
      return isFormer;
    },
  };
}

Deno.test("conditional_store.ts saves only if it has what was loaded", async () => {
  const table = createTable();
  await assertCompares(conditionalStore(table, "one"));
  await assertOneReplaces(() => conditionalStore(table, "one"));
  assertEquals(table.failures, 7);
});

Deno.test("conditional_store.ts saves whatever is stored, although others write at once", async () => {
  const table = createTable();
  const saves = Array.from(
    { length: 8 },
    () => conditionalStore(table, "one").save(SESSION),
  );
  assertEquals(await Promise.all(saves), Array(8).fill(true));
  assert(table.failures > 0);
});

Deno.test("conditional_store.ts makes one refresh in eight store objects", async () => {
  await using server = await startRotatingServer();
  const table = createTable();
  await conditionalStore(table, "one").save(server.session);
  const calls = Array.from({ length: 8 }, async () => {
    const store = conditionalStore(table, "one");
    const api = createAuthorizedFetch(server.resource, { store });
    const response = await api(server.resource);
    await response.body?.cancel();
    return response.status;
  });
  assertEquals(await Promise.all(calls), Array(8).fill(200));
  assertEquals([server.refreshes, server.isRevoked], [1, false]);
});

Deno.test("conditional_store.ts runs one task at a time, breaks the lock of a crashed process, and ends the wait by a signal", async () => {
  const table = createTable();
  const lock = <T>(task: () => Promise<T>, signal?: AbortSignal) =>
    conditionalStore(table, "one").lock!(task, signal);
  let running = 0;
  await Promise.all([1, 2, 3].map(() =>
    lock(async () => {
      assertEquals(++running, 1);
      await turn();
      running--;
    })
  ));
  // A crashed process neither extends the lock nor releases it.
  await table.put(
    "lock:one",
    "crashed",
    (await table.get("lock:one"))?.version,
  );
  const reason = new Error("The caller has left");
  const controller = new AbortController();
  const left = lock(() => Promise.resolve(), controller.signal);
  controller.abort(reason);
  assertEquals(await assertRejects(() => left), reason);
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  try {
    using _ = skipWaits((ms) => {
      time += ms < 100 ? ms : 0;
      return ms < 100;
    });
    const next = lock(() => Promise.resolve("next"));
    assertEquals(await within(LIMIT_MS, next), "next");
    assert(time >= 10_000, `${time} ms`);
  } finally {
    performance.now = now;
  }
});
