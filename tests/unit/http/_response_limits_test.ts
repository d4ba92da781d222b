import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import { exchange } from "../../../lib/http/_request.ts";
import { openReply } from "../../../lib/http/_response.ts";
import { type IFetchResponse, OAuthClientError } from "../../../mod.ts";
import { stubFetch, untyped } from "../../support/stub_fetch.ts";

const URL_1 = "https://api.example/1";
const { signal } = new AbortController();
const encode = (text: string) => new TextEncoder().encode(text);
const open = (response: IFetchResponse, maxBytes = 100) =>
  openReply(URL_1, response, { maxBytes, signal });

/** A response that gives these chunks one by one, and whether it was closed. */
function streamed(chunks: Iterable<unknown>, init?: ResponseInit) {
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
  return { response: new Response(body, init), state };
}

/** Fails unless reading ends with the failure of a body that is too large. */
async function assertTooLarge(reading: () => Promise<unknown>, maxBytes = 100) {
  const error = await assertRejects(reading, OAuthClientError);
  assertEquals(
    [error.code, error.url, error.status, error.message],
    [
      "response_too_large",
      URL_1,
      200,
      `The reply of ${URL_1} is larger than ${maxBytes} bytes`,
    ],
  );
}

Deno.test("openReply() reads no more of a stream than the limit, and closes it", async () => {
  function* endless() {
    for (;;) yield encode("x".repeat(40));
  }
  const { response, state } = streamed(endless());
  await assertTooLarge(() => open(response).json());
  assertEquals(state, { cancelled: true, pulled: 3 });

  const error = streamed(endless(), { status: 500, statusText: "Oh dear" });
  assertEquals(await open(error.response).text(), "Oh dear");
  assertEquals(error.state, { cancelled: true, pulled: 3 });
});

Deno.test("openReply() takes a body of exactly the limit, and none of one byte more", async () => {
  const most = JSON.stringify("x".repeat(98));
  const more = JSON.stringify("x".repeat(99));
  // A character counts as many bytes as it has.
  const wide = JSON.stringify("ü".repeat(49));
  for (const body of [most, wide]) {
    const bytes = encode(body);
    assertEquals(bytes.length, 100);
    const chunks = [bytes.slice(0, 60), bytes.slice(60)];
    assertEquals(await open(new Response(body)).json(), JSON.parse(body));
    const { response } = streamed(chunks);
    assertEquals(await open(response).text(), body);
    await assertTooLarge(() => open(new Response(body), 99).json(), 99);
  }
  await assertTooLarge(() => open(new Response(more)).json());
});

Deno.test("openReply() fails every time it is asked for a body that is too large", async () => {
  const reply = open(new Response("x".repeat(101), { statusText: "OK" }));
  await assertTooLarge(() => reply.json());
  await assertTooLarge(() => reply.json());
  assertEquals([await reply.text(), await reply.body()], ["OK", undefined]);
});

Deno.test("openReply() reads nothing of a body that says it is too large", async () => {
  const headers = { "Content-Length": "101" };
  const { response, state } = streamed([encode("{}")], { headers });
  await assertTooLarge(() => open(response).json());
  assertEquals(state, { cancelled: true, pulled: 0 });
});

Deno.test("openReply() reads a body of a length that is no more than the limit, or none", async () => {
  for (const length of ["100", "0", "", "many", "-1"]) {
    const headers = { "Content-Length": length };
    const { response } = streamed([encode('{"a":1}')], { headers });
    assertEquals(await open(response).json(), { a: 1 });
  }
});

Deno.test("openReply() counts the bytes of a body that belies its length", async () => {
  const headers = { "Content-Length": "7" };
  const { response } = streamed([encode("x".repeat(101))], { headers });
  await assertTooLarge(() => open(response).json());
});

