import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { getEventListeners } from "node:events";
import {
  exchange,
  type IRequest,
  mergeHeaders,
  requireOptions,
} from "../lib/_http.ts";
import type { IReply } from "../lib/_reply.ts";
import {
  type IFetchResponse,
  type IRequestOptions,
  OAuthClientError,
} from "../mod.ts";
import {
  failing,
  json,
  never,
  redirect,
  stubFetch,
  text,
  untyped,
} from "./_stub_fetch.ts";

const URL_1 = "https://api.example/1";
const URL_2 = "https://api.example/2";
const get = (url: string, headers: Record<string, string> = {}) => ({
  url,
  headers,
});
const post = { url: URL_1, headers: {}, body: "x" };
const REASONS = [new Error("Enough"), "enough", { why: "enough" }, 0];
const readText = (reply: IReply) => reply.text();
const ask = (options: IRequestOptions, request: IRequest = get(URL_1)) =>
  exchange(request, options, readText);
const readStatus = (reply: IReply) => Promise.resolve(reply.status);

Deno.test("mergeHeaders() lets the later of two same names win", () => {
  type Source = Record<string, string> | undefined;
  const rows: [sources: Source[], merged: unknown][] = [
    [[], {}],
    [[undefined], {}],
    [[{ A: "1" }, undefined, { B: "2" }], { A: "1", B: "2" }],
    [[{ A: "1" }, { A: "2" }], { A: "2" }],
    [[{ Accept: "1" }, { accept: "2" }], { Accept: "2" }],
    [[{ A: "1" }, { a: "2", "X-B": "3" }], { A: "2", "X-B": "3" }],
    [[{ "X-A": "1", "x-a": "2" }], { "X-A": "2" }],
  ];
  for (const [sources, expected] of rows) {
    assertEquals(mergeHeaders(...sources), expected);
  }
});

Deno.test("mergeHeaders() gives a plain object and leaves its sources alone", () => {
  const first = JSON.parse('{"__proto__":"x"}');
  const second = { accept: "2" };
  const merged = mergeHeaders({ Accept: "1" }, first, second);
  assertEquals(Object.keys(merged), ["Accept", "__proto__"]);
  assertStrictEquals(Object.getPrototypeOf(merged), Object.prototype);
  assertEquals(second, { accept: "2" });
});

Deno.test("exchange() makes a GET without a body that follows no redirect by itself", async () => {
  using server = stubFetch({ [URL_1]: text("Hello", 200) });
  assertEquals(await ask(server, get(URL_1, { Accept: "a/b" })), "Hello");
  assertEquals(server.requests[0]?.init, {
    method: "GET",
    headers: { Accept: "a/b" },
    redirect: "manual",
  });
});

Deno.test("exchange() makes a POST of a body, an empty one included", async () => {
  for (const body of ["x=1", ""]) {
    using server = stubFetch({ [URL_1]: text("Hello", 200) });
    await ask(server, { ...get(URL_1), body });
    assertEquals(server.requests[0]?.init, {
      method: "POST",
      headers: {},
      redirect: "manual",
      body,
    });
  }
});

Deno.test("exchange() hands the caller's signal on", async () => {
  const { signal } = new AbortController();
  using server = stubFetch({ [URL_1]: text("", 200) });
  await ask({ fetch: server.fetch, signal });
  assertStrictEquals(server.requests[0]?.init.signal, signal);
});

Deno.test("exchange() looks the global fetch up at each call without the option", async () => {
  const answers: string[] = [];
  for (const answer of ["first", "second"]) {
    using server = stubFetch({ [URL_1]: text(answer, 200) });
    using global = stub(globalThis, "fetch", server.globalFetch);
    answers.push(await ask({}));
    assertSpyCalls(global, 1);
    using other = stubFetch({ [URL_1]: text("option", 200) });
    assertEquals(await ask(other), "option");
    assertSpyCalls(global, 1);
  }
  assertEquals(answers, ["first", "second"]);
});

