/** A `Request` as the input of the fetch, and its body. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createAuthorizedFetch } from "../../mod.ts";
import {
  type ISessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { LIMIT_MS, turn, within } from "../support/within.ts";
import { fetchAt } from "./_session_world.ts";

function apiOf(servers: ISessionServers) {
  return fetchAt(servers);
}

/** Waits for a response, and returns the JSON in its body. */
async function jsonOf(response: Promise<Response>) {
  return await (await within(LIMIT_MS, response)).json();
}

/** Options of a `Request` that is made of a stream. */
function streamed(source: UnderlyingDefaultSource<unknown>): RequestInit {
  const body = new ReadableStream(source, { highWaterMark: 0 });
  return { method: "POST", body, duplex: "half" } as RequestInit;
}

Deno.test("createAuthorizedFetch() reads the body of a Request before it sends it, and sends it again after a 401", async () => {
  await using servers = await startSessionServers();
  const text = "abcdefgh";
  let read = 0;
  const init = streamed({
    async pull(stream) {
      await turn();
      stream.enqueue(new TextEncoder().encode(text[read++]));
      if (read === text.length) stream.close();
    },
  });
  const bodies: string[] = [];
  const api = fetchAt(servers, {
    async fetch(input, init) {
      if (input instanceof Request) {
        assertEquals(read, text.length);
        bodies.push(await input.clone().text());
      }
      return await fetch(input, init);
    },
  });
  const { body } = await jsonOf(api(new Request(servers.resource, init)));
  assertEquals([body, ...bodies], [text, text, text]);
});

Deno.test("createAuthorizedFetch() sends the body of a Request with its length", async () => {
  await using servers = await startSessionServers();
  const api = apiOf(servers);
  const texts = ["a", "", "bc"];
  const init = streamed({
    pull(stream) {
      stream.enqueue(new TextEncoder().encode(texts.shift()));
      if (texts.length === 0) stream.close();
    },
  });
  for (
    const [request, expected] of [
      [new Request(servers.resource, init), "abc"],
      [new Request(servers.resource, { method: "POST", body: "" }), ""],
    ] as const
  ) {
    assertEquals((await jsonOf(api(request))).body, expected);
    const { headers } = servers.calls.at(-1)!;
    assertEquals(headers.get("Content-Length"), String(expected.length));
    assert(request.bodyUsed);
  }
});

Deno.test("createAuthorizedFetch() sends a Request again in a browser that has no body of it", async () => {
  await using servers = await startSessionServers();
  const api = apiOf(servers);
  for (const method of ["POST", "GET"]) {
    servers.revoke(true);
    const body = method === "POST" ? "text" : null;
    const request = new Request(servers.resource, { method, body });
    Object.defineProperty(request, "body", { value: undefined });
    const received = await jsonOf(api(request));
    assertEquals([received.method, received.body], [method, body ?? ""]);
  }
});

/** A fetch that records the arguments of the caller's `fetch`. */
function recording() {
  const calls: unknown[][] = [];
  const api = createAuthorizedFetch("https://api.example/mcp", {
    authorize: () => Promise.reject(new Error("not called")),
    fetch: (...args) => {
      calls.push(args);
      return Promise.resolve(new Response());
    },
  });
  return { api, calls };
}

Deno.test("createAuthorizedFetch() passes a Request to fetch as one argument", async () => {
  const { api, calls } = recording();
  for (const body of [null, "b"]) {
    const request = new Request("https://api.example/mcp", {
      method: "POST",
      body,
      cache: "no-store",
    });
    await api(request, { headers: { "X-Test": "1" } });
    const [[sent, ...others] = []] = calls.splice(0);
    assert(sent instanceof Request && others[0] === undefined);
    const { cache, headers } = sent;
    assertEquals([cache, headers.get("X-Test")], ["no-store", "1"]);
    assertEquals(await sent.text(), body ?? "");
  }
});

Deno.test("createAuthorizedFetch() fails for a Request whose body is used, locked or not of bytes", async () => {
  const make = (chunk: unknown) => {
    const chunks = [chunk, chunk];
    return new Request(
      "https://api.example/mcp",
      streamed({
        pull(stream) {
          if (chunks.length > 0) stream.enqueue(chunks.pop());
          else stream.close();
        },
      }),
    );
  };
  const bytes = new Uint8Array(8);
  const [used, locked, text] = [make(bytes), make(bytes), make("text")];
  const reader = used.body!.getReader();
  await reader.read();
  reader.releaseLock();
  locked.body!.getReader();
  const { calls, api } = recording();
  for (const request of [used, locked, text]) {
    await assertRejects(() => within(LIMIT_MS, api(request)), TypeError);
  }
  assertEquals(calls.length, 0);
  // Another body is sent in place of it.
  assertEquals((await api(used, { body: "init" })).status, 200);
  assertEquals(calls.length, 1);
});

Deno.test("createAuthorizedFetch() keeps the method and the signal of a Request in a redirect", async () => {
  const inits: (RequestInit | undefined)[] = [];
  const api = createAuthorizedFetch("https://api.example/mcp", {
    authorize: () => Promise.reject(new Error("not called")),
    fetch: (_input, init) => {
      inits.push(init);
      return Promise.resolve(
        inits.length === 1
          ? Response.redirect("https://api.example/mcp/a", 307)
          : new Response(),
      );
    },
  });
  const { signal } = new AbortController();
  const request = new Request("https://api.example/mcp", {
    method: "DELETE",
    signal,
  });
  const members = {
    cache: "no-store",
    credentials: "include",
    integrity: "sha256-x",
    keepalive: true,
    referrerPolicy: "no-referrer",
  } as const;
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(request, name, { value });
  }
  const { redirected } = await api(request);
  assertEquals(redirected, true);
  const second = inits[1]!;
  assertEquals(second.method, "DELETE");
  assertEquals(second.signal, request.signal);
  assertEquals({ ...second, ...members }, second);
  assertEquals((await api("https://api.example/mcp")).redirected, false);
});