Deno.test("exchange() reads 1 MiB without the option, and not a byte more", async () => {
  const request = { url: URL_1, purpose: "token" as const, headers: {} };
  const ask = (length: number, maxBytes?: number) => {
    const bytes = new Uint8Array(length).fill(0x20);
    bytes[0] = 0x37;
    const server = stubFetch({ [URL_1]: () => new Response(bytes) });
    const options = { fetch: server.fetch, maxBytes };
    return exchange(request, options, (reply) => reply.json());
  };
  assertEquals(await ask(1_048_576), 7);
  await assertTooLarge(() => ask(1_048_577), 1_048_576);
  assertEquals(await ask(1_048_577, Infinity), 7);
  assertEquals(await ask(9, 9), 7);
  await assertTooLarge(() => ask(10, 9), 9);
});

Deno.test("openReply() keeps every byte of a long body in its place", async () => {
  const text = Array.from({ length: 20_000 }, (_, n) => `${n},`).join("");
  const bytes = encode(text);
  for (const size of [1, 999, 16_384, 50_000, bytes.length]) {
    const count = Math.ceil(bytes.length / size);
    const chunks = Array.from(
      { length: count },
      (_, n) => bytes.slice(n * size, (n + 1) * size),
    );
    const { response } = streamed(chunks);
    assert(await open(response, 1_000_000).text() === text, `${size}`);
  }
  assert(await open(new Response(bytes), 1_000_000).text() === text);
});

Deno.test("openReply() puts characters together that chunks cut", async () => {
  const value = { text: "Grüße, 世界 🌍" };
  const bytes = encode(JSON.stringify(value));
  for (let at = 0; at <= bytes.length; at++) {
    const chunks = [bytes.slice(0, at), bytes.slice(at)];
    assertEquals(await open(streamed(chunks).response).json(), value);
    const { response } = streamed(chunks);
    assertEquals(await open(response).text(), JSON.stringify(value));
  }
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
  assertEquals(await open(streamed(single).response).json(), value);
});

Deno.test("openReply() passes over a byte order mark, and over one only", async () => {
  const mark = [0xef, 0xbb, 0xbf];
  const json = [...encode('{"a":1}')];
  const rows: [bytes: number[], value: unknown, text: string][] = [
    [[...mark, ...json], { a: 1 }, '{"a":1}'],
    [[...mark, ...mark, ...json], undefined, '\ufeff{"a":1}'],
    [[...json, ...mark], undefined, '{"a":1}\ufeff'],
    [mark, undefined, ""],
  ];
  for (const [bytes, value, text] of rows) {
    const reply = open(new Response(Uint8Array.from(bytes)));
    assertEquals([await reply.json(), await reply.text()], [value, text]);
  }
});

Deno.test("openReply() takes no JSON that is not UTF-8, and shows it as text", async () => {
  const rows: [bytes: number[], shown: string][] = [
    [[0x22, 0xff, 0x22], '"\ufffd"'],
    [[0x22, 0xe4, 0x22], '"\ufffd"'],
    [[0x22, 0xc3], '"\ufffd'],
    // Written longer than it need be.
    [[0x22, 0xc0, 0xaf, 0x22], '"\ufffd\ufffd"'],
    // Half of a pair.
    [[0x22, 0xed, 0xa0, 0x80, 0x22], '"\ufffd\ufffd\ufffd"'],
    // UTF-16.
    [[0xff, 0xfe, 0x37, 0x00], "\ufffd\ufffd7\u0000"],
  ];
  for (const [bytes, shown] of rows) {
    const reply = open(new Response(Uint8Array.from(bytes)));
    assertEquals([await reply.json(), await reply.text()], [undefined, shown]);
  }
});

Deno.test("openReply() reads no body that somebody else has read or reads", async () => {
  const used = new Response('{"a":1}', { statusText: "OK" });
  await used.text();
  const locked = new Response('{"a":1}', { statusText: "OK" });
  const reader = locked.body?.getReader();
  for (const response of [used, locked]) {
    const reply = open(response);
    assertEquals([await reply.json(), await reply.text()], [undefined, "OK"]);
  }
  assertInstanceOf((await reader?.read())?.value, Uint8Array);
});