Deno.test("exchange() follows a redirect within its origin, headers and all", async () => {
  const absolute = [URL_2, "https://API.example:443/2", "//api.example/2"];
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of ["/2", "2", ...absolute]) {
      using server = stubFetch({
        [URL_1]: redirect(location, status),
        [URL_2]: text("Hello", 200),
      });
      const headers = { Authorization: "Bearer t" };
      assertEquals(await ask(server, get(URL_1, headers)), "Hello");
      assertEquals(server.urls, [URL_1, URL_2]);
      assertEquals(server.requests[1]?.init, server.requests[0]?.init);
    }
  }
});

Deno.test("exchange() hands any other redirect over as a reply", async () => {
  const rows: [location: string, status: number][] = [
    ["https://evil.example/2", 302],
    ["//evil.example/2", 302],
    ["https://api.example.evil.example/2", 302],
    ["https://api.example:8443/2", 302],
    ["http://api.example/2", 302],
    ["data:application/json,{}", 302],
    ["https://[", 302],
    ["/2", 300],
    ["/2", 201],
    ["/2", 404],
  ];
  for (const [location, status] of rows) {
    using server = stubFetch({ [URL_1]: redirect(location, status) });
    assertEquals(await exchange(get(URL_1), server, readStatus), status);
    assertEquals(server.urls, [URL_1]);
  }
});

Deno.test("exchange() hands a redirect without Location or headers over", async () => {
  const bare = {
    status: 302,
    statusText: "Found",
    json: () => Promise.resolve(),
    text: () => Promise.resolve("moved"),
  };
  for (const answer of [new Response("moved", { status: 302 }), bare]) {
    using server = stubFetch({ [URL_1]: () => answer });
    assertEquals(await ask(server), "moved");
    assertEquals(server.urls, [URL_1]);
  }
});

Deno.test("exchange() follows five redirects and not a sixth", async () => {
  const at = (n: number) => `https://api.example/${n}`;
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, n) => [at(n), redirect(at(n + 1))]),
    );
  using enough = stubFetch({ ...chain(5), [at(5)]: text("There", 200) });
  assertEquals(await ask(enough, get(at(0))), "There");
  assertEquals(enough.urls, [0, 1, 2, 3, 4, 5].map(at));

  using tooLong = stubFetch(chain(9));
  assertEquals(await exchange(get(at(0)), tooLong, readStatus), 302);
  assertEquals(tooLong.urls, [0, 1, 2, 3, 4, 5].map(at));
});

Deno.test("exchange() follows no redirect of a POST", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    using server = stubFetch({ [URL_1]: redirect("/2", status) });
    assertEquals(await exchange(post, server, readStatus), status);
    assertEquals(server.urls, [URL_1]);
  }
});

Deno.test("exchange() closes the reply of a redirect that it follows", async () => {
  const moved = await redirect("/2")(untyped({}));
  using server = stubFetch({
    [URL_1]: () => moved,
    [URL_2]: text("Hello", 200),
  });
  await ask(server);
  assert((moved as Response).bodyUsed);
});

Deno.test("exchange() tells of the address asked first in a reply's errors", async () => {
  using server = stubFetch({ [URL_1]: redirect("/2"), [URL_2]: text("", 410) });
  const read = async (reply: IReply) =>
    await reply.error("unexpected_status", "Gone");
  const error = await exchange(get(URL_1), server, read);
  assertEquals([error.url, error.status], [URL_1, 410]);
});

Deno.test("exchange() reports a fetch that throws, with what it threw", async () => {
  const cause = new TypeError("Cable\ncut\u0007");
  const rows: [thrown: unknown, shown: string][] = [
    [cause, "TypeError: Cable\ncut\\u0007"],
    ["a string", "a string"],
    [7, "7"],
    [null, "null"],
  ];
  for (const [thrown, shown] of rows) {
    const throwing = () => {
      throw thrown;
    };
    for (const fetch of [() => Promise.reject(thrown), throwing]) {
      const error = await assertRejects(() => ask({ fetch }), OAuthClientError);
      assertEquals(error.message, `Request to ${URL_1} failed: ${shown}`);
      assertEquals([error.code, error.url], ["network_error", URL_1]);
      assertStrictEquals(error.cause, thrown);
    }
  }
});

Deno.test("exchange() reports a fetch that answers with no response", async () => {
  for (const answer of [undefined, null, {}, "ok", 200]) {
    using server = stubFetch({ [URL_1]: () => untyped(answer) });
    const error = await assertRejects(
      () => exchange(get(URL_1), server, () => never()),
      OAuthClientError,
      `Request to ${URL_1} failed: no response`,
    );
    assertEquals(error.code, "network_error");
  }
});

