/** A request ends after its time and after its size, whatever the server does. */

import { assertEquals, assertStrictEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { FetchTokenOptions } from "../../../mod.ts";
import { errorOf, GET, POST, settle } from "../../support/exchange.ts";
import { API, PRM } from "../../support/fixtures.ts";
import {
  deferred,
  minimal,
  never,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const NEXT = `${API}/next`;
const encode = (body: string) => new TextEncoder().encode(body);

function assertTimeout(error: unknown, url: string): void {
  const { stack: _, ...members } = pinMessage(untyped(error));
  assertEquals(members, { name: "OAuthClientError", code: "timeout", url });
}

/** Everything of a caller's that a request waits for. */
const STALLING: [name: string, options: FetchTokenOptions][] = [
  ["fetch", { fetch: never }],
  ["allowUrl", { allowUrl: never }],
  ["authenticate", {
    client: { clientId: "c1", method: "none", authenticate: never },
  }],
  ["createProof", { dpop: untyped({ createProof: never }) }],
  ["json()", { fetch: () => Promise.resolve(minimal({ json: never })) }],
  ["text()", {
    fetch: () => Promise.resolve(minimal({ status: 400, text: never })),
  }],
];

for (const [name, options] of STALLING) {
  Deno.test(`fetchToken() ends after timeoutMs if ${name} never settles`, async () => {
    const fetch = () => Promise.reject(new Error("Not to be called"));
    const given = { fetch, ...options, timeoutMs: 5 };
    assertTimeout(await errorOf(POST.send(given)), POST.url);
  });
}

Deno.test("a timeout aborts the signal of fetch, with the same error", async () => {
  for (const { url, send } of [GET, POST]) {
    using server = stubFetch({ [url]: never });
    const error = await errorOf(send({ fetch: server.fetch, timeoutMs: 5 }));
    assertTimeout(error, url);
    assertStrictEquals(server.requests[0]?.init.signal?.reason, error);
  }
});

Deno.test("a timeout closes a body that stalls", async () => {
  const cancelled = deferred<string>();
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(encode('{"a":')),
    cancel: () => cancelled.resolve("cancelled"),
  });
  using server = stubFetch({ [PRM]: () => new Response(body) });
  assertTimeout(
    await errorOf(GET.send({ fetch: server.fetch, timeoutMs: 5 })),
    PRM,
  );
  assertEquals(await cancelled.promise, "cancelled");
});

Deno.test("nothing is requested that allowUrl allows after the timeout", async () => {
  const allowed = deferred<boolean>();
  using server = stubFetch({});
  const allowUrl = () => allowed.promise;
  const options = { fetch: server.fetch, timeoutMs: 5, allowUrl };
  assertTimeout(await errorOf(GET.send(options)), PRM);
  allowed.resolve(true);
  await settle();
});

Deno.test("timeoutMs is for one request with its redirects, 10 s by default", async () => {
  const rows: [timeoutMs: number | undefined, set: number[]][] = [
    [undefined, [10_000]],
    [0.5, [0.5]],
    [2 ** 31 - 1, [2 ** 31 - 1]],
    // A timer would end these at once.
    [2 ** 31, []],
    [Infinity, []],
  ];
  const { setTimeout, clearTimeout } = globalThis;
  await eachRowInTurn(rows, async ([timeoutMs, set]) => {
    using server = stubFetch({ [PRM]: redirect("/next"), [NEXT]: GET.good });
    const times: number[] = [];
    const running = new Set<unknown>();
    const start = (task: () => void, milliseconds: number) => {
      const id = setTimeout(task, milliseconds);
      times.push(milliseconds);
      running.add(id);
      return id;
    };
    const end = (id: number | undefined) => {
      running.delete(id);
      clearTimeout(id);
    };
    using _setting = stub(globalThis, "setTimeout", untyped(start));
    using _clearing = stub(globalThis, "clearTimeout", untyped(end));
    await GET.send({ fetch: server.fetch, timeoutMs });
    assertEquals([times, running.size], [set, 0]);
  });
});

