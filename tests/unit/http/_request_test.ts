import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertNotMatch,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { exchange, type IRequest } from "../../../lib/http/_request.ts";
import type { IReply } from "../../../lib/http/_response.ts";
import { type IRequestOptions, OAuthClientError } from "../../../mod.ts";
import {
  type Answer,
  failing,
  never,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const URL_1 = "https://api.example/1";
const URL_2 = "https://api.example/2";
const get = (url: string, headers: Record<string, string> = {}) => ({
  url,
  purpose: "token" as const,
  headers,
});
const post = { ...get(URL_1), body: "x" };
const readText = (reply: IReply) => reply.text();
const ask = (options: IRequestOptions, request: IRequest = get(URL_1)) =>
  exchange(request, options, readText);
const readStatus = (reply: IReply) => Promise.resolve(reply.status);

Deno.test("exchange() makes a GET without a body that follows no redirect by itself", async () => {
  using server = stubFetch({ [URL_1]: text("Hello", 200) });
  assertEquals(await ask(server, get(URL_1, { Accept: "a/b" })), "Hello");
  const { signal, ...init } = server.requests[0]!.init;
  assertEquals(init, {
    method: "GET",
    headers: { Accept: "a/b" },
    redirect: "manual",
  });
  assertInstanceOf(signal, AbortSignal);
});

Deno.test("exchange() makes a POST of a body, an empty one included", async () => {
  for (const body of ["x=1", ""]) {
    using server = stubFetch({ [URL_1]: text("Hello", 200) });
    await ask(server, { ...get(URL_1), body });
    const { signal: _, ...init } = server.requests[0]!.init;
    assertEquals(init, {
      method: "POST",
      headers: {},
      redirect: "manual",
      body,
    });
  }
});

Deno.test("exchange() aborts the request with the caller's reason", async () => {
  const controller = new AbortController();
  const reason = new Error("Enough");
  using server = stubFetch({ [URL_1]: () => untyped(new Promise(() => {})) });
  const ended = assertRejects(() =>
    ask({ fetch: server.fetch, signal: controller.signal })
  );
  controller.abort(reason);
  assertStrictEquals(await ended, reason);
  assertStrictEquals(server.requests[0]?.init.signal?.reason, reason);
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
  const none = new Response("moved", { status: 302 });
  for (const answer of [none, bare]) {
    using server = stubFetch({ [URL_1]: () => answer });
    assertEquals(await ask(server), "moved");
    assertEquals(server.urls, [URL_1]);
  }
});

Deno.test("exchange() takes no 304 for a redirect", async () => {
  const headers = { Location: "/2" };
  const unchanged = new Response(null, { status: 304, headers });
  using server = stubFetch({ [URL_1]: () => unchanged });
  assertEquals(await exchange(get(URL_1), server, readStatus), 304);
  assertEquals(server.urls, [URL_1]);
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

Deno.test("exchange() gives every call of fetch its own headers", async () => {
  const headers = { A: "1" };
  const spoil = (answer: Answer): Answer => (request) => {
    request.init.headers.A = "spoilt";
    return answer(request);
  };
  using server = stubFetch({
    [URL_1]: spoil(redirect("/2")),
    [URL_2]: spoil(text("Hello", 200)),
  });
  await ask(server, get(URL_1, headers));
  assertEquals(server.requests.map(({ headers }) => headers.A), ["1", "1"]);
  assertEquals(headers, { A: "1" });
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

Deno.test("exchange() tells what the cause of a failure says", async () => {
  const rows: [cause: unknown, shown: string][] = [
    [new Error("Cable\u0007 cut"), " (Cable\\u0007 cut)"],
    ["no Error", ""],
    [undefined, ""],
  ];
  for (const [cause, shown] of rows) {
    const failure = new TypeError("fetch failed", { cause });
    using server = stubFetch({ [URL_1]: failing(failure) });
    const error = await assertRejects(() => ask(server), OAuthClientError);
    const told = `TypeError: fetch failed${shown}`;
    assertEquals(error.message, `Request to ${URL_1} failed: ${told}`);
    assertStrictEquals(error.cause, failure);
  }
});

Deno.test("exchange() asks no address but an http or https URL without credentials", async () => {
  const rows: [url: string, shown: string][] = [
    ["", ""],
    ["/1", "/1"],
    ["file:///etc/passwd", "file:///etc/passwd"],
    ["data:application/json,{}", "data:application/json,{}"],
    ["blob:https://api.example/1", "blob:https://api.example/1"],
    ["ftp://user:s3cr3t@api.example/1", "ftp://api.example/1"],
    ["https://user:s3cr3t@api.example/1", URL_1],
    ["https://:s3c@r3t@api.example/1", URL_1],
    ["https:user:s3cr3t@a.example/", "a.example/"],
    ["https:\\\\user:s3cr3t@a.example/", "a.example/"],
    ["https://user:s3/cr3t@a.example/", "https://a.example/"],
    ["no\u0007URL", "no\\u0007URL"],
  ];
  for (const [url, shown] of rows) {
    for (const request of [get(url), { ...post, url }]) {
      using server = stubFetch({});
      const error = await assertRejects(
        () => ask(server, request),
        OAuthClientError,
        `Request to ${shown} not made: expected an http or https URL`,
      );
      assertEquals([error.code, error.url], ["url_refused", undefined]);
      assertNotMatch(error.message, /s3c|r3t/);
      assertEquals(server.urls, []);
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
