/** A server of Node can be used like one with web requests and responses. */

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { sendResponse, webRequestOf } from "../../../lib/web/mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { World } from "./_world.ts";

function nodeResponse() {
  const sent = { fields: [["set-cookie", "own=1"]], body: "", isEnded: false };
  const response = {
    statusCode: 200,
    setHeader(name: string, value: string) {
      sent.fields = sent.fields.filter(([other]) => other !== name);
      sent.fields.push([name, value]);
    },
    appendHeader: (name: string, value: string) =>
      sent.fields.push([name, value]),
    write(chunk: Uint8Array) {
      sent.body += new TextDecoder().decode(chunk);
      return true;
    },
    end: () => sent.isEnded = true,
    destroy: () => {},
    on: () => {},
  };
  return { sent, response };
}

Deno.test("webRequestOf() and sendResponse() serve a server of Node", async () => {
  const world = new World();
  const { signIn } = world;
  const { sent, response } = nodeResponse();
  const login = await signIn.login(webRequestOf({
    method: "GET",
    url: "/",
    // Of a router of Express, at /login.
    originalUrl: "/login?returnTo=/a",
    headers: { cookie: "theme=dark", "sec-fetch-dest": "document" },
  }));
  const [cookie] = login.headers.getSetCookie();
  await sendResponse(login, response);
  assertEquals([response.statusCode, sent.body], [303, ""]);
  const cookies = sent.fields.filter(([name]) => name === "set-cookie");
  assertEquals(cookies, [["set-cookie", "own=1"], ["set-cookie", cookie!]]);
  const [, location = ""] = sent.fields.find(([name]) => name === "location") ??
    [];
  const back = new URL(await world.servers.receiver.visit(location));
  const page = nodeResponse();
  await sendResponse(
    await signIn.callback(webRequestOf({
      url: back.pathname + back.search,
      headers: { cookie: cookie!.split(";")[0] },
    })),
    page.response,
  );
  assertEquals(page.response.statusCode, 303);
  assertEquals(page.sent.fields.find(([name]) => name === "location"), [
    "location",
    "https://app.example/a",
  ]);
});

Deno.test("sendResponse() sends a body, and replaces fields", async () => {
  const { sent, response } = nodeResponse();
  response.setHeader("content-type", "text/html");
  await sendResponse(new Response("ä", { status: 418 }), response);
  assertEquals(
    [response.statusCode, sent.body, sent.isEnded],
    [418, "ä", true],
  );
  assertEquals(sent.fields, [["set-cookie", "own=1"], [
    "content-type",
    "text/plain;charset=UTF-8",
  ]]);
});

Deno.test("webRequestOf() reads header fields in any letter case", () => {
  const { method, url, headers } = webRequestOf({
    headers: { origin: "https://app.example", "x-a": ["1", "2"] },
  });
  assertEquals([method, url], ["GET", "/"]);
  assertEquals(
    [headers.get("Origin"), headers.get("X-A"), headers.get("Cookie")],
    ["https://app.example", "1, 2", null],
  );
});

Deno.test("webRequestOf() passes the form of a POST, as a stream or as a parser left it", async () => {
  const parameters = { response_mode: "form_post" };
  const { signIn } = new World({ parameters });
  const node = {
    method: "POST",
    url: "/callback",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  };
  async function* stream() {
    yield new TextEncoder().encode("code=%C3");
    yield await Promise.resolve(new TextEncoder().encode("%A4&state=s"));
  }
  const requests = [
    { ...node, [Symbol.asyncIterator]: stream },
    { ...node, [Symbol.asyncIterator]: stream, body: {} },
    { ...node, body: { code: "ä", state: "s" } },
  ];
  for (const request of requests) {
    const response = await signIn.callback(webRequestOf(request));
    assertEquals(
      [response.status, response.headers.get("Location")],
      [303, "https://app.example/callback?code=%C3%A4&state=s"],
    );
  }
  assertEquals((await signIn.callback(webRequestOf(node))).status, 405);
});

