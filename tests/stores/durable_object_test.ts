import { assertEquals } from "@std/assert";
import { Miniflare } from "miniflare";
import { startRotatingServer } from "../servers/rotating_server.ts";
import { bundle } from "../support/bundle.ts";

const example = new URL("../examples/durable_object_store.js", import.meta.url);

Deno.test({
  name:
    "the example with a Durable Object makes one refresh for eight requests, ten times",
  async fn() {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(startRotatingServer());
    const path = await Deno.makeTempFile({ suffix: ".mjs" });
    stack.defer(() => Deno.remove(path));
    await bundle(example.pathname, path, ["cloudflare:workers"]);
    const miniflare = new Miniflare({
      modules: [{
        type: "ESModule",
        path: "worker.mjs",
        contents: await Deno.readTextFile(path),
      }],
      compatibilityDate: "2026-01-01",
      durableObjects: { SESSIONS: "SessionObject" },
      bindings: { RESOURCE: server.resource },
      // Else miniflare downloads an example of the properties of a request.
      cf: false,
    });
    stack.defer(() => miniflare.dispose());
    const send = async (body?: unknown) => {
      const response = await miniflare.dispatchFetch(
        "http://worker.example/?user=1",
        body ? { method: "PUT", body: JSON.stringify(body) } : {},
      );
      return `${response.status} ${await response.text()}`;
    };
    assertEquals(await send(server.session()), "204 ");
    for (let round = 1; round <= 10; round++) {
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => send()),
      );
      assertEquals(responses, Array(8).fill("200 ok"));
      assertEquals([server.refreshes, server.isRevoked], [round, false]);
      server.expire();
    }
  },
});
