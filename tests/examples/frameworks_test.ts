/** The examples for frameworks do the same steps: sign-in, calls, streams, aborts, sign-out. */

import { assert, assertEquals } from "@std/assert";
import { createTestServers, type TestServers } from "../../lib/testing/mod.ts";
import { serve } from "../servers/_serve.ts";
import { bundle } from "../support/bundle.ts";
import { stop } from "../support/free_port.ts";
import { pageAt } from "../support/markdown.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import { mapArgs, path } from "./_programs.ts";

/** The origin of all sites, as browsers see it: no framework looks at it. */
const ORIGIN = "https://app.example";
const MB = 1_048_576;

/** What TanStack Start's plugin for Vite adds to a build; a page needs it, our routes do not. */
const OF_A_BUILD = [
  "#tanstack-router-entry",
  "#tanstack-start-entry",
  "tanstack-start-manifest:v",
];

function startApi() {
  const calls: string[] = [];
  let received = 0;
  let sendSecond = () => {};
  let aborts = 0;
  const api = serve(async (request) => {
    const { pathname } = new URL(request.url);
    if (request.headers.has("Authorization")) {
      calls.push(`${request.method} ${pathname}`);
    }
    if (!/\/(upload|events)$/.test(pathname)) return servers.fetch(request);
    const { status } = await servers.fetch(servers.resource, {
      headers: request.headers,
    });
    if (status !== 200) return new Response(null, { status });
    if (pathname.endsWith("/upload")) {
      received = 0;
      for await (const chunk of request.body!) received += chunk.length;
      return new Response(`${request.method} ${received}`);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    sendSecond = resolve;
    const events = ["data: first\n\n", "data: second\n\n"];
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(encode(events[0]!)),
      async pull(controller) {
        await promise;
        controller.enqueue(encode(events[1]!));
        controller.close();
      },
      cancel: () => void aborts++,
    });
    return new Response(body, {
      headers: { "Content-Type": "text/event-stream" },
    });
  });
  const servers: TestServers = createTestServers({
    resource: `${api.origin}/v1`,
    issuer: api.origin,
    clients: [{
      client_id: "site",
      client_secret: "secret",
      redirect_uris: [`${ORIGIN}/callback`],
    }],
  });
  return {
    ...api,
    servers,
    calls,
    received: () => received,
    aborts: () => aborts,
    sendSecond: () => sendSecond(),
  };
}

type Api = ReturnType<typeof startApi>;

const encode = (text: string) => new TextEncoder().encode(text);

const envFor = ({ servers: { issuer, resource } }: Api) => ({
  RESOURCE: resource,
  ORIGIN,
  CLIENT: JSON.stringify({
    issuer,
    client_id: "site",
    client_secret: "secret",
  }),
  COOKIE_KEY: btoa("a".repeat(32)),
});

async function startProgram(
  stack: AsyncDisposableStack,
  api: Api,
  command: string,
  args: readonly string[],
) {
  const child = new Deno.Command(command, {
    args: [...args],
    env: envFor(api),
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  stack.defer(() => stop(child));
  let text = "";
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.endsWith("\n")) break;
  }
  return JSON.parse(text) as Record<string, number>;
}

async function startNode(stack: AsyncDisposableStack, api: Api) {
  const directory = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(directory, { recursive: true }));
  const program = `${directory}/servers.mjs`;
  await bundle(path("frameworks/_servers.ts"), program, OF_A_BUILD);
  return await startProgram(stack, api, "node", [program]);
}

async function startDeno(stack: AsyncDisposableStack, api: Api) {
  const program = path("frameworks/_deno_servers.ts");
  const allowed = ["--allow-net=127.0.0.1", "--allow-env", "--allow-read"];
  const args = ["run", "--quiet", "--no-check", ...await mapArgs(), ...allowed];
  return await startProgram(stack, api, Deno.execPath(), [...args, program]);
}

class Visitor {
  readonly #port: number;
  readonly #cookies = new Map<string, string>();

  constructor(port: number) {
    this.#port = port;
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname, search } = new URL(url, ORIGIN);
    const pairs = [...this.#cookies].map((pair) => pair.join("="));
    const response = await fetch(
      `http://127.0.0.1:${this.#port}${pathname}${search}`,
      {
        ...init,
        redirect: "manual",
        headers: {
          "Cookie": pairs.join("; "),
          "Origin": ORIGIN,
          "Sec-Fetch-Site": "same-origin",
          "Sec-Fetch-Dest": "empty",
          ...init.headers,
        },
      },
    );
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^(.*?)=(.*?);/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }

  /** Returns the status and where the browser is sent. */
  async open(url: string, method = "GET"): Promise<[number, string]> {
    const response = await this.send(url, {
      method,
      headers: { "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate" },
    });
    await response.body?.cancel();
    return [response.status, response.headers.get("Location") ?? ""];
  }
}

const SITES = {
  Express: "/api",
  Fastify: "/api",
  Hono: "/api",
  "h3 2": "/api",
  "Nuxt (h3 1)": "/backend",
  Elysia: "/api",
  "TanStack Start": "/api",
  SvelteKit: "/api",
  "Next.js": "/api",
  "Deno.serve": "/api",
  "Hono in Deno": "/api",
  "h3 2 in Deno": "/api",
  "Elysia in Deno": "/api",
};

/** Those with another route, whose parser reads JSON. */
const WITH_ROUTE = /^(Express|Fastify|Hono|h3 2|Elysia)/;

Deno.test("frameworks.md contains each example", async () => {
  const page = pageAt("frameworks.md");
  for await (const { name } of Deno.readDir(path("frameworks"))) {
    if (name.startsWith("_")) continue;
    const source = await Deno.readTextFile(path(`frameworks/${name}`));
    assert(page.includes(`\n\`\`\`ts ignore\n${source}\`\`\`\n`), name);
  }
});

Deno.test("each framework signs in, forwards calls and streams, and signs out", async (t) => {
  await using stack = new AsyncDisposableStack();
  const api = startApi();
  stack.defer(api.close);
  const { servers, calls } = api;
  const started = [startNode(stack, api), startDeno(stack, api)];
  const ports = Object.assign({}, ...await Promise.all(started));
  assertEquals(Object.keys(ports), Object.keys(SITES));
  for (const [name, prefix] of Object.entries(SITES)) {
    await t.step(name, async () => {
      const visitor = new Visitor(ports[name]);
      const notes = async () => {
        const response = await visitor.send(`${prefix}/notes?a=1`);
        const { ok } = await response.json();
        return [response.status, ok];
      };
      assertEquals(await notes(), [401, undefined]);

      const [, server] = await visitor.open("/login?returnTo=/notes");
      const callback = await servers.receiver.visit(server);
      const [status, page] = await visitor.open(callback);
      assertEquals([status, page], [303, `${ORIGIN}/notes`]);
      calls.length = 0;
      assertEquals(await notes(), [200, true]);

      const post = await visitor.send(`${prefix}/upload`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify("a".repeat(2046)),
      });
      assertEquals(await post.text(), "POST 2048");

      let left = 3;
      const put = await visitor.send(`${prefix}/upload`, {
        method: "PUT",
        body: new ReadableStream({
          async pull(controller) {
            // The last part is sent when the API has the first.
            if (left === 1) await until(LIMIT_MS, () => api.received() > MB);
            if (left-- > 0) controller.enqueue(new Uint8Array(MB));
            else controller.close();
          },
        }),
      });
      assertEquals(await put.text(), `PUT ${3 * MB}`);

      const read = async () => {
        const { body, status } = await visitor.send(`${prefix}/events`);
        assertEquals(status, 200);
        const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
        const first = await within(LIMIT_MS, reader.read());
        assertEquals(first.value, "data: first\n\n");
        return reader;
      };
      const events = await read();
      api.sendSecond();
      assertEquals((await events.read()).value, "data: second\n\n");
      assert((await events.read()).done);

      const before = api.aborts();
      await (await read()).cancel();
      await until(LIMIT_MS, () => api.aborts() === before + 1);
      api.sendSecond();

      assertEquals(calls, [
        "GET /v1/notes",
        "POST /v1/upload",
        "PUT /v1/upload",
        "GET /v1/events",
        "GET /v1/events",
      ]);
      if (name === "SvelteKit") {
        // A `load` function calls the API.
        assertEquals((await (await visitor.send("/")).json()).ok, true);
      }
      if (WITH_ROUTE.test(name)) {
        const own = await visitor.send("/notes", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: '{"text":"a"}',
        });
        assertEquals(await own.json(), { text: "a" });
      }
      assertEquals((await visitor.open("/logout", "POST"))[0], 303);
      assertEquals(await notes(), [401, undefined]);
    });
  }
});