Deno.test("openReply() takes the text of a reply whose stream was read", async () => {
  const body = new ReadableStream();
  const rest = { status: 200, statusText: "OK", json: () => Promise.reject() };
  const text = () => Promise.resolve('{"a":1}');
  const rows: Partial<IFetchResponse>[] = [
    { body, bodyUsed: true },
    { body: null },
    { body: "text" },
    { body: {} },
  ];
  for (const members of rows) {
    const reply = open({ ...rest, text, ...members });
    assertEquals(await reply.json(), { a: 1 });
  }
  assert(!body.locked);
});

Deno.test("openReply() takes a stream of anything but bytes for one that broke off", async () => {
  for (const chunk of ["text", 7, {}, [1], new ArrayBuffer(2)]) {
    const { response: { body }, state } = streamed([encode("7"), chunk, "end"]);
    const fail = () => Promise.reject(new Error("Read twice"));
    const response = { status: 200, statusText: "OK", json: fail, text: fail };
    const error = await assertRejects(
      () => open({ ...response, body }).json(),
      OAuthClientError,
      `The reply of ${URL_1} broke off`,
    );
    assertEquals([error.code, error.status], ["network_error", 200]);
    assertInstanceOf(error.cause, Error);
    assertEquals(state, { cancelled: true, pulled: 2 });
  }
});

Deno.test("openReply() tells of a body that breaks off after a while, with the cause", async () => {
  const cause = new Error("Cable cut");
  let isFirst = true;
  const body = new ReadableStream({
    pull(stream) {
      if (isFirst) stream.enqueue(encode('{"a":1}'));
      else stream.error(cause);
      isFirst = false;
    },
  });
  const headers = { "Retry-After": "7" };
  const response = new Response(body, { status: 503, headers });
  const error = await assertRejects(
    () => open(response).json(),
    OAuthClientError,
  );
  assertEquals(
    { ...error, message: error.message as string },
    {
      name: "OAuthClientError",
      code: "network_error",
      url: URL_1,
      status: 503,
      retryAfter: 7,
      message: `The reply of ${URL_1} broke off`,
    },
  );
  assertStrictEquals(error.cause, cause);
});

Deno.test("openReply() tells in its errors when a retry is welcome", () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 600);
  using _clock = stub(Date, "now", () => now);
  const rows: [header: string | undefined, seconds: number | undefined][] = [
    ["0", 0],
    ["120", 120],
    ["007", 7],
    // Rounded up: a retry before the end is not welcome.
    ["Fri, 02 Jan 2026 03:04:06 GMT", 1],
    ["Fri, 02 Jan 2026 03:05:05 GMT", 60],
    ["Friday, 02-Jan-26 03:05:05 GMT", 60],
    ["Fri, 02 Jan 2026 03:04:05 GMT", 0],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["999999999", 999_999_999],
    ["9".repeat(10), undefined],
    ["9".repeat(400), undefined],
    ["soon", undefined],
    // The parser of dates would make something of these.
    ["1.5", undefined],
    ["-1", undefined],
    ["+7", undefined],
    ["7 seconds", undefined],
    ["120, 60", undefined],
    ["2026-01-02", undefined],
    ["Fri, 99 Jan 2026 99:99:99 GMT", undefined],
    ["", undefined],
    [undefined, undefined],
  ];
  for (const [header, retryAfter] of rows) {
    const headers = new Headers();
    if (header !== undefined) headers.set("Retry-After", header);
    const reply = open(new Response("", { status: 503, headers }));
    const error = reply.error("unexpected_status", "No");
    assertEquals([header, error.retryAfter], [header, retryAfter]);
    assertEquals("retryAfter" in error, retryAfter !== undefined);
  }
  const bare = untyped({ status: 503, statusText: "" });
  const error = open(bare).error("unexpected_status", "No");
  assertEquals("retryAfter" in error, false);
});
