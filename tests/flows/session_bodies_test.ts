/** Bodies: what is sent again after a 401, and what can be sent once only. */
import { serverOf } from "../../lib/session/_parties.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import * as undici from "undici";
import { createAuthorizedFetch, memoryStore } from "../../mod.ts";
import { startSessionServers } from "../servers/session_servers.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { MCP, pinRejected, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { resourceFetch, SESSION } from "../support/resource.ts";
import { statusOf, untyped } from "../support/stub_fetch.ts";
import { LIMIT_MS, turn, within } from "../support/within.ts";
import {
  fetchAt,
  jsonOf,
  signedIn,
  test,
  withoutRefresh,
} from "./_session_world.ts";

const form = new FormData();

form.set("field", "value");

for (
  const [name, body, expected] of [
    ["a string", "text", "text"],
    ["URLSearchParams", new URLSearchParams({ a: "b" }), "a=b"],
    ["a Blob", new Blob(["blob"]), "blob"],
    ["an ArrayBuffer", new TextEncoder().encode("buffer").buffer, "buffer"],
    ["a view", new TextEncoder().encode("view"), "view"],
    ["FormData", form, 'name="field"\r\n\r\nvalue'],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() sends ${name} again after a 401`, async () => {
    await using servers = await startSessionServers();
    const { api } = await signedIn(servers);
    servers.revoke();
    const headers = new Headers({ "X-Test": "1" });
    const init = { method: "PUT", headers, body };
    const received = await jsonOf(api(new URL(servers.resource), init));
    assertEquals(received.method, "PUT");
    assert(received.body.includes(expected), received.body);
    assertEquals(servers.calls.map((one) => one.headers.get("X-Test")), [
      "1",
      "1",
    ]);
    // The caller's own headers stay as they are.
    assertEquals(headers.has("Authorization"), false);
  });
}

test("sends a Request again after a 401, also with other members in init", async ({ servers, api }) => {
  for (
    const init of [
      undefined,
      { headers: { "X-Test": "init" } },
      { body: "init" },
    ]
  ) {
    servers.revoke();
    const request = new Request(servers.resource, {
      method: "POST",
      body: "request",
      headers: { "X-Test": "request" },
    });
    servers.calls.length = 0;
    const { body } = await jsonOf(api(request, init));
    assertEquals(body, init?.body ?? "request");
    assertEquals(servers.calls.length, 2);
    for (const call of servers.calls) {
      const expected = init?.headers?.["X-Test"] ?? "request";
      assertEquals(call.headers.get("X-Test"), expected);
    }
  }
});

/** Options of a `Request` that is made of a stream. */
function streamed(source: UnderlyingDefaultSource<unknown>): RequestInit {
  const body = new ReadableStream(source, { highWaterMark: 0 });
  return { method: "POST", body, duplex: "half" } as RequestInit;
}

test.beforeSignIn("reads the body of a Request before it sends it, and sends it again after a 401", async ({ servers }) => {
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

test.beforeSignIn("sends the body of a Request with its length", async ({ servers, api }) => {
  const texts = ["a", "", "bc"];
  const init = streamed({
    pull(stream) {
      stream.enqueue(new TextEncoder().encode(texts.shift()));
      if (texts.length === 0) stream.close();
    },
  });
  await eachRowInTurn(
    [
      [new Request(servers.resource, init), "abc"],
      [new Request(servers.resource, { method: "POST", body: "" }), ""],
    ] as const,
    async ([request, expected]) => {
      assertEquals((await jsonOf(api(request))).body, expected);
      const { headers } = servers.calls.at(-1)!;
      assertEquals(headers.get("Content-Length"), String(expected.length));
      assert(request.bodyUsed);
    },
  );
});

test.beforeSignIn("sends a Request again in a browser that has no body of it", async ({ servers, api }) => {
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
    flow: () => Promise.reject(new Error("not called")),
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

Deno.test("createAuthorizedFetch() uses a Request of the npm package undici as it uses others", async () => {
  const make = (url: string, init?: undici.RequestInit): Request =>
    untyped(new undici.Request(url, init));
  const token = { access_token: "t2", token_type: "Bearer" };
  const sent: undici.Request[] = [];
  const passed: unknown[] = [];
  const api = createAuthorizedFetch(MCP, {
    serverMetadata: serverOf(SESSION),
    store: memoryStore(withoutRefresh(SESSION)),
    flow: () => Promise.resolve({ ...SESSION, token }),
    fetch(input, init) {
      if (typeof input !== "string") passed.push(input);
      if (input !== MCP) return Promise.resolve(Response.json({}));
      // As the fetch of the package does; that of the runtime accepts no such Request.
      const request = new undici.Request(input, untyped(init));
      const isAccepted = request.headers.get("Authorization") === "Bearer t2";
      sent.push(request);
      return Promise.resolve(
        isAccepted ? new Response() : new Response(null, { status: 401 }),
      );
    },
  });
  const headers = { "X-Test": "1" };
  const redirect = "manual" as const;
  const init = { method: "PUT", body: "body", headers, redirect };
  assertEquals((await api(make(MCP, init))).status, 200);
  assertEquals(sent.length, 2);
  for (const { method, headers, redirect } of sent) {
    const members = [method, headers.get("X-Test"), redirect];
    assertEquals(members, ["PUT", "1", "manual"]);
  }
  assertEquals(await Promise.all(sent.map((one) => one.text())), [
    "body",
    "body",
  ]);
  // These are passed on as they are.
  const others = [
    make(MCP, { headers: { Authorization: "Basic own" } }),
    make("https://x.example"),
  ];
  for (const other of others) await api(other);
  assertEquals(passed, others);
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

/** A body that is a stream, and counts how often it is read. */
function streamOf(text: string) {
  const state = { pulls: 0 };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.pulls++;
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  }, { highWaterMark: 0 });
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  return { state, init };
}

test.beforeSignIn("renews a missing or expired session before it sends a stream", async ({ servers }) => {
  let now = Date.now();
  const api = fetchAt(servers, { now: () => now });
  for (const grant of ["authorization_code", "refresh_token"]) {
    const { init, state } = streamOf("once");
    servers.requests.length = servers.calls.length = 0;
    assertEquals((await jsonOf(api(servers.resource, init))).body, "once");
    // The first call finds out by a request without a token who issues one.
    const calls = grant === "authorization_code" ? 2 : 1;
    assertEquals([servers.calls.length, state.pulls], [calls, 1]);
    assertEquals(servers.grants(grant).length, 1);
    now += 3_600_000;
  }
});

test("returns the 401 of a stream, and renews before the next one", async ({ servers, api, sent }) => {
  servers.revoke();
  const first = streamOf("once");
  // A Request does not change that, as the stream is not its body.
  const request = new Request(servers.resource, { method: "POST", body: "b" });
  assertEquals(await statusOf(api(request, first.init)), 401);
  assertEquals(first.state.pulls, 1);
  sent({});
  const second = streamOf("again");
  const { body } = await jsonOf(api(servers.resource, second.init));
  assertEquals(body, "again");
  assertEquals(servers.calls.length, 2);
  sent({ refreshes: 1 });
});

test("keeps the session after any other status, for a stream and for signIn()", async ({ servers, api, bearer, call }) => {
  await using other = await startSessionServers();
  const leaving = () => Response.redirect(`${other.resource}/back`, 307);
  other.handler = () => new Response(null, { status: 401 });
  await eachRowInTurn(
    [
      [() => new Response(), 200],
      [() => new Response(null, { status: 403 }), 403],
      [() => new Response(null, { status: 404 }), 404],
      // The 401 of another server, which has not seen the token.
      [leaving, 401],
    ] as const,
    async ([respond, status]) => {
      servers.handler = respond;
      assertEquals(await call(), status);
      servers.handler = () => undefined;
      const stream = await jsonOf(api(servers.resource, streamOf("once").init));
      assertEquals(stream.authorization, bearer);
      const { token } = await within(LIMIT_MS, api.signIn());
      assertEquals(`Bearer ${token.access_token}`, bearer);
    },
  );
  assertEquals(servers.grants("refresh_token").length, 0);
  assertEquals(servers.visits.length, 0);
});

test("finds a session by renew() for the 401 of a stream", async ({ servers, api, bearer, sent }) => {
  servers.revoke();
  const { init } = streamOf("once");
  const response = await within(LIMIT_MS, api(servers.resource, init));
  const renew = () => within(LIMIT_MS, api.renew(response));
  const sessions = await Promise.all([renew(), renew()]);
  await response.body?.cancel();
  assertEquals(sessions[0], sessions[1]);
  assert(bearer !== `Bearer ${sessions[0]!.token.access_token}`);
  // Also a call that comes later does not refresh what has been renewed.
  assertEquals(await renew(), sessions[0]);
  sent({ refreshes: 1 });
  const ok = await within(LIMIT_MS, api(servers.resource));
  await pinRejected(() => api.renew(ok), "invalid_argument");
  await ok.body?.cancel();
});

test("keeps an event stream open while other calls renew", async ({ servers, api }) => {
  let push!: (event: string) => void;
  servers.handler = ({ path }) => {
    if (path !== "/mcp/events") return undefined;
    const body = new ReadableStream<string>({
      start(controller) {
        push = (event) => controller.enqueue(`data: ${event}\n\n`);
        push("1");
      },
    });
    return new Response(body.pipeThrough(new TextEncoderStream()));
  };
  const events = await within(LIMIT_MS, api(`${servers.resource}/events`));
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await within(LIMIT_MS, reader.read())).value, "data: 1\n\n");
  servers.revoke();
  assertEquals(await statusOf(api(servers.resource)), 200);
  servers.revoke(true);
  assertEquals(await statusOf(api(servers.resource)), 200);
  push("2");
  assertEquals((await within(LIMIT_MS, reader.read())).value, "data: 2\n\n");
  await reader.cancel();
});

Deno.test("createAuthorizedFetch() cancels the bodies that it discards", async () => {
  const cancelled: number[] = [];
  const statuses = [401, 307, 200];
  const { api } = resourceFetch(({ url }) => {
    if (url === TOKEN_ENDPOINT) return Response.json({ access_token: "t2" });
    const status = statuses.shift()!;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(8)),
      cancel: () => void cancelled.push(status),
    });
    return new Response(body, { status, headers: { Location: "/mcp/" } });
  });
  const spare = new Request(MCP, { method: "POST", body: "b" });
  const response = await api(spare);
  assertEquals([response.status, statuses], [200, []]);
  assertEquals(cancelled, [401, 307]);
  await response.body!.cancel();
});
