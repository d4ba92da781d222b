import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  discard,
  type IReading,
  openReply as openReplyFor,
  parseJson,
  quoteJson,
  quoteServerText,
} from "../../../lib/http/_response.ts";
import { type IFetchResponse, OAuthClientError } from "../../../mod.ts";
import { deferred, minimal, never, untyped } from "../../support/stub_fetch.ts";

const URL_1 = "https://api.example/1";

function openReply(
  url: string,
  response: IFetchResponse,
  reading: Partial<IReading> = {},
) {
  const { signal } = new AbortController();
  return openReplyFor(url, response, { maxBytes: 100, signal, ...reading });
}

/** A response whose body breaks off. */
function broken(): Response {
  return new Response(
    new ReadableStream({
      start: (stream) => stream.error(new Error("Cable cut")),
    }),
    { statusText: "Status text" },
  );
}

Deno.test("quoteServerText() leaves text up to 2,000 characters as it is", () => {
  for (
    const text of ["", "Hello", "a\tb\nc", "Grüße, 世界 🌍", "x".repeat(2_000)]
  ) {
    assertEquals(quoteServerText(text), text);
  }
});

Deno.test("quoteServerText() cuts longer text with an ellipsis", () => {
  const kept = "x".repeat(1_999) + "y";
  assertEquals(quoteServerText(kept + "z"), kept + "…");
  assertEquals(quoteServerText(kept + "z".repeat(100_000)), kept + "…");
});

Deno.test("quoteServerText() cuts no character in half", () => {
  const most = "x".repeat(1_999);
  assertEquals(quoteServerText(most + "😀y"), most + "…");
  assertEquals(quoteServerText("x" + most + "😀"), "x" + most + "…");
  assertEquals(quoteServerText(most.slice(1) + "😀y"), most.slice(1) + "😀…");
});

Deno.test("quoteServerText() escapes control characters but tab and line feed", () => {
  for (let code = 0; code <= 0xff; code++) {
    const char = String.fromCharCode(code);
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const expected = isControl && char !== "\t" && char !== "\n"
      ? "\\u00" + code.toString(16).padStart(2, "0")
      : char;
    assertEquals(
      quoteServerText(`a${char}b${char}`),
      `a${expected}b${expected}`,
    );
  }
});

Deno.test("quoteServerText() counts characters before it escapes them", () => {
  assertEquals(
    quoteServerText("\u0000".repeat(2_001)),
    "\\u0000".repeat(2_000) + "…",
  );
});

Deno.test("quoteJson() shows JSON", () => {
  const rows: [value: unknown, shown: string][] = [
    [{ a: [1, null, "x\ty"] }, '{"a":[1,null,"x\\ty"]}'],
    [null, "null"],
    ["text", '"text"'],
    [7, "7"],
    [undefined, "no JSON"],
    [{ a: "\u007f" }, '{"a":"\\u007f"}'],
  ];
  for (const [value, shown] of rows) assertEquals(quoteJson(value), shown);
});

Deno.test("quoteJson() cuts long JSON with an ellipsis", () => {
  const shown = quoteJson("x".repeat(3_000));
  assertEquals(shown, `"${"x".repeat(1_999)}…`);
});

Deno.test("quoteJson() leaves secrets out at any depth", () => {
  assertEquals(
    quoteJson({
      client_secret: "s3cr3t",
      clients: [{ client_secret: { value: "s3cr3t" }, client_name: "n" }],
      registration_access_token: "t0k3n",
    }),
    '{"client_secret":"[redacted]","clients":[{"client_secret":"[redacted]",' +
      '"client_name":"n"}],"registration_access_token":"[redacted]"}',
  );
});

Deno.test("quoteJson() survives what cannot be written as JSON", () => {
  const circle: unknown[] = [];
  circle.push(circle);
  for (const value of [circle, { n: 1n }]) {
    assertEquals(typeof quoteJson(value), "string");
  }
});

Deno.test("parseJson() gives the value, or nothing", () => {
  const rows: [text: string, value: unknown][] = [
    ['{"a":1}', { a: 1 }],
    [" [1] ", [1]],
    ["null", null],
    ["false", false],
    ["", undefined],
    ["<html>", undefined],
    ['{"a":1', undefined],
    ["{a:1}", undefined],
  ];
  for (const [text, value] of rows) assertEquals(parseJson(text), value);
});

Deno.test("discard() closes a body, and bears that there is none to close", async () => {
  const closed = deferred<string>();
  const cancel = () => closed.resolve("closed");
  discard(new Response(new ReadableStream({ cancel })));
  assertEquals(await closed.promise, "closed");

  await discard(new Response(null));
  for (const body of [undefined, null, {}, "text"]) {
    await discard(minimal({ body }));
  }
});

Deno.test("discard() bears a body that cannot be closed", async () => {
  const locked = new Response("x");
  locked.body?.getReader();
  await discard(locked);
  await discard(broken());
});

