/** Requests of a page, or of a program, that go on to the API. */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { SessionStore } from "../../../mod.ts";
import {
  createWebSignIn,
  type ForwardOptions,
  forwardRequest,
  type WebSignInOptions,
} from "../../../lib/web/mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { assertRejectsCode } from "../../support/fixtures.ts";
import { FORWARD_ROWS } from "./_forward_rows.ts";
import { ORIGIN, World } from "./_world.ts";

for (const [row, check] of Object.entries(FORWARD_ROWS)) {
  Deno.test(`forward() keeps the row of its page: ${row}`, check);
}

Deno.test("forwardRequest() checks its options", async () => {
  const wrong: Partial<ForwardOptions>[] = [
    { path: "api" },
    { path: "//api" },
    { path: "/a/../b" },
    { path: "/api?a" },
    { url: "ftp://api.example" },
    { url: "https://api.example/v1?a" },
    { url: "https://api.example/v1#a" },
    { headers: "ETag" as unknown as string[] },
  ];
  await eachRowInTurn(wrong, async (options) => {
    const { path = "/api", url = "https://api.example", headers } = options;
    const request = new Request(`${ORIGIN}/api`);
    const never = () => Promise.reject(new Error("sent"));
    await assertRejects(
      () => forwardRequest(request, never, { path, url, headers }),
      Error,
      "must be",
    );
  });
});

Deno.test("createWebSignIn() and forwardRequest() name what a caller has mixed up", async () => {
  const { signIn, options, servers } = new World();
  const storeless = createWebSignIn(servers.resource, {
    ...options,
    storeOf: () => undefined as unknown as SessionStore,
  });
  // A request of Node has its fields in an object.
  const ofNode = { url: "/api", method: "GET", headers: {} } as never;
  const request = new Request(`${ORIGIN}/api`);
  const never = () => Promise.reject(new Error("sent"));
  const calls: [call: () => Promise<unknown>, expected: string][] = [
    [() => signIn.handle(ofNode), "pass webRequestOf(request)"],
    [() => signIn.handle(undefined as never), "request must be"],
    ...[
      () => signIn.login(ofNode),
      () => signIn.loginFor(ofNode, new Response()),
      () => signIn.respond(ofNode, () => Promise.resolve(new Response())),
      () => signIn.callback(ofNode),
      () => signIn.logout({ ...ofNode as object, method: "POST" } as never),
      () => signIn.apiOf(ofNode),
      () => signIn.userOf(ofNode),
      () => signIn.sessionIdOf(ofNode),
    ].map((call): [() => Promise<unknown>, string] => [
      async () => await call(),
      "pass webRequestOf(request)",
    ]),
    [
      () => forwardRequest(ofNode, never, { path: "/api", url: ORIGIN }),
      "pass webRequestOf(request)",
    ],
    [
      () => signIn.forward(request, { paht: "/api" } as never),
      "options.paht is not an option of forward (use path",
    ],
    [() => signIn.forward(request, undefined as never), "options must be"],
    [() => storeless.apiOfSession("id"), "a function that returns a store"],
  ];
  await eachRowInTurn(calls, async ([call, expected]) => {
    const { message } = await assertRejectsCode(call, "invalid_argument");
    assertStringIncludes(message, expected);
  });
});

Deno.test("createWebSignIn() calls storeOf as a method of its options", async () => {
  const { options, servers } = new World();
  let owner: unknown;
  const own: WebSignInOptions = {
    ...options,
    storeOf(id) {
      owner = this;
      return options.storeOf(id);
    },
  };
  const signIn = createWebSignIn(servers.resource, own);
  assertEquals(await signIn.apiOfSession("id"), undefined);
  assert(owner === own);
});

async function callOf(world: World) {
  const browser = world.browser();
  await browser.signIn();
  const Cookie = browser.headers().get("Cookie")!;
  const page = { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty" };
  return async (init: RequestInit = {}) => {
    const headers = { Cookie, ...page, ...init.headers as object };
    const request = new Request(`${ORIGIN}/api/a`, { ...init, headers });
    return (await world.signIn.forward(request, { path: "/api" }))!;
  };
}

Deno.test("forward() sends the user's token, and no cookie", async () => {
  const received: Request[] = [];
  const world = new World({}, {
    handle(request) {
      received.push(request);
      return new Response(null, { headers: { ETag: '"1"' } });
    },
  });
  const call = await callOf(world);
  const fields = { Authorization: "Bearer other" };
  assertEquals((await call({ headers: fields })).headers.get("ETag"), '"1"');
  const [{ headers } = new Request(ORIGIN)] = received;
  const [session] = await world.sessions();
  const token = session!.token!.access_token;
  assertEquals(headers.get("Authorization"), `Bearer ${token}`);
  assertEquals(headers.get("Cookie"), null);
});

Deno.test("forward() passes a request for more scopes to the page, without the challenge", async () => {
  const challenge = 'Bearer error="insufficient_scope", scope="more"';
  const world = new World({}, {
    handle: () =>
      new Response("more", {
        status: 403,
        headers: { "WWW-Authenticate": challenge },
      }),
  });
  const call = await callOf(world);
  const renewals = () =>
    world.servers.received("token", "refresh_token").length;
  for (const init of [{}, { method: "POST", body: "x" }]) {
    const more = await call(init);
    assertEquals([more.status, await more.text()], [403, "more"]);
    assertEquals(more.headers.get("WWW-Authenticate"), null);
  }
  assertEquals([renewals(), world.errors.length], [0, 0]);
});

Deno.test("forward() reports an outage of the server after a stream's 401", async () => {
  const world = new World();
  const call = await callOf(world);
  world.servers.advance(60);
  world.servers.expireAccessTokens();
  world.change = (response, init) =>
    init?.body instanceof URLSearchParams || typeof init?.body === "string"
      ? Promise.reject(new TypeError("fetch failed"))
      : response;
  const response = await call({ method: "POST", body: "x" });
  assertEquals([response.status, world.errors.length], [503, 1]);
});
