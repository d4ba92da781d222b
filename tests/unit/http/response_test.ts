/** A response is read once, and shown as it came. */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import { fetchResourceMetadata, type FetchResponse } from "../../../mod.ts";
import { errorOf, POST } from "../../support/exchange.ts";
import { API, PRM } from "../../support/fixtures.ts";
import { tokenErrorOf } from "../../support/request_token.ts";
import { FORM, minimal, stubFetch, untyped } from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

// The table of faults plays JSON, encodings and statuses of every kind to every
// function over sockets. Here are the rest of the promises.

const encode = (body: string) => new TextEncoder().encode(body);
const FAILED = `Failed to fetch resource metadata from ${PRM}:`;

/** Requests the metadata with this response; returns it or the error. */
async function getWith(response: FetchResponse) {
  using server = stubFetch({ [PRM]: () => response });
  return await fetchResourceMetadata(API, undefined, server)
    .then(({ metadata }) => ({ metadata, message: "", code: "" }))
    .catch((error) => error);
}

Deno.test("a body that is not UTF-8 is not JSON, and is shown with U+FFFD", async () => {
  const document = encode(JSON.stringify({ resource: API, x: "?" }));
  const bytes = document.map((byte) => byte === 0x3f ? 0xff : byte);
  const { code, message } = await getWith(new Response(bytes));
  assertEquals([code, message.slice(-11)], ["invalid_metadata", "got no JSON"]);
  const shown = JSON.stringify({ resource: API, x: "\ufffd" });
  const { message: unexpected } = await getWith(
    new Response(bytes, { status: 500 }),
  );
  assertEquals(unexpected, `${FAILED} 500 ${shown}`);
});

Deno.test("a body that another reader has is replaced by the status text", async () => {
  const init = { status: 404, statusText: "Status text" };
  const used = new Response("No", init);
  await used.text();
  const locked = new Response("No", init);
  const reader = locked.body?.getReader();
  for (const response of [used, locked]) {
    const { message } = await getWith(response);
    assertEquals(message, `${FAILED} 404 Status text`);
  }
  assertInstanceOf((await reader?.read())?.value, Uint8Array);
});

Deno.test("a body that breaks off is a network_error with its cause", async () => {
  const cause = new Error("Cable cut");
  const rows: [chunk: unknown, cause?: Error][] = [
    [encode('{"a":1}'), cause],
    ["not bytes"],
    [[1]],
    [new Uint16Array(2)],
    [undefined],
  ];
  await eachRowInTurn(rows, async ([chunk, cause]) => {
    let pulls = 0;
    let isCancelled = false;
    const body = new ReadableStream({
      pull(stream) {
        if (cause && pulls++ > 0) stream.error(cause);
        else stream.enqueue(chunk);
      },
      cancel() {
        isCancelled = true;
      },
    });
    const headers = new Headers({ "Retry-After": "7" });
    using server = stubFetch({
      [POST.url]: () => minimal({ status: 503, headers, body }),
    });
    const error = await errorOf(POST.send(server));
    assertEquals<object>({ ...pinMessage(error) }, {
      name: "OAuthClientError",
      code: "network_error",
      url: POST.url,
      status: 503,
      retryAfterSeconds: 7,
    });
    assertInstanceOf(error.cause, Error);
    if (cause) assertStrictEquals(error.cause, cause);
    assertEquals(isCancelled, cause === undefined);
  });
});

Deno.test("a minimal response is read once: by json() if it is as expected, else by text()", async () => {
  const ok = () => Promise.resolve({ resource: API });
  const no = () => Promise.resolve("Not here");
  const body = () => Promise.resolve(`\ufeff{"resource":"${API}"}`);
  const type = new Headers({ "Content-Type": FORM });
  const rows: [
    members: Partial<FetchResponse>,
    read: "json" | "text",
    message: string,
  ][] = [
    [{ json: ok, text: no }, "json", ""],
    // A response that cannot be read is a failed attempt.
    [{ text: no }, "json", "No json"],
    [{ status: 404, json: ok, text: no }, "text", `${FAILED} 404 Not here`],
    [{ status: 404, json: ok }, "text", `${FAILED} 404 Status text`],
    [{ status: 201, json: ok, text: no }, "text", `${FAILED} 201 Not here`],
    [
      { status: 404, statusText: untyped(undefined) },
      "text",
      `${FAILED} 404 `,
    ],
    // A form is not JSON.
    [{ headers: type, text: no }, "text", "Invalid resource metadata"],
    // A body that is no stream, or was read, leaves the text.
    ...[{ body: null }, { body: "text" }, { body: {} }].map((
      members,
    ): typeof rows[number] => [{ ...members, text: body }, "text", ""]),
    [{ body: new ReadableStream(), bodyUsed: true, text: body }, "text", ""],
  ];
  await eachRowInTurn(rows, async ([members, read, message]) => {
    const reads: string[] = [];
    const reader = (name: "json" | "text") => () => {
      reads.push(name);
      return members[name]?.() ?? Promise.reject(new Error(`No ${name}`));
    };
    const result = await getWith(minimal({
      ...members,
      json: reader("json"),
      text: untyped(reader("text")),
    }));
    const start = result.message.slice(0, message.length || undefined);
    assertEquals([reads, start], [[read], message]);
  });
});