Deno.test("discard() bears a cancel() that gives no promise, or throws", async () => {
  let cancelled = 0;
  const cancels = [
    () => {
      cancelled++;
    },
    () => {
      cancelled++;
      throw new Error("No");
    },
  ];
  for (const cancel of cancels) await discard(minimal({ body: { cancel } }));
  assertEquals(cancelled, 2);
});

Deno.test("openReply() tells status and success", () => {
  const rows: [response: Partial<IFetchResponse>, ok: boolean][] = [
    [{ status: 199 }, false],
    [{ status: 200 }, true],
    [{ status: 299 }, true],
    [{ status: 300 }, false],
    [{ status: 400 }, false],
    [{ status: 500, ok: true }, true],
    [{ status: 200, ok: false }, false],
    [new Response(null, { status: 204 }), true],
    [new Response(null, { status: 404 }), false],
    [untyped({ status: undefined, ok: true }), true],
    [untyped({ status: undefined, ok: false }), false],
  ];
  for (const [response, ok] of rows) {
    const reply = openReply(URL_1, untyped(response));
    assertEquals([reply.status, reply.ok], [response.status, ok]);
  }
});

Deno.test("openReply() reads text and JSON of one Response, in any order", async () => {
  const reply = openReply(URL_1, new Response('{"a":1}'));
  assertEquals(await reply.text(), '{"a":1}');
  assertEquals(await reply.json(), { a: 1 });
  assertEquals(await reply.json(), { a: 1 });
  const other = openReply(URL_1, new Response('{"a":1}'));
  assertEquals(await other.json(), { a: 1 });
  assertEquals(await other.text(), '{"a":1}');
});

Deno.test("openReply() gives undefined for JSON that is none", async () => {
  for (const body of ["", "<html>", '{"a":', null]) {
    assertEquals(await openReply(URL_1, new Response(body)).json(), undefined);
  }
});

Deno.test("openReply() gives the JSON of a minimal response", async () => {
  const json = () => Promise.resolve({ a: 1 });
  assertEquals(await openReply(URL_1, minimal({ json })).json(), { a: 1 });
});

Deno.test("openReply() reads a minimal response's text when its JSON fails", async () => {
  const reply = openReply(
    URL_1,
    minimal({ text: () => Promise.resolve("<html>") }),
  );
  assertEquals(await reply.json(), undefined);
  assertEquals(await reply.text(), "<html>");
});

Deno.test("openReply() reads a minimal response's text once", async () => {
  let reads = 0;
  const text = () => Promise.resolve(`read ${++reads}`);
  const reply = openReply(URL_1, minimal({ text }));
  assertEquals([await reply.text(), await reply.text()], ["read 1", "read 1"]);
});

Deno.test("openReply() puts the status text where the body cannot be read", async () => {
  const consumed = new Response("{}", { statusText: "Status text" });
  await consumed.text();
  const throwing = minimal({
    text() {
      throw new Error("No text");
    },
  });
  const rows = [consumed, minimal({}), throwing];
  for (const response of rows) {
    const reply = openReply(URL_1, response);
    assertEquals(await reply.text(), "Status text");
    assertEquals(await reply.json(), undefined);
  }
  assertEquals(await openReply(URL_1, broken()).text(), "Status text");
  const bare = minimal({ statusText: untyped(undefined) });
  assertEquals(await openReply(URL_1, bare).text(), "");
});

Deno.test("openReply() tells of a body that breaks off", async () => {
  const error = await assertRejects(
    () => openReply(URL_1, broken()).json(),
    OAuthClientError,
    `The reply of ${URL_1} broke off`,
  );
  assertEquals([error.code, error.status], ["network_error", 200]);
  assertInstanceOf(error.cause, Error);
});

Deno.test("openReply() does not read a status text as JSON", async () => {
  const statusText = '{"client_id":"c1"}';
  const consumed = new Response("{}", { statusText });
  await consumed.text();
  for (const response of [consumed, minimal({ statusText })]) {
    const reply = openReply(URL_1, response);
    assertEquals(await reply.json(), undefined);
    assertEquals(await reply.text(), statusText);
  }
});

Deno.test("openReply() keeps an empty body empty", async () => {
  const reply = openReply(URL_1, new Response("", { statusText: "OK" }));
  assertEquals(await reply.text(), "");
});

Deno.test("openReply() reads nothing before it is asked to", () => {
  const response = new Response("Hello");
  openReply(URL_1, response);
  assertStrictEquals(response.bodyUsed, false);
  openReply(URL_1, minimal({ text: () => never(), json: () => never() }));
});

Deno.test("openReply() makes errors that tell of the reply", () => {
  const reply = openReply(URL_1, new Response("", { status: 418 }));
  const error = reply.error("oauth_error", "No", {
    error: "teapot",
    error_description: undefined,
  });
  assertInstanceOf(error, OAuthClientError);
  assertEquals(
    { ...error, message: error.message },
    untyped({
      name: "OAuthClientError",
      code: "oauth_error",
      url: URL_1,
      status: 418,
      error: "teapot",
      message: "No",
    }),
  );
});
