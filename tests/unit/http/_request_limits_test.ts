import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import { exchange } from "../../../lib/http/_request.ts";
import type { IReply } from "../../../lib/http/_response.ts";
import {
  type IFetchInit,
  type IFetchResponse,
  type IRequestOptions,
  OAuthClientError,
} from "../../../mod.ts";
import {
  type Answer,
  deferred,
  failing,
  never,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const URL_1 = "https://api.example/1";
const URL_2 = "https://api.example/2";
const purpose = "token" as const;
const GET = { url: URL_1, purpose, headers: {} };
const POST = { ...GET, body: "x" };
const ask = (options: IRequestOptions, request: typeof GET = GET) =>
  exchange(request, options, (reply) => reply.text());

/** Fails unless the failure is a time-out of this address. */
function assertTimeout(failure: unknown, timeoutMs = 5) {
  assertInstanceOf(failure, OAuthClientError);
  assertEquals(
    { ...failure, message: failure.message as string },
    {
      name: "OAuthClientError",
      code: "timeout",
      url: URL_1,
      message:
        `Request to ${URL_1} got no complete reply within ${timeoutMs} ms`,
    },
  );
}

/** Notes the timers that are set and cleared until it is disposed. */
function watchTimers() {
  const { setTimeout, clearTimeout } = globalThis;
  const set: [id: unknown, milliseconds: unknown][] = [];
  const cleared: unknown[] = [];
  const setting = stub(
    globalThis,
    "setTimeout",
    untyped((task: () => void, milliseconds: number) => {
      const id = setTimeout(task, milliseconds);
      set.push([id, milliseconds]);
      return id;
    }),
  );
  const clearing = stub(
    globalThis,
    "clearTimeout",
    untyped((id: number | undefined) => {
      cleared.push(id);
      clearTimeout(id);
    }),
  );
  return {
    set,
    cleared,
    [Symbol.dispose]() {
      setting[Symbol.dispose]();
      clearing[Symbol.dispose]();
    },
  };
}

/** Lets whatever is still going on come to its end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

Deno.test("exchange() ends on time though fetch ignores its signal", async () => {
  for (const request of [GET, POST]) {
    using server = stubFetch({ [URL_1]: () => never() });
    const options = { fetch: server.fetch, timeoutMs: 5 };
    const failure = await assertRejects(() => ask(options, request));
    assertTimeout(failure);
    assertStrictEquals(server.requests[0]?.init.signal?.reason, failure);
  }
});

Deno.test("exchange() tells of the time-out though fetch fails by it", async () => {
  const fetch = (_url: string, { signal }: IFetchInit) => {
    const { promise, reject } = deferred<IFetchResponse>();
    signal?.addEventListener("abort", () => reject(new Error("Aborted")));
    return promise;
  };
  assertTimeout(await assertRejects(() => ask({ fetch, timeoutMs: 5 })));
});

Deno.test("exchange() closes a reply that comes after the time-out", async () => {
  const late = deferred<IFetchResponse>();
  const cancelled = deferred<string>();
  const options = { fetch: () => late.promise, timeoutMs: 5 };
  assertTimeout(await assertRejects(() => ask(options)));
  const cancel = () => cancelled.resolve("cancelled");
  late.resolve(new Response(new ReadableStream({ cancel })));
  assertEquals(await cancelled.promise, "cancelled");
});

Deno.test("exchange() follows no redirect that comes after the time-out", async () => {
  const late = deferred<IFetchResponse>();
  using server = stubFetch({
    [URL_1]: () => late.promise,
    [URL_2]: text("Hello", 200),
  });
  const options = { fetch: server.fetch, timeoutMs: 5 };
  assertTimeout(await assertRejects(() => ask(options)));
  late.resolve(
    new Response(null, { status: 302, headers: { Location: "/2" } }),
  );
  await settle();
  assertEquals(server.urls, [URL_1]);
});

Deno.test("exchange() ends on time when a body stalls, and closes it", async () => {
  const reads = [
    (reply: IReply) => reply.text(),
    (reply: IReply) => reply.json(),
  ];
  for (const read of reads) {
    const cancelled = deferred<string>();
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('{"a":')),
      cancel: () => cancelled.resolve("cancelled"),
    });
    using server = stubFetch({ [URL_1]: () => new Response(body) });
    const options = { fetch: server.fetch, timeoutMs: 5 };
    assertTimeout(await assertRejects(() => exchange(GET, options, read)));
    assertEquals(await cancelled.promise, "cancelled");
  }
});

Deno.test("exchange() ends on time when a minimal reply stalls", async () => {
  const read = () => never<string>();
  const minimal = { status: 200, statusText: "OK", json: read, text: read };
  using server = stubFetch({ [URL_1]: () => minimal });
  const options = { fetch: server.fetch, timeoutMs: 5 };
  assertTimeout(await assertRejects(() => ask(options)));
});

Deno.test("exchange() asks nothing that allowUrl allows after the time-out", async () => {
  const allowed = deferred<boolean>();
  using server = stubFetch({ [URL_1]: text("Hello", 200) });
  const { fetch } = server;
  const options = { fetch, timeoutMs: 5, allowUrl: () => allowed.promise };
  assertTimeout(await assertRejects(() => ask(options)));
  allowed.resolve(true);
  await settle();
  assertEquals(server.urls, []);
});

Deno.test("exchange() has one timer for all redirects, of 10 s without the option", async () => {
  const rows: [timeoutMs: number | undefined, set: number][] = [
    [undefined, 10_000],
    [7_000, 7_000],
    [0.5, 0.5],
    [2 ** 31 - 1, 2 ** 31 - 1],
  ];
  for (const [timeoutMs, set] of rows) {
    using server = stubFetch({
      [URL_1]: redirect("/2"),
      [URL_2]: text("Hello", 200),
    });
    using timers = watchTimers();
    await ask({ fetch: server.fetch, timeoutMs });
    assertEquals(timers.set.map(([, milliseconds]) => milliseconds), [set]);
  }
});

Deno.test("exchange() sets no timer that no timer can hold", async () => {
  for (const timeoutMs of [Infinity, 2 ** 31, Number.MAX_VALUE]) {
    using server = stubFetch({ [URL_1]: text("Hello", 200) });
    using timers = watchTimers();
    assertEquals(await ask({ fetch: server.fetch, timeoutMs }), "Hello");
    assertEquals(timers.set, []);
  }
});

Deno.test("exchange() clears its timer however it ends", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const rows: [answer: Answer, options?: IRequestOptions][] = [
    [text("Hello", 200)],
    [redirect("https://evil.example/")],
    [failing(new Error("Cable cut"))],
    [text("Hello", 200), { allowUrl: () => false }],
    [text("x".repeat(9), 200), { maxBytes: 8 }],
    [() => never(), { timeoutMs: 5 }],
    [() => {
      queueMicrotask(() => controller.abort("enough"));
      return never();
    }, { signal }],
  ];
  for (const [answer, options] of rows) {
    const { fetch } = stubFetch({ [URL_1]: answer });
    using timers = watchTimers();
    await ask({ fetch, ...options }).catch(() => {});
    assertEquals(timers.set.length, 1);
    assertEquals(timers.cleared, [timers.set[0]?.[0]]);
  }
  assert(signal.aborted);
});

Deno.test("exchange() hands fetch a signal of its own", async () => {
  const { signal } = new AbortController();
  const rows = [{}, { signal }, { timeoutMs: Infinity }];
  for (const options of rows) {
    using server = stubFetch({ [URL_1]: text("Hello", 200) });
    await ask({ fetch: server.fetch, ...options });
    const given = server.requests[0]?.init.signal;
    assert(given && given !== signal);
    // An exchange that is over aborts nothing.
    assert(!given.aborted);
  }
});

Deno.test("exchange() asks allowUrl before the request and every redirect", async () => {
  for (const isAsync of [false, true]) {
    const log: string[] = [];
    const noting = (answer: Answer): Answer => (request) => {
      log.push(`fetch ${request.url}`);
      return answer(request);
    };
    using server = stubFetch({
      [URL_1]: noting(redirect("/2")),
      [URL_2]: noting(text("Hello", 200)),
    });
    const allowUrl: IRequestOptions["allowUrl"] = (url, purpose) => {
      assertInstanceOf(url, URL);
      log.push(`${purpose} ${url.href}`);
      // A caller's own copy: the request goes where it went.
      url.hostname = "evil.example";
      return isAsync ? Promise.resolve(true) : true;
    };
    assertEquals(await ask({ fetch: server.fetch, allowUrl }), "Hello");
    assertEquals(log, [
      `token ${URL_1}`,
      `fetch ${URL_1}`,
      `token ${URL_2}`,
      `fetch ${URL_2}`,
    ]);
  }
});

/** Every way in which allowUrl does not say true. */
const DENIALS: [allowUrl: () => unknown, problem: string, cause?: unknown][] = [
  ...[false, undefined, null, 1, "true", {}].flatMap((answer) =>
    [() => answer, () => Promise.resolve(answer)].map((
      allowUrl,
    ): [() => unknown, string] => [allowUrl, "refused by allowUrl"])
  ),
  [
    () => {
      throw "thrown";
    },
    "allowUrl failed",
    "thrown",
  ],
  [() => Promise.reject("rejected"), "allowUrl failed", "rejected"],
];

Deno.test("exchange() makes no request that allowUrl does not allow", async () => {
  for (const [deny, problem, cause] of DENIALS) {
    for (const request of [GET, POST]) {
      using server = stubFetch({});
      const allowUrl = deny as () => boolean;
      const options = { fetch: server.fetch, allowUrl };
      const error = await assertRejects(
        () => ask(options, request),
        OAuthClientError,
      );
      assertEquals(
        error.message,
        `Request to ${URL_1} not made: ${problem}`,
      );
      assertEquals([error.code, error.url], ["url_refused", URL_1]);
      assertEquals(error.cause, cause);
      assertEquals(server.urls, []);
    }
  }
});

Deno.test("exchange() follows no redirect that allowUrl does not allow", async () => {
  for (const [deny, problem, cause] of DENIALS) {
    using server = stubFetch({ [URL_1]: redirect("/2") });
    const allowUrl = (({ href }: URL) => href === URL_1 || deny()) as (
      url: URL,
    ) => boolean;
    const error = await assertRejects(
      () => ask({ fetch: server.fetch, allowUrl }),
      OAuthClientError,
    );
    assertEquals(error.message, `Request to ${URL_2} not made: ${problem}`);
    assertEquals([error.code, error.url], ["url_refused", URL_2]);
    assertEquals(error.cause, cause);
    assertEquals(server.urls, [URL_1]);
  }
});

Deno.test("exchange() asks allowUrl about no address that it refuses itself", async () => {
  const asked: string[] = [];
  const allowUrl = ({ href }: URL) => asked.push(href) > 0;
  using server = stubFetch({ [URL_1]: redirect("https://evil.example/") });
  const options = { fetch: server.fetch, allowUrl };
  assertEquals(await ask(options), "Moved");
  const file = { ...GET, url: "file:///etc/passwd" };
  await assertRejects(() => ask(options, file), OAuthClientError);
  assertEquals(asked, [URL_1]);
});
