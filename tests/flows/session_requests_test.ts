/** Which requests carry the token, and what reaches the resource, over real sockets. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  createAuthorizedFetch,
  createDpop,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import {
  type ISessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { AS, MCP, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { redirection, resourceFetch, SESSION } from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { fetchAt, signedIn, test } from "./_session_world.ts";

/** Waits for a response, and returns the JSON in its body. */
async function jsonOf(response: Promise<Response>) {
  return await (await within(LIMIT_MS, response)).json();
}

/** Makes a resource that answers every request, and redirects `/mcp/go/<status>`. */
function redirectTo(servers: ISessionServers, location: () => string): void {
  servers.handler = ({ path, body, method, headers }) => {
    const status = Number(/^\/mcp\/go\/(\d+)$/.exec(path)?.[1]);
    if (status) {
      return new Response(null, {
        status,
        headers: { Location: location() },
      });
    }
    return Response.json({ method, body, type: headers.get("Content-Type") });
  };
}

Deno.test("createAuthorizedFetch() sends the token to the resource and below it only", async () => {
  await using servers = await startSessionServers();
  await using other = await startSessionServers();
  const { api, bearer } = await signedIn(servers);
  const port = new URL(servers.origin).port;
  servers.handler = other.handler = () => new Response();
  for (
    const [url, isSent] of [
      [servers.resource, true],
      [`${servers.resource}/`, true],
      [`${servers.resource}?q#f`, true],
      [`${servers.resource}/a/b`, true],
      [`${servers.resource}/../mcp/a`, true],
      [`${servers.resource}s`, false],
      [`${servers.resource}/../other`, false],
      [`${servers.resource}/%2e%2e/other`, false],
      [`${servers.origin}/MCP`, false],
      [servers.origin, false],
      [`http://localhost:${port}/mcp`, false],
      [other.resource, false],
    ] as const
  ) {
    servers.calls.length = other.calls.length = 0;
    assertEquals(await statusOf(api(url)), 200, url);
    const [call] = [...servers.calls, ...other.calls];
    assertEquals(call!.authorization, isSent ? bearer : null, url);
  }
});

Deno.test("createAuthorizedFetch() passes requests for other URLs untouched, and their 401 back", async () => {
  await using servers = await startSessionServers();
  const inputs: unknown[][] = [];
  const api = createAuthorizedFetch(MCP, {
    authorize: servers.flow(),
    fetch: (...args) => {
      inputs.push(args);
      return Promise.resolve(new Response(null, { status: 401 }));
    },
  });
  const init = { method: "POST", body: "b", headers: { Authorization: "own" } };
  const request = new Request("https://api.example/other");
  assertEquals((await api(MCP, init)).status, 401);
  assertEquals((await api(request)).status, 401);
  assertEquals(servers.visits.length, 0);
  assert(inputs[0]![1] === init && inputs[1]![0] === request);
});

test("leaves an Authorization of the caller alone", async ({ servers, api, sent }) => {
  const { resource } = servers;
  const headers = { authorization: "Basic b3du" };
  for (
    const call of [
      () => api(resource, { headers }),
      () => api(new Request(resource, { headers })),
      () => api(new Request(resource), { headers }),
    ]
  ) {
    servers.calls.length = 0;
    assertEquals(await statusOf(call()), 401);
    assertEquals(servers.calls.map((one) => one.authorization), ["Basic b3du"]);
  }
  sent({});
});

Deno.test("createAuthorizedFetch() follows redirects with the token within the resource, and without it elsewhere", async () => {
  await using servers = await startSessionServers();
  await using other = await startSessionServers();
  other.handler = () => new Response("other");
  const { api, bearer } = await signedIn(servers);
  let location = "";
  redirectTo(servers, () => location);
  for (
    const [target, at, expected] of [
      [`${servers.resource}/there`, servers, bearer],
      ["/mcp/there", servers, bearer],
      ["/elsewhere", servers, null],
      [other.resource, other, null],
    ] as const
  ) {
    location = target;
    for (const status of [301, 302, 303, 307, 308]) {
      servers.calls.length = other.calls.length = 0;
      const headers = { Cookie: "c=1" };
      const call = api(`${servers.resource}/go/${status}`, { headers });
      assertEquals(await statusOf(call), 200);
      assertEquals(servers.calls[0]!.authorization, bearer);
      const last = at.calls.at(-1)!;
      assertEquals(last.authorization, expected, `${target} ${status}`);
      assertEquals(last.headers.get("Cookie"), at === other ? null : "c=1");
    }
  }
  assertEquals(servers.visits.length, 0);
});

Deno.test("createAuthorizedFetch() sends no token again after a redirect to another origin, and renews nothing", async () => {
  await using servers = await startSessionServers();
  await using other = await startSessionServers();
  other.handler = () => Response.redirect(`${servers.resource}/back`, 307);
  const { api, bearer } = await signedIn(servers);
  let location = other.resource;
  redirectTo(servers, () => location);
  const { handler } = servers;
  servers.handler = (received) =>
    received.path.endsWith("/back")
      ? new Response(null, { status: 401 })
      : handler(received);
  assertEquals(await statusOf(api(`${servers.resource}/go/307`)), 401);
  assertEquals(other.calls.map((one) => one.authorization), [null]);
  assertEquals(servers.calls.map((one) => one.authorization), [bearer, null]);
  assertEquals([servers.visits, servers.grants("refresh_token")], [[], []]);

  // The next call has the token, also after a redirect within the origin.
  servers.calls.length = 0;
  location = `${servers.resource}/there`;
  assertEquals(await statusOf(api(`${servers.resource}/go/307`)), 200);
  const sent = servers.calls.map((one) => one.authorization);
  assertEquals(sent, [bearer, bearer]);
});

