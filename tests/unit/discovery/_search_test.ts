import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { getEventListeners } from "node:events";
import { discover, type IAttempt } from "../../../lib/discovery/_attempts.ts";
import { type IFetchResponse, OAuthClientError } from "../../../mod.ts";
import {
  type Answer,
  failing,
  json,
  minimal,
  never,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const A = "https://a.example/";
const B = "https://b.example/";
const C = "https://c.example/";

/** Attempts that take a document with a truthy `good`. */
function attempts(...urls: string[]): IAttempt<Record<string, unknown>>[] {
  return urls.map((url) => ({
    url,
    headers: { "X-For": url },
    accept: (body) => untyped(body)?.good ? untyped(body) : undefined,
  }));
}

/** The one error of a single attempt that gets this answer. */
async function errorOf(answer: Answer): Promise<Error> {
  using server = stubFetch({ [A]: answer });
  return await assertRejects(
    () => discover("token", attempts(A), server),
    Error,
  );
}

for (let success = 0; success < 3; success++) {
  Deno.test(`discover() gives what attempt ${success + 1} of 3 finds`, async () => {
    const urls = [A, B, C];
    using server = stubFetch(Object.fromEntries(urls.map((url, n) => [
      url,
      n < success ? text(`no ${n}`, 404) : json({ good: `document ${n}` }),
    ])));
    const found = await discover(
      "resource_metadata",
      attempts(...urls),
      server,
    );
    assertEquals(found.metadata, { good: `document ${success}` });
    assertEquals(found.discoveryUrl, urls[success]);
    assertEquals(
      found.errors.map(({ message }) => message),
      urls.slice(0, success).map((url, n) =>
        `Failed to fetch resource metadata from ${url}: 404 no ${n}`
      ),
    );
    assertEquals(server.urls, urls.slice(0, success + 1));
    assertEquals(
      server.requests.map(({ method, headers }) => [method, headers]),
      urls.slice(0, success + 1).map((url) => ["GET", { "X-For": url }]),
    );
  });
}

Deno.test("discover() throws one failure as it is", async () => {
  const failure = new RangeError("Cable cut");
  assertStrictEquals(await errorOf(failing(failure)), failure);
});

Deno.test("discover() throws several failures together", async () => {
  const failure = new RangeError("Cable cut");
  using server = stubFetch({ [A]: failing(failure), [B]: text("Gone", 410) });
  const error = await assertRejects(
    () => discover("resource_metadata", attempts(A, B), server),
    AggregateError,
  );
  assertEquals(
    error.message,
    "Failed to fetch resource metadata from all attempted URLs",
  );
  assertEquals(error.errors.length, 2);
  assertStrictEquals(error.errors[0], failure);
  assertEquals(
    error.errors[1].message,
    `Failed to fetch resource metadata from ${B}: 410 Gone`,
  );
});

Deno.test("discover() wraps what fetch throws that is no Error", async () => {
  for (const thrown of ["cut", 7, null, undefined, { cable: "cut" }]) {
    const error = await errorOf(failing(thrown));
    assertInstanceOf(error, OAuthClientError);
    assertEquals(
      error.message,
      `Request to ${A} failed: ${String(thrown)}`,
    );
    assertEquals([error.code, error.url], ["network_error", A]);
  }
});

Deno.test("discover() counts a reply with another status as a failure", async () => {
  const statuses = [201, 202, 206, 300, 302, 307, 400, 401, 403, 404, 500, 503];
  for (const status of statuses) {
    const error = await errorOf(json({ good: true }, { status }));
    assertInstanceOf(error, OAuthClientError);
    assertEquals(
      error.message,
      `Failed to fetch token from ${A}: ${status} {"good":true}`,
    );
    assertEquals(
      [error.code, error.url, error.status],
      ["unexpected_status", A, status],
    );
  }
  for (const status of [204, 205, 304]) {
    const error = await errorOf(() => new Response(null, { status }));
    assertEquals(error.message, `Failed to fetch token from ${A}: ${status} `);
  }
});

Deno.test("discover() counts a 200 that is not accepted as a failure", async () => {
  const bodies = ["<html>", "", "null", "[1]", "7", '"text"', '{"a":1}', "{"];
  for (const body of bodies) {
    const error = await errorOf(text(body, 200));
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.message, `Failed to fetch token from ${A}: 200 ${body}`);
    assertEquals(
      [error.code, error.url, error.status],
      ["invalid_metadata", A, 200],
    );
  }
});