Deno.test("a minimal response whose json() rejects with a SyntaxError is not JSON", async () => {
  const rows: [cause: Error, code: string][] = [
    [new SyntaxError("Not JSON"), "invalid_response"],
    [new TypeError("Cable cut"), "network_error"],
  ];
  await eachRowInTurn(rows, async ([cause, code]) => {
    const answer = () => minimal({ json: () => Promise.reject(cause) });
    using server = stubFetch({ [POST.url]: answer });
    const error = pinMessage(await errorOf(POST.send(server)));
    assertEquals(String(error.code), code);
    assertStrictEquals(error.cause, cause);
    // The literal functions pass it on.
    assertStrictEquals(await getWith(answer()), cause);
  });
});

Deno.test("a minimal response may have headers without get()", async () => {
  for (
    const headers of [null, undefined, {}]
  ) {
    const json = () => Promise.resolve({ access_token: "t" });
    const text = () => Promise.resolve("No");
    const members = untyped({ headers, json, text });
    using server = stubFetch({ [POST.url]: () => minimal(members) });
    assertEquals(untyped(await POST.send(server)).access_token, "t");
    for (const status of [302, 503]) {
      using server = stubFetch({
        [POST.url]: () => minimal({ ...members, status }),
      });
      const error = await errorOf(POST.send(server));
      assertEquals([error.code, error.status], ["unexpected_status", status]);
      assertEquals("retryAfterSeconds" in error, false);
    }
  }
});

Deno.test("fetchToken() accepts any 2xx status, or ok of a minimal response", async () => {
  const json = () => Promise.resolve({ access_token: "t" });
  const text = () => Promise.resolve("");
  const rows: [members: Partial<FetchResponse>, code?: string][] = [
    [{ status: 200 }],
    [{ status: 299 }],
    [{ status: 199 }, "unexpected_status"],
    [{ status: 300 }, "unexpected_status"],
    [{ status: 500, ok: true }],
    [{ status: 200, ok: false }, "unexpected_status"],
    [untyped({ status: undefined, ok: true })],
    [untyped({ status: undefined }), "network_error"],
  ];
  await eachRowInTurn(rows, async ([members, code]) => {
    using server = stubFetch({
      [POST.url]: () => minimal({ json, text, ...members }),
    });
    const result = await POST.send(server).then(() => undefined, (e) => e.code);
    assertEquals([members, result], [members, code]);
  });
});

Deno.test("Retry-After as a date is compared with the Date of the response, else with now", async () => {
  const now = () => Date.UTC(2026, 0, 2, 3, 4, 0);
  const rows: [date: string | undefined, seconds: number][] = [
    ["Fri, 02 Jan 2026 02:04:05 GMT", 3600],
    ["Fri, 02 Jan 2026 03:04:35 GMT", 0],
    [undefined, 5],
    ["today", 5],
  ];
  await eachRowInTurn(rows, async ([date, retryAfterSeconds]) => {
    const headers = {
      "Retry-After": "Fri, 02 Jan 2026 03:04:05 GMT",
      ...date && { Date: date },
    };
    const respond = () => new Response("", { status: 503, headers });
    const { retryAfterSeconds: actual } = await tokenErrorOf(respond, { now });
    assertEquals([date, actual], [date, retryAfterSeconds]);
  });
});

Deno.test("Retry-After becomes retryAfterSeconds in seconds, from seconds or a date", async () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 600);
  using _clock = stub(Date, "now", () => now);
  const { parse } = Date;
  const parsed: string[] = [];
  using _parsing = stub(Date, "parse", (date: string) => {
    parsed.push(date);
    return parse(date);
  });
  const rows: [header: string, seconds: number | undefined][] = [
    ["0", 0],
    ["007", 7],
    ["86401", 86_400],
    ["9".repeat(400), 86_400],
    ["Fri, 02 Jan 2027 03:04:05 GMT", 86_400],
    // Rounded up: a retry before the end is too early.
    ["Fri, 02 Jan 2026 03:04:06 GMT", 1],
    ["Friday, 02-Jan-26 03:05:05 GMT", 60],
    ["Fri Jan  2 03:05:05 2026", 60],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["soon", undefined],
    // The parser of dates accepts these.
    ...["1.5", "-5", "+5", "", "7 seconds"].map((header): typeof rows[0] => [
      header,
      undefined,
    ]),
    ["2026-01-02", undefined],
    ["Fri, 99 Jan 2026 99:99:99 GMT", undefined],
  ];
  await eachRowInTurn(rows, async ([header, retryAfterSeconds]) => {
    const headers = { "Retry-After": header };
    const error = await getWith(new Response("", { status: 503, headers }));
    assertEquals([header, error.retryAfterSeconds], [
      header,
      retryAfterSeconds,
    ]);
    assertEquals("retryAfterSeconds" in error, retryAfterSeconds !== undefined);
  });
  // The asctime form names no time zone, and would be local.
  assert(parsed.every((date) => date.endsWith(" GMT")), parsed.join("\n"));
});
