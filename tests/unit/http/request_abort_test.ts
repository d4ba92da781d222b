/** An abort ends a request in each of its steps, and leaves no listener behind. */

import { assertEquals, assertRejects } from "@std/assert";
import type { FetchResponse, FetchTokenOptions } from "../../../mod.ts";
import { GET, POST, settle } from "../../support/exchange.ts";
import { API, PRM } from "../../support/fixtures.ts";
import {
  deferred,
  failing,
  minimal,
  never,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";

/** A caller's functions that record their calls; one aborts the signal. */
function callers(abortBy?: string, then?: () => Promise<never>) {
  const controller = new AbortController();
  const log: string[] = [];
  const step = (name: string, result: unknown) => () => {
    log.push(name);
    if (name !== abortBy) return untyped(Promise.resolve(result));
    if (then) queueMicrotask(() => controller.abort("enough"));
    else controller.abort("enough");
    return untyped(then ? then() : Promise.resolve(result));
  };
  const options: FetchTokenOptions = {
    client: {
      clientId: "c1",
      method: "none",
      authenticate: step("authenticate", undefined),
    },
    dpop: untyped({
      createProof: step("createProof", "proof"),
      noteResponse() {},
    }),
    allowUrl: step("allowUrl", true),
    fetch: step("fetch", minimal({ json: step("json", {}) })),
    signal: controller.signal,
  };
  return { options, log, controller };
}

const STEPS = ["authenticate", "createProof", "allowUrl", "fetch", "json"];

for (const [index, step] of STEPS.entries()) {
  Deno.test(`fetchToken() ends with the reason of an abort in ${step}`, async () => {
    const ends = [undefined, never, () => Promise.reject(new Error("Aborted"))];
    for (const end of ends) {
      const { options, log } = callers(step, end as typeof never);
      const error = await assertRejects(() => POST.send(options));
      assertEquals(error, "enough");
      await settle();
      // Nothing of the caller's is called after the abort.
      assertEquals(log, STEPS.slice(0, index + 1));
    }
  });
}

Deno.test("fetchToken() ends with an abort although a Request was made with the signal before", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  // Afterwards, `currentTarget` of the event is null in Node 20 to 24.
  new Request(API, { signal });
  const sent = POST.send({
    fetch: () => {
      queueMicrotask(() => controller.abort("enough"));
      return never();
    },
    signal,
    timeoutMs: 1_000,
  });
  assertEquals(await assertRejects(() => sent), "enough");
});

Deno.test("a response after an abort is closed, and its redirect not followed", async () => {
  const controller = new AbortController();
  const late = deferred<FetchResponse>();
  const cancelled = deferred<string>();
  using server = stubFetch({ [PRM]: () => late.promise });
  const { signal } = controller;
  const ended = assertRejects(() => GET.send({ fetch: server.fetch, signal }));
  await settle();
  assertEquals(server.urls, [PRM]);
  controller.abort("enough");
  assertEquals(await ended, "enough");
  const body = new ReadableStream({
    cancel: () => cancelled.resolve("cancelled"),
  });
  const headers = { Location: `${API}/next` };
  late.resolve(new Response(body, { status: 302, headers }));
  assertEquals(await cancelled.promise, "cancelled");
  await settle();
});

/** Counts the listeners of a signal: how many it has, and how many at most. */
function countListeners(signal: AbortSignal) {
  const count = { now: 0, most: 0 };
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  signal.addEventListener = (...args: unknown[]) => {
    count.most = Math.max(count.most, ++count.now);
    addEventListener.apply(signal, untyped(args));
  };
  signal.removeEventListener = (...args: unknown[]) => {
    count.now--;
    removeEventListener.apply(signal, untyped(args));
  };
  return count;
}

Deno.test("many operations at once share one listener of a signal, which the last one removes", async () => {
  const { signal } = new AbortController();
  const count = countListeners(signal);
  const waiting = deferred<void>();
  using server = stubFetch({
    [PRM]: async (request) => {
      await waiting.promise;
      return await GET.good(request);
    },
  });
  const operations = Array.from(
    { length: 20 },
    () => GET.send({ fetch: server.fetch, signal }),
  );
  await settle();
  assertEquals(server.urls.length, 20);
  waiting.resolve();
  await Promise.all(operations);
  // Node warns of a leak from the eleventh on.
  assertEquals(count, { now: 0, most: 1 });
});

Deno.test("an operation leaves no listener on a signal, also if it fails", async () => {
  for (const answer of [GET.good, failing(new Error("Cable cut"))]) {
    const { signal } = new AbortController();
    const count = countListeners(signal);
    using server = stubFetch({ [PRM]: answer });
    await GET.send({ fetch: server.fetch, signal }).catch(() => {});
    assertEquals(count, { now: 0, most: 1 });
  }
});