async function listen(
  task: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
) {
  const server = createServer((request, response) =>
    void task(request, response)
  );
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("sendResponse() sends the header fields first, then each part as it comes", async () => {
  let body!: ReadableStreamDefaultController<Uint8Array>;
  await using server = await listen((_, target) => {
    const start = (controller: typeof body) => void (body = controller);
    return sendResponse(new Response(new ReadableStream({ start })), target);
  });
  const response = await fetch(server.origin);
  const reader = response.body!.getReader();
  for (const text of ["a", "b"]) {
    body.enqueue(bytes(text));
    assertEquals((await reader.read()).value, bytes(text));
  }
  body.close();
  assertEquals((await reader.read()).done, true);
});

/** A promise, and what resolves it: Node 20 has no `Promise.withResolvers()`. */
function occasion() {
  let occur = () => {};
  const occurred = new Promise<void>((resolve) => occur = resolve);
  return { occur, occurred };
}

Deno.test("sendResponse() reads no faster than the browser", async () => {
  let chunks = 0;
  let early = 0;
  await using server = await listen((_, target) => {
    const pull = (controller: ReadableStreamDefaultController) => {
      if (target.writableNeedDrain) early++;
      if (chunks++ < 100) controller.enqueue(new Uint8Array(65_536));
      else controller.close();
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    return sendResponse(new Response(body), target);
  });
  const { byteLength } = await (await fetch(server.origin)).arrayBuffer();
  assertEquals([byteLength, early], [6_553_600, 0]);
});

Deno.test("sendResponse() cancels the body when the browser leaves", async () => {
  const { occur: cancel, occurred: cancelled } = occasion();
  const { occur: end, occurred: ended } = occasion();
  await using server = await listen(async (_, target) => {
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new Uint8Array(65_536));
    const body = new ReadableStream({ pull, cancel });
    await sendResponse(new Response(body), target);
    end();
  });
  const response = await fetch(server.origin);
  await response.body!.cancel();
  await Promise.all([cancelled, ended]);
});

Deno.test("sendResponse() cancels the body if the browser has left", async () => {
  const { occur: cancel, occurred: cancelled } = occasion();
  const { response } = nodeResponse();
  const body = new ReadableStream({ cancel });
  await sendResponse(new Response(body), { ...response, destroyed: true });
  await cancelled;
});

Deno.test("sendResponse() closes the connection if the body fails", async () => {
  let fail = () => {};
  await using server = await listen((_, target) => {
    const start = (controller: ReadableStreamDefaultController) => {
      controller.enqueue(bytes("a"));
      fail = () => controller.error(new Error("The API is gone"));
    };
    return sendResponse(new Response(new ReadableStream({ start })), target);
  });
  const reader = (await fetch(server.origin)).body!.getReader();
  assertEquals((await reader.read()).value, bytes("a"));
  fail();
  assertEquals(await reader.read().catch(() => "failed"), "failed");
});

Deno.test("sendResponse() sends bytes of header fields as they are", async () => {
  // A server that names its file in UTF-8, as `fetch` has it.
  const name = 'attachment; filename="\u00c3\u00a4.txt"';
  await using server = await listen((_, target) =>
    sendResponse(
      new Response("a", {
        headers: { "Content-Disposition": name, "Content-Length": "1" },
      }),
      target,
    )
  );
  const response = await fetch(server.origin);
  assertEquals(response.headers.get("Content-Disposition"), name);
  assertEquals(await response.text(), "a");
});

Deno.test("webRequestOf() passes the body of every method but GET and HEAD", async () => {
  async function* stream() {
    yield await Promise.resolve(bytes("body"));
  }
  const rows: [method: string, text: string][] = [
    ["GET", ""],
    ["HEAD", ""],
    ["POST", "body"],
    ["PUT", "body"],
    ["PATCH", "body"],
    ["DELETE", "body"],
    ["PROPFIND", "body"],
  ];
  await eachRowInTurn(rows, async ([method, text]) => {
    const { body } = webRequestOf(
      {
        method,
        headers: {},
        [Symbol.asyncIterator]: stream,
      } as Parameters<typeof webRequestOf>[0],
    );
    assertEquals(body instanceof ReadableStream, text !== "");
    const read = new Response(body as ReadableStream | undefined);
    assertEquals(await read.text(), text);
  });
});

Deno.test("webRequestOf() states that a parser has read the body", () => {
  for (const readableDidRead of [true, false, undefined]) {
    const { bodyUsed } = webRequestOf({ headers: {}, readableDidRead });
    assertEquals(bodyUsed, readableDidRead === true);
  }
});

Deno.test("webRequestOf() has a signal that aborts only if the browser leaves", async () => {
  const signals: AbortSignal[] = [];
  const { occur: reach, occurred: reached } = occasion();
  const { occur: leave, occurred: left } = occasion();
  await using server = await listen(async (message, target) => {
    const { signal } = webRequestOf(message, target);
    signals.push(signal!);
    if (message.url !== "/waits") {
      return await sendResponse(new Response("a"), target);
    }
    signal!.addEventListener("abort", leave);
    reach();
    await left;
    // Later calls know it too.
    signals.push(webRequestOf(message, target).signal!);
  });
  await (await fetch(server.origin)).text();
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = fetch(`${server.origin}/waits`, { signal });
  await reached;
  controller.abort();
  await waiting.catch(() => {});
  await left;
  assertEquals(signals.map(({ aborted }) => aborted), [false, true, true]);
  assertEquals(webRequestOf({ headers: {} }).signal, undefined);
});

Deno.test("a response before the end of the body leaves the connection usable", async () => {
  await using server = await listen(async (message, target) => {
    const { body } = webRequestOf(message, target);
    // As `fetch` does if the API has responded.
    const reader = (body as ReadableStream | undefined)?.getReader();
    await reader?.read();
    await reader?.cancel();
    await sendResponse(new Response("x", { status: 413 }), target);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  try {
    for (let round = 0; round < 5; round++) {
      const status = await new Promise<number | undefined>(
        (resolve, reject) => {
          const sent = request(server.origin, {
            agent,
            method: "POST",
            headers: { "Content-Length": 2_000_000 },
          }, (response) => {
            ports.add(response.socket.localPort);
            response.resume().on("end", () => resolve(response.statusCode));
          });
          sent.on("error", reject);
          sent.end(Buffer.alloc(2_000_000));
        },
      );
      assertEquals(status, 413);
    }
  } finally {
    agent.destroy();
  }
  assertEquals(ports.size, 1);
});