Deno.test("createAuthorizedFetch() sends no DPoP proof after a redirect to another origin", async () => {
  const dpop = await createDpop();
  const { thumbprint: dpopThumbprint } = dpop;
  const token = { access_token: "a1", token_type: "DPoP" };
  const { api, received } = resourceFetch(
    ({ url }) =>
      url === MCP
        ? redirection(`${AS}/`)
        : url === `${AS}/`
        ? redirection(`${MCP}/back`)
        : new Response(null, { status: 401 }),
    {
      dpop,
      store: memoryStore({ ...SESSION, token, dpopThumbprint }),
    },
  );
  assertEquals((await api(MCP)).status, 401);
  const sent = received.map(({ headers }) => headers.has("DPoP"));
  assertEquals(sent, [true, false, false]);
});

test("keeps or drops method and body in a redirect as fetch does", async ({ servers, api }) => {
  redirectTo(servers, () => `${servers.resource}/there`);
  const init = {
    method: "POST",
    body: "b",
    headers: { "Content-Type": "text/x" },
  };
  const dropped = { method: "GET", body: "", type: null };
  const kept = { method: "POST", body: "b", type: "text/x" };
  for (const status of [301, 302, 303, 307, 308]) {
    const url = `${servers.resource}/go/${status}`;
    const expected = status < 304 ? dropped : kept;
    assertEquals(await jsonOf(fetch(url, init)), expected);
    assertEquals(await jsonOf(api(url, init)), expected);
    const request = new Request(url, init);
    assertEquals(await jsonOf(api(request)), expected);
  }
});

test("renews after a 401 behind a redirect", async ({ servers, api, bearer }) => {
  servers.handler = ({ path }) =>
    path === "/mcp"
      ? Response.redirect(`${servers.resource}/`, 307)
      : undefined;
  servers.revoke();
  const init = { method: "POST", body: "b" };
  const { method, body, authorization } = await jsonOf(
    api(servers.resource, init),
  );
  assertEquals([method, body], ["POST", "b"]);
  assert(authorization !== bearer);
});

test("fails for redirects that cannot be followed", async ({ servers, api }) => {
  let location = `${servers.resource}/go/307`;
  redirectTo(servers, () => location);
  const url = `${servers.resource}/go/307`;
  const rejects = async (init: RequestInit, message: string) => {
    const error = await assertRejects(
      () => within(LIMIT_MS, api(url, init)),
      OAuthClientError,
    );
    assertEquals([error.code, error.url], ["redirect_refused", url]);
    assert(error.message.endsWith(message), error.message);
  };
  await rejects({}, "more than 20 times");
  const body = new Blob(["b"]).stream();
  const stream = { method: "POST", body, duplex: "half" } as RequestInit;
  await rejects(stream, "its body is a stream");
  location = "data:text/plain,x";
  await rejects({}, "invalid or hidden by this runtime");
});

test("leaves redirects to a caller who handles them", async ({ servers, api }) => {
  redirectTo(servers, () => "/elsewhere");
  const url = `${servers.resource}/go/302`;
  assertEquals(await statusOf(api(url, { redirect: "manual" })), 302);
  const request = new Request(url, { redirect: "manual" });
  assertEquals(await statusOf(api(request)), 302);
  await assertRejects(
    () => within(LIMIT_MS, api(url, { redirect: "error" })),
    TypeError,
  );
});

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

Deno.test("createAuthorizedFetch() renews a missing or expired session before it sends a stream", async () => {
  await using servers = await startSessionServers();
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

Deno.test("createAuthorizedFetch() keeps the session after any other status, for a stream and for authorize()", async () => {
  await using servers = await startSessionServers();
  await using other = await startSessionServers();
  const { api, bearer } = await signedIn(servers);
  const leaving = () => Response.redirect(`${other.resource}/back`, 307);
  other.handler = () => new Response(null, { status: 401 });
  for (
    const [respond, status] of [
      [() => new Response(), 200],
      [() => new Response(null, { status: 403 }), 403],
      [() => new Response(null, { status: 404 }), 404],
      // The 401 of another server, which has not seen the token.
      [leaving, 401],
    ] as const
  ) {
    servers.handler = respond;
    assertEquals(await statusOf(api(servers.resource)), status);
    servers.handler = () => undefined;
    const stream = await jsonOf(api(servers.resource, streamOf("once").init));
    assertEquals(stream.authorization, bearer);
    const { token } = await within(LIMIT_MS, api.authorize());
    assertEquals(`Bearer ${token.access_token}`, bearer);
  }
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
  await assertRejects(
    () => api.renew(ok),
    OAuthClientError,
    "response must be",
  );
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