Deno.test("discover() collects what the judge of a document throws", async () => {
  const details = { url: A, status: 200 };
  const named = new OAuthClientError("identifier_mismatch", "Not me", details);
  const bare = new TypeError("No issuer");
  for (const failure of [named, bare]) {
    const accept = () => {
      throw failure;
    };
    using server = stubFetch({ [A]: json({ a: 1 }), [B]: json({ good: 1 }) });
    const [first] = attempts(A);
    const [second] = attempts(B);
    const found = await discover(
      "token",
      [{ ...first!, accept }, second!],
      server,
    );
    assertEquals(found.errors.length, 1);
    const [error] = found.errors;
    if (failure === named) {
      assertStrictEquals(error, named);
      continue;
    }
    // One that does not name its address comes as the cause of one that does.
    assertInstanceOf(error, OAuthClientError);
    assertEquals([error.code, error.url], ["invalid_metadata", A]);
    assertEquals(error.message, `Failed to fetch token from ${A}: 200 {"a":1}`);
    assertStrictEquals(error.cause, bare);
  }
});

Deno.test("discover() gives the fetch of every attempt its own headers", async () => {
  const headers = { A: "1" };
  const spoil = (answer: Answer): Answer => (request) => {
    request.init.headers.A = "spoilt";
    return answer(request);
  };
  using server = stubFetch({
    [A]: spoil(text("No", 404)),
    [B]: spoil(json({ good: 1 })),
  });
  const shared = attempts(A, B).map((attempt) => ({ ...attempt, headers }));
  await discover("token", shared, server);
  assertEquals(server.requests.map(({ headers }) => headers.A), ["1", "1"]);
  assertEquals(headers, { A: "1" });
});

Deno.test("discover() hands the judge the reply to tell of", async () => {
  using server = stubFetch({ [A]: json({ good: 1 }) });
  const [attempt] = attempts(A);
  const error = await assertRejects(
    () =>
      discover("token", [{
        ...attempt!,
        accept(body, reply) {
          throw reply.error("invalid_metadata", JSON.stringify(body));
        },
      }], server),
    OAuthClientError,
    '{"good":1}',
  );
  assertEquals([error.url, error.status], [A, 200]);
});

Deno.test("discover() puts the status text where a body cannot be read", async () => {
  const consumed = new Response("x", { status: 500, statusText: "Oh dear" });
  await consumed.text();
  const statusText = "Oh dear";
  const rows: [response: IFetchResponse, status: number][] = [
    [consumed, 500],
    [minimal({ status: 404, statusText }), 404],
    [minimal({ status: 200, statusText }), 200],
  ];
  for (const [response, status] of rows) {
    assertEquals(
      (await errorOf(() => response)).message,
      `Failed to fetch token from ${A}: ${status} Oh dear`,
    );
  }
});

Deno.test("discover() shows server text escaped and not all of it", async () => {
  assertEquals(
    (await errorOf(text("a\u001b[31m\tb\n\r\u0085", 400))).message,
    `Failed to fetch token from ${A}: 400 a\\u001b[31m\tb\n\\u000d\\u0085`,
  );
  assertEquals(
    (await errorOf(text("x".repeat(2_001), 400))).message,
    `Failed to fetch token from ${A}: 400 ${"x".repeat(2_000)}…`,
  );
});