function streamed(chunks: Iterable<unknown>) {
  const iterator = chunks[Symbol.iterator]();
  const state = { cancelled: false, pulled: 0 };
  const body = new ReadableStream({
    pull(stream) {
      const { done, value } = iterator.next();
      if (done) return stream.close();
      state.pulled++;
      stream.enqueue(value);
    },
    cancel() {
      state.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { body, state };
}

function* endless() {
  for (;;) yield encode(" ".repeat(40));
}

Deno.test("maxBytes ends the reading of a body and closes it", async () => {
  const rows: [chunks: Iterable<unknown>, headers: HeadersInit, n: number][] = [
    [endless(), {}, 3],
    [[encode("x".repeat(101)), encode("x")], { "Content-Length": "7" }, 1],
    [[encode("{}"), encode("x")], { "Content-Length": "101" }, 0],
  ];
  await eachRowInTurn(rows, async ([chunks, headers, pulled]) => {
    const { body, state } = streamed(chunks);
    using server = stubFetch({
      [POST.url]: () => new Response(body, { headers }),
    });
    const error = await errorOf(
      POST.send({ fetch: server.fetch, maxBytes: 100 }),
    );
    assertEquals(
      [pinMessage(error).code, error.url, error.status],
      ["response_too_large", POST.url, 200],
    );
    assertEquals(state, { cancelled: true, pulled });
  });
});

Deno.test("maxBytes counts bytes, is 1 MiB by default and may be Infinity", async () => {
  const rows: [letters: string, bytes: number, maxBytes?: number][] = [
    ["x", 200, 200],
    ["\u00fc".repeat(70), 200, 200],
    ["x", 1_048_576],
  ];
  await eachRowInTurn(rows, async ([letters, bytes, maxBytes]) => {
    const document = JSON.stringify({ resource: API, letters });
    const padding = " ".repeat(bytes - encode(document).length);
    using server = stubFetch({ [PRM]: text(document + padding, 200) });
    await GET.send({ fetch: server.fetch, maxBytes });
    using more = stubFetch({ [PRM]: text(`${document}${padding} `, 200) });
    const error = await errorOf(GET.send({ fetch: more.fetch, maxBytes }));
    assertEquals(error.code, "response_too_large");
    await GET.send({ fetch: more.fetch, maxBytes: Infinity });
  });
});

Deno.test("maxBytes applies to a minimal response's declared length and text", async () => {
  const responses = [
    minimal({ headers: new Headers({ "Content-Length": "11" }) }),
    minimal({ status: 400, text: () => Promise.resolve("x".repeat(11)) }),
  ];
  for (const response of responses) {
    const fetch = () => Promise.resolve(response);
    const error = await errorOf(POST.send({ fetch, maxBytes: 10 }));
    assertEquals(error.code, "response_too_large");
  }
});

/** A response as `fetch` itself makes one, whose header fields may be false. */
function fetched(body: BodyInit, headers: HeadersInit, type: string) {
  let reads = 0;
  const response = new Response(body, { headers });
  const read = response.arrayBuffer.bind(response);
  Object.defineProperties(response, {
    type: { value: type },
    arrayBuffer: { value: () => (reads++, read()) },
  });
  return { response, reads: () => reads };
}

const LENGTH = { "Content-Length": "7" };

Deno.test("a body of known length is read at once, and is no longer than maxBytes", async () => {
  for (const length of [100, 101]) {
    const body = "{}".padEnd(length);
    const { response, reads } = fetched(body, LENGTH, "basic");
    const fetch = () => Promise.resolve(response);
    const error = await errorOf(POST.send({ fetch, maxBytes: 100 }));
    const code = length > 100 ? "response_too_large" : "invalid_response";
    assertEquals([error.code, reads()], [code, 1]);
  }
});

Deno.test("a body whose length the runtime does not know is read up to maxBytes", async () => {
  const rows: [headers: HeadersInit, type: string][] = [
    [{}, "basic"],
    [{ "Content-Length": "" }, "basic"],
    [{ "Content-Length": "7, 7" }, "basic"],
    [{ ...LENGTH, "Content-Encoding": "gzip" }, "basic"],
    [{ ...LENGTH, "Transfer-Encoding": "chunked" }, "basic"],
    // A browser hides the encoding of a response of another origin.
    [LENGTH, "cors"],
    // Not of `fetch` itself.
    [LENGTH, "default"],
  ];
  await eachRowInTurn(rows, async ([headers, type]) => {
    const { body, state } = streamed(endless());
    const { response, reads } = fetched(body, headers, type);
    const fetch = () => Promise.resolve(response);
    const error = await errorOf(POST.send({ fetch, maxBytes: 100 }));
    assertEquals([error.code, reads()], ["response_too_large", 0]);
    assertEquals(state, { cancelled: true, pulled: 3 });
  });
});
