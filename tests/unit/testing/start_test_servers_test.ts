/** The servers for tests over sockets. */
import { once } from "node:events";
import { connect } from "node:net";
import { assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  OAuthClientError,
} from "../../../mod.ts";
import { startTestServers } from "../../../lib/testing/mod.ts";
import { deferred, statusOf } from "../../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../../support/within.ts";

Deno.test("startTestServers() serves a sign-in, a refresh, faults and streams over sockets, until close()", async () => {
  const received: Uint8Array[] = [];
  const servers = await startTestServers({
    async handle(request) {
      received.push(new Uint8Array(await request.arrayBuffer()));
      return new Response(new Blob(["one", "two"]).stream());
    },
  });
  const { resource, receiver, now } = servers;
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { flow: authorize, now });
  const body = new Uint8Array([0, 255, 128]);
  const call = async () => {
    const response = await api(resource, { method: "POST", body });
    return await response.text();
  };
  assertEquals(await call(), "onetwo");
  assertEquals(received, [body]);
  servers.advance(3600);
  servers.failNext("token", "lose_request");
  servers.failNext("resource", 503);
  assertEquals(await statusOf(api(resource)), 503);
  assertEquals(servers.received("token", "refresh_token").length, 2);
  const post = async () => {
    const response = await fetch(resource, { method: "POST", body: "a=1" });
    return await response.text();
  };
  assertEquals(await post(), "refused");
  servers.failNext("resource", "lose_response");
  await assertRejects(post);
  servers.failNext("resource", "lose_response");
  await assertRejects(call);
  assertEquals(received.length, 2);
  assertEquals(servers.received("resource").at(-1)?.status, undefined);

  const preflight = await fetch(resource, { method: "OPTIONS" });
  assertEquals(preflight.status, 204);
  assertEquals(preflight.headers.get("Access-Control-Allow-Origin"), "*");
  await servers.close();
  await assertRejects(() => fetch(resource));
  await assertRejects(() => api.signIn({ fresh: true }), OAuthClientError);
});

/** Sends what no `fetch` sends; returns the first line of the response, if there is one. */
async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(text));
  socket.on("error", () => {});
  let received = "";
  socket.on("data", (data) => received += data);
  await within(LIMIT_MS, once(socket, "close"));
  return received.split("\r\n")[0] ?? "";
}

Deno.test("startTestServers() goes on after requests and responses that break off", async () => {
  const servers = await startTestServers({
    handle: () => {
      const bytes = new TextEncoder().encode("one");
      const start = (controller: ReadableStreamDefaultController) =>
        controller.enqueue(bytes);
      const pull = () => Promise.reject(new Error("The stream breaks"));
      return new Response(new ReadableStream({ start, pull }));
    },
  });
  const { resource, receiver } = servers;
  const { pathname } = new URL(resource);
  const rest = "HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
  const send = (head: string) => sendRaw(resource, head);
  const body = "Content-Length: 2\r\n\r\n{}";
  assertEquals(
    [
      await send(`GET ${pathname} ${rest}${body}`),
      await send(`TRACE ${pathname} ${rest}\r\n`),
      await send(`GET http://x${pathname} ${rest}\r\n`),
    ],
    ["HTTP/1.1 401 Unauthorized", "", ""],
  );
  const controller = new AbortController();
  const received = deferred<void>();
  const upload = fetch(resource, {
    method: "POST",
    body: new ReadableStream({
      start: (stream) => stream.enqueue(new Uint8Array(1)),
      pull: () => received.resolve(),
    }),
    signal: controller.signal,
    ...{ duplex: "half" },
  });
  await received.promise;
  controller.abort();
  await assertRejects(() => upload);
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { flow: authorize });
  // Node takes the end of the connection for the end of such a response.
  await within(LIMIT_MS, (await api(resource)).text().catch(() => {}));
  const next = await api(resource);
  assertEquals(next.status, 200);
  await within(LIMIT_MS, next.text().catch(() => {}));
  await servers.close();
});