Deno.test("exchange() asks nothing once aborted, whatever the reason", async () => {
  for (const reason of REASONS) {
    using server = stubFetch({});
    const signal = AbortSignal.abort(reason);
    const options = { fetch: server.fetch, signal };
    assertStrictEquals(await assertRejects(() => ask(options)), reason);
    assertEquals(server.urls, []);
  }
});

Deno.test("exchange() ends with the reason though fetch ignores the signal", async () => {
  for (const reason of REASONS) {
    const controller = new AbortController();
    const fetch = () => {
      queueMicrotask(() => controller.abort(reason));
      return never<IFetchResponse>();
    };
    const options = { fetch, signal: controller.signal };
    assertStrictEquals(await assertRejects(() => ask(options)), reason);
  }
});

Deno.test("exchange() ends with the reason when fetch fails for the abort", async () => {
  for (const request of [get(URL_1), post]) {
    const controller = new AbortController();
    const { signal } = controller;
    const fetch = () => {
      const { promise, reject } = Promise.withResolvers<IFetchResponse>();
      signal.addEventListener("abort", () => reject(new Error("Aborted")));
      queueMicrotask(() => controller.abort("enough"));
      return promise;
    };
    assertEquals(
      await assertRejects(() => ask({ fetch, signal }, request)),
      "enough",
    );
  }
});

Deno.test("exchange() closes a reply that comes after the abort", async () => {
  const controller = new AbortController();
  const cancelled = Promise.withResolvers<string>();
  const late = Promise.withResolvers<IFetchResponse>();
  const options = { fetch: () => late.promise, signal: controller.signal };
  const ended = assertRejects(() => ask(options));
  controller.abort("enough");
  assertEquals(await ended, "enough");
  const cancel = () => cancelled.resolve("cancelled");
  late.resolve(new Response(new ReadableStream({ cancel })));
  assertEquals(await cancelled.promise, "cancelled");
});

Deno.test("exchange() follows no redirect that comes after the abort", async () => {
  const controller = new AbortController();
  using server = stubFetch({
    [URL_1]: (request) => {
      queueMicrotask(() => controller.abort("enough"));
      return redirect("/2")(request);
    },
    [URL_2]: text("Hello", 200),
  });
  const options = { fetch: server.fetch, signal: controller.signal };
  assertEquals(await assertRejects(() => ask(options)), "enough");
  // Lets whatever the redirect may still set going happen.
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  assertEquals(server.urls, [URL_1]);
});

Deno.test("exchange() leaves no listener on the signal", async () => {
  const { signal } = new AbortController();
  using server = stubFetch({
    [URL_1]: json({}),
    [URL_2]: failing(new Error("Cable cut")),
  });
  const options = { fetch: server.fetch, signal };
  let during = 0;
  await exchange(get(URL_1), options, (reply) => {
    during = getEventListeners(signal, "abort").length;
    return reply.text();
  });
  assertEquals(during, 1);
  await assertRejects(() => ask(options, get(URL_2)));
  await assertRejects(() =>
    exchange(get(URL_1), options, () => Promise.reject(new Error("No")))
  );
  assertEquals(getEventListeners(signal, "abort").length, 0);
});

Deno.test("requireOptions() hands options on and makes some of nothing", () => {
  const options = { fetch: () => never<IFetchResponse>() };
  assertStrictEquals(requireOptions(options), options);
  assertEquals(requireOptions(undefined), {});
  assertEquals(requireOptions({ fetch: undefined }), { fetch: undefined });
});

Deno.test("requireOptions() names what has the wrong type", () => {
  const rows: [options: unknown, message: string][] = [
    ["x", "options must be an object"],
    [7, "options must be an object"],
    [true, "options must be an object"],
    [() => {}, "options must be an object"],
    [{ fetch: "x" }, "options.fetch must be a function"],
    [{ fetch: {} }, "options.fetch must be a function"],
  ];
  for (const [options, message] of rows) {
    const error = assertThrows(
      () => requireOptions(untyped(options)),
      OAuthClientError,
    );
    assertEquals([error.code, error.message], ["invalid_argument", message]);
  }
});