Deno.test("discover() counts an answer that is no response as a failure", async () => {
  for (const answer of [undefined, null, {}]) {
    const error = await errorOf(() => untyped(answer));
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.message, `Request to ${A} failed: no response`);
  }
});

Deno.test("discover() names the address it asked, not where a redirect led", async () => {
  using server = stubFetch({
    [A]: redirect("/moved"),
    [`${A}moved`]: json({ good: 1 }),
  });
  const { discoveryUrl } = await discover("token", attempts(A), server);
  assertEquals(discoveryUrl, A);
});

Deno.test("discover() asks nothing once aborted", async () => {
  const reason = { why: "enough" };
  using server = stubFetch({});
  const options = { fetch: server.fetch, signal: AbortSignal.abort(reason) };
  assertStrictEquals(
    await assertRejects(() => discover("token", attempts(A, B), options)),
    reason,
  );
  assertEquals(server.urls, []);
});

Deno.test("discover() ends while fetch hangs, and asks no other address", async () => {
  const controller = new AbortController();
  const reason = new Error("Enough");
  using server = stubFetch({
    [A]: text("No", 404),
    [B]: () => {
      queueMicrotask(() => controller.abort(reason));
      return never();
    },
  });
  const options = { fetch: server.fetch, signal: controller.signal };
  assertStrictEquals(
    await assertRejects(() => discover("token", attempts(A, B, C), options)),
    reason,
  );
  assertEquals(server.urls, [A, B]);
});

Deno.test("discover() ends while a body is read, and asks no other address", async () => {
  const endless = (status: number, abort: () => void) =>
    new Response(
      new ReadableStream({
        pull() {
          abort();
          return never<void>();
        },
      }, { highWaterMark: 0 }),
      { status },
    );
  const minimal = (status: number, abort: () => void) => {
    const read = () => {
      abort();
      return never<string>();
    };
    return { status, statusText: "", json: read, text: read };
  };
  for (const makeReply of [endless, minimal]) {
    for (const status of [200, 404]) {
      const controller = new AbortController();
      const reason = new Error("Enough");
      const abort = () => controller.abort(reason);
      using server = stubFetch({ [A]: () => makeReply(status, abort) });
      const options = { fetch: server.fetch, signal: controller.signal };
      assertStrictEquals(
        await assertRejects(() => discover("token", attempts(A, B), options)),
        reason,
      );
      assertEquals(server.urls, [A]);
    }
  }
});

Deno.test("discover() asks nothing more from any moment of an abort on", async () => {
  const inTime = new Set<number>();
  let tooLate = 0;
  for (let turns = 0; turns < 120; turns++) {
    const controller = new AbortController();
    const reason = new Error("Enough");
    using server = stubFetch({
      [A]: failing(new Error("Cable cut")),
      [B]: text("No", 404),
      [C]: json({ good: 1 }),
    });
    const options = { fetch: server.fetch, signal: controller.signal };
    const end = discover("token", attempts(A, B, C), options)
      .catch((failure) => failure);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    const asked = server.urls.length;
    controller.abort(reason);
    const outcome = await end;
    assertEquals(server.urls.length, asked);
    if (asked < 3) assertStrictEquals(outcome, reason);
    if (outcome === reason) {
      inTime.add(asked);
    } else {
      assertEquals(outcome.metadata, { good: 1 });
      tooLate++;
    }
  }
  // The moments did cover every attempt and the time after the last.
  assertEquals([...inTime], [1, 2, 3]);
  assert(tooLate > 0);
});

Deno.test("discover() leaves no listener on the signal", async () => {
  const { signal } = new AbortController();
  using server = stubFetch({
    [A]: failing(new Error("Cable cut")),
    [B]: text("No", 404),
    [C]: json({ good: 1 }),
  });
  const options = { fetch: server.fetch, signal };
  await discover("token", attempts(A, B, C), options);
  await assertRejects(() => discover("token", attempts(A, B), options));
  assertEquals(getEventListeners(signal, "abort").length, 0);
});
