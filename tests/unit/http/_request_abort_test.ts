import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { getEventListeners } from "node:events";
import { exchange, type IRequest } from "../../../lib/http/_request.ts";
import type { IFetchResponse, IRequestOptions } from "../../../mod.ts";
import {
  type Answer,
  deferred,
  failing,
  json,
  never,
  redirect,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";

const URL_1 = "https://api.example/1";
const URL_2 = "https://api.example/2";
const purpose = "token" as const;
const get = (url: string) => ({ url, purpose, headers: {} });
const post = { ...get(URL_1), body: "x" };
const REASONS = [new Error("Enough"), "enough", { why: "enough" }, 0];
const ask = (options: IRequestOptions, request: IRequest = get(URL_1)) =>
  exchange(request, options, (reply) => reply.text());

Deno.test("exchange() asks nothing once aborted, whatever the reason", async () => {
  for (const reason of REASONS) {
    using server = stubFetch({});
    const signal = AbortSignal.abort(reason);
    const options = { fetch: server.fetch, signal };
    assertStrictEquals(await assertRejects(() => ask(options)), reason);
    assertEquals(server.urls, []);
  }
});

Deno.test("exchange() ends with the reason though fetch ignores the signal", async () => {
  for (const reason of REASONS) {
    const controller = new AbortController();
    const fetch = () => {
      queueMicrotask(() => controller.abort(reason));
      return never<IFetchResponse>();
    };
    const options = { fetch, signal: controller.signal };
    assertStrictEquals(await assertRejects(() => ask(options)), reason);
  }
});

Deno.test("exchange() ends with the reason when fetch itself aborts", async () => {
  const minimal = {
    status: 200,
    statusText: "OK",
    json: () => Promise.resolve({}),
    text: () => Promise.resolve("Hello"),
  };
  const answers: Answer[] = [
    () => never(),
    text("Hello", 200),
    () => minimal,
    failing(new Error("Aborted")),
  ];
  for (const answer of answers) {
    for (const request of [get(URL_1), post]) {
      const controller = new AbortController();
      using server = stubFetch({
        [URL_1]: (made) => {
          controller.abort("enough");
          return answer(made);
        },
      });
      const options = { fetch: server.fetch, signal: controller.signal };
      const failure = await assertRejects(() => ask(options, request));
      assertEquals(failure, "enough");
    }
  }
});

Deno.test("exchange() ends with the reason when fetch fails for the abort", async () => {
  for (const request of [get(URL_1), post]) {
    const controller = new AbortController();
    const { signal } = controller;
    const fetch = () => {
      const { promise, reject } = deferred<IFetchResponse>();
      signal.addEventListener("abort", () => reject(new Error("Aborted")));
      queueMicrotask(() => controller.abort("enough"));
      return promise;
    };
    assertEquals(
      await assertRejects(() => ask({ fetch, signal }, request)),
      "enough",
    );
  }
});

Deno.test("exchange() closes a reply that comes after the abort", async () => {
  const controller = new AbortController();
  const cancelled = deferred<string>();
  const late = deferred<IFetchResponse>();
  const options = { fetch: () => late.promise, signal: controller.signal };
  const ended = assertRejects(() => ask(options));
  controller.abort("enough");
  assertEquals(await ended, "enough");
  const cancel = () => cancelled.resolve("cancelled");
  late.resolve(new Response(new ReadableStream({ cancel })));
  assertEquals(await cancelled.promise, "cancelled");
});

Deno.test("exchange() follows no redirect that comes after the abort", async () => {
  const controller = new AbortController();
  using server = stubFetch({
    [URL_1]: (request) => {
      queueMicrotask(() => controller.abort("enough"));
      return redirect("/2")(request);
    },
    [URL_2]: text("Hello", 200),
  });
  const options = { fetch: server.fetch, signal: controller.signal };
  assertEquals(await assertRejects(() => ask(options)), "enough");
  // Lets whatever the redirect may still set going happen.
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  assertEquals(server.urls, [URL_1]);
});

Deno.test("exchange() leaves no listener on the signal", async () => {
  const { signal } = new AbortController();
  using server = stubFetch({
    [URL_1]: json({}),
    [URL_2]: failing(new Error("Cable cut")),
  });
  const options = { fetch: server.fetch, signal };
  let during = 0;
  await exchange(get(URL_1), options, (reply) => {
    during = getEventListeners(signal, "abort").length;
    return reply.text();
  });
  assertEquals(during, 1);
  await assertRejects(() => ask(options, get(URL_2)));
  await assertRejects(() =>
    exchange(get(URL_1), options, () => Promise.reject(new Error("No")))
  );
  assertEquals(getEventListeners(signal, "abort").length, 0);
});
