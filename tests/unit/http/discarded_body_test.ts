/** A body that nobody needs costs no connection, and holds nothing. */

import { assert } from "@std/assert";
import { stub } from "@std/testing/mock";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { discard } from "../../../lib/http/_response.ts";
import { deferred } from "../../support/stub_fetch.ts";

const CALLS = 10;

/** A server at loopback that sends header fields, and the body when it is told to. */
async function startServer(fields: string) {
  const sockets: Socket[] = [];
  /** The connection of the last request. */
  let last: Socket | undefined;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => {
      last = socket;
      socket.write(`HTTP/1.1 401 Unauthorized\r\n${fields}\r\n\r\n`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    sockets,
    url: `http://127.0.0.1:${port}/`,
    async send(body: string) {
      const { promise, resolve } = deferred<void>();
      last!.write(body, () => resolve());
      if (last!.destroyed) resolve();
      await promise;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function connectionsOf(fields: string, body: string): Promise<number> {
  await using server = await startServer(fields);
  for (let calls = 0; calls < CALLS; calls++) {
    const response = await fetch(server.url);
    discard(response);
    await server.send(body);
    // The runtime receives it in a later turn of its loop.
    for (let turns = 0; turns < 10; turns++) {
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
  return server.sockets.length;
}

Deno.test("discard() keeps the connection of a response whose short body comes late", async () => {
  const connections = await connectionsOf("Content-Length: 3", "abc");
  assert(connections < CALLS / 2, `${connections} connections`);
});

Deno.test("discard() ends the connection of a body whose length is unknown", async () => {
  const fields = "Transfer-Encoding: chunked";
  const connections = await connectionsOf(fields, "3\r\nabc\r\n");
  // Node may have one more, which it has not used.
  assert(connections >= CALLS, `${connections} connections`);
});

Deno.test("discard() ends the connection of a long body, and of one that does not come in time", async () => {
  const controller = new AbortController();
  using _ = stub(AbortSignal, "timeout", () => controller.signal);
  for (const [length, body] of [[100_000, "x".repeat(20_000)], [3, ""]]) {
    await using server = await startServer(`Content-Length: ${length}`);
    const response = await fetch(server.url);
    const [socket] = server.sockets;
    const closed = once(socket!, "close");
    discard(response);
    if (body) await server.send(String(body));
    else controller.abort();
    await closed;
  }
});

Deno.test("discard() needs no stream, no length and no `cancel` that succeeds", async () => {
  const locked = new Response("body");
  locked.body!.getReader();
  const read = new Response("body");
  await read.text();
  await using server = await startServer("Content-Length: 3");
  const head = await fetch(server.url, { method: "HEAD" });
  for (const one of [locked, read, head, { status: 401 }]) {
    discard(one as Response);
  }
  discard(Response.error());
});
