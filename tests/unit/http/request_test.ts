/** A request sends what its options say, which are checked first. */

import {
  assert,
  assertEquals,
  assertNotMatch,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  fetchAuthorizationServerMetadata,
  fetchDeviceAuthorization,
  fetchDynamicRegistration,
  fetchResourceMetadata,
  publicClient,
  type RequestOptions,
} from "../../../mod.ts";
import { replaceGlobals } from "../../support/globals.ts";
import { cpuTimeMs } from "../../support/cpu_time.ts";
import { errorOf, GET, POST } from "../../support/exchange.ts";
import { API, AS, PRM, SERVER } from "../../support/fixtures.ts";
import {
  failing,
  redirect,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const NEXT = `${API}/next`;

Deno.test("fetchResourceMetadata() makes a GET, fetchToken() a POST", async () => {
  const rows = [
    [GET, { method: "GET", headers: { Accept: "application/json" } }],
    [POST, {
      method: "POST",
      headers: {
        Accept: "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: "code=s3cret-code",
    }],
  ] as const;
  await eachRowInTurn(rows, async ([{ url, good, send }, expected]) => {
    using server = stubFetch({ [url]: good });
    const caller = new AbortController();
    await send({ fetch: server.fetch, signal: caller.signal });
    const { signal, ...init } = server.requests[0]!.init;
    assertEquals(init, { ...expected, redirect: "manual" } as typeof init);
    assert(signal && signal !== caller.signal && !signal.aborted);
  });
});

Deno.test("fetchResourceMetadata() looks up the global fetch at each call", async () => {
  for (let call = 0; call < 2; call++) {
    using server = stubFetch({ [PRM]: GET.good });
    using _global = stub(globalThis, "fetch", server.globalFetch);
    await GET.send();
    assertEquals(server.urls, [PRM]);
  }
});

Deno.test("fetchToken() merges headers by name, whatever their case", async () => {
  const own = {
    Accept: "application/json",
    "Content-Type": "application/x-www-form-urlencoded",
  };
  const rows: [headers: Record<string, string>, merged: unknown][] = [
    [{}, own],
    [{ accept: "a/b", "X-A": "1" }, { ...own, Accept: "a/b", "X-A": "1" }],
    [{ "X-A": "1", "x-a": "2" }, { ...own, "X-A": "2" }],
    [{ "Content-Type": "a/b" }, own],
    [JSON.parse('{"__proto__":"1"}'), {
      ...own,
      ...JSON.parse('{"__proto__":"1"}'),
    }],
    // Fetch removes whitespace at the ends.
    [{ "X-A": " 1\r\n", "X-B": "\u00ff" }, {
      ...own,
      "X-A": " 1\r\n",
      "X-B": "\u00ff",
    }],
  ];
  await eachRowInTurn(rows, async ([headers, merged]) => {
    using server = stubFetch({ [POST.url]: POST.good });
    await POST.send({ fetch: server.fetch, headers });
    const sent = server.requests[0]!.init.headers;
    assertEquals(Object.entries(sent).sort(), Object.entries(merged!).sort());
  });
});

Deno.test("fetchToken() rejects headers that HTTP cannot carry, and does not show them", async () => {
  const rows: unknown[] = [
    { "X-A": "s3cret\r\nX-B: 1" },
    { "X-A": "s3cret\n1" },
    { "X-A": "s3cret\nX-B: 1\n" },
    { "X-A": "s3cret\0" },
    { "X-A": "s3cret\u0100" },
    ...["", "a s3cret", "a: s3cret", "a:", "a\u00ef"].map((name) => ({
      [name]: "s3cret",
    })),
    "s3cret",
    7,
    null,
    [["A", "s3cret"]],
    new Headers({ A: "s3cret" }),
    new Map([["A", "s3cret"]]),
    { A: 1 },
    { A: undefined },
  ];
  await eachRowInTurn(rows, async (headers) => {
    using server = stubFetch({});
    const { fetch } = server;
    const error = await errorOf(
      POST.send({ fetch, headers: untyped(headers) }),
    );
    assertEquals(error.code, "invalid_argument");
    assertNotMatch(pinMessage(error).message, /s3cr/);
  });
});

Deno.test("fetchToken() sends no header of authenticate() that HTTP cannot carry, and does not show it", async () => {
  for (const init of [{}, { headers: { "X-A": "1" } }]) {
    const error = await errorOf(POST.send({
      ...init,
      client: {
        clientId: "c1",
        method: "api_key",
        authenticate: ({ headers }) =>
          void (headers.Authorization = "Bearer s3cret\nkey"),
      },
    }));
    assertEquals(error.code, "invalid_argument");
    assertNotMatch(`${error.message} ${error.cause}`, /s3cr/);
  }
});

Deno.test("fetchToken() checks long header values in linear time", async () => {
  using server = stubFetch({ [POST.url]: POST.good });
  const headers = { "X-A": `x${" ".repeat(300_000)}x` };
  const start = cpuTimeMs();
  await POST.send({ fetch: server.fetch, headers });
  // In quadratic time it is half a minute.
  assert(cpuTimeMs() - start < 2_000);
});

Deno.test("fetchToken() rejects options of the wrong type before any request", async () => {
  const invalid = (name: string, values: unknown[]) =>
    values.map((value): [unknown, string] => [{ [name]: value }, name]);
  const limits = [0, -1, NaN, -Infinity, "10", true, {}, 10n];
  const others = ["x", 7, true, {}];
  const rows: [options: unknown, name: string][] = [
    ...["x", 7, null, () => {}].map((value): [unknown, string] => [value, ""]),
    ...invalid("timeoutMs", limits),
    ...invalid("maxBytes", limits),
    ...["fetch", "allowUrl", "now", "signal", "dpop"]
      .flatMap((name) => invalid(name, others)),
    ...invalid("signal", [new AbortController()]),
  ];
  await eachRowInTurn(rows, async ([options, name]) => {
    using server = stubFetch({});
    const given = options && typeof options === "object"
      ? { fetch: server.fetch, ...options }
      : options;
    const error = await errorOf(POST.send(untyped(given)));
    assertEquals(error.code, "invalid_argument");
    assertStringIncludes(pinMessage(error).message, name);
  });
});

Deno.test("timeoutMs and maxBytes that are null count as absent", async () => {
  using server = stubFetch({ [POST.url]: POST.good });
  const { fetch } = server;
  await POST.send({ fetch, ...untyped({ timeoutMs: null, maxBytes: null }) });
  assertEquals(server.urls, [POST.url]);
});

Deno.test("fetchToken() gives the reason why there was no response, and no secret", async () => {
  const refused = Object.assign(new Error("connect s3cret-code"), {
    code: "ECONNREFUSED",
  });
  const rows: [thrown: unknown, reason: string][] = [
    [new TypeError("Cable\ncut\u0007"), "TypeError: Cable\ncut\ufffd"],
    ["s3cret-code", "[redacted]"],
    [new TypeError("fetch failed", { cause: refused }), "[redacted]: ECONNREF"],
  ];
  await eachRowInTurn(rows, async ([thrown, reason]) => {
    const throwing = () => {
      throw thrown;
    };
    for (const answer of [failing(thrown), throwing]) {
      using server = stubFetch({ [POST.url]: answer });
      const error = await errorOf(POST.send(server));
      assertStringIncludes(pinMessage(error).message, reason);
      assertEquals([error.code, error.url], ["network_error", POST.url]);
      assertStrictEquals(error.cause, thrown);
    }
  });
});

Deno.test("a fetch that returns no response is a network_error", async () => {
  const values = [undefined, null, 42, "Hello", {}, [], () => {}];
  for (const { url, send } of [GET, POST]) {
    for (const value of values) {
      using server = stubFetch({ [url]: () => untyped(value) });
      const { code } = pinMessage(await errorOf(send(server)));
      assertEquals(code, "network_error");
    }
  }
});

Deno.test("fetchResourceMetadata() requests http and https URLs without credentials only", async () => {
  const rows: [url: string, shown: string][] = [
    ["/1", "/1"],
    ["file:///etc/passwd", "file:///etc/passwd"],
    ["data:application/json,{}", "data:application/json,{}"],
    ["ftp://user:s3cr3t@a.example/", "ftp://[redacted]@a.example/"],
    ["https://user:s3cr3t@a.example/", "https://[redacted]@a.example/"],
    ["https:\\\\user:s3cr3t@a.example/", "[redacted]@a.example/"],
    ["no\u0007URL", "no\ufffdURL"],
  ];
  await eachRowInTurn(rows, async ([named, shown]) => {
    const asked: string[] = [];
    using server = stubFetch({ [PRM]: GET.good });
    const { errors } = await fetchResourceMetadata(API, named, {
      fetch: server.fetch,
      allowUrl: ({ href }) => asked.push(href) > 0,
    });
    const expected =
      `Refusing ${shown}: the URL of resource metadata must be ` +
      "an absolute https URL without credentials";
    assertEquals(errors.map(({ message }) => message), [expected]);
    assertEquals([server.urls, asked], [[PRM], [PRM]]);
  });
});

Deno.test("allowUrl is called with the purpose of each request and redirect", async () => {
  const log: string[] = [];
  const server = stubFetch({ [PRM]: redirect("/next") });
  const options: RequestOptions = {
    fetch: (url, init) => {
      log.push(`fetch ${url}`);
      return server.fetch(url, init);
    },
    allowUrl: async (url, purpose) => {
      log.push(`${purpose} ${url.href}`);
      // A copy: the request goes to the URL as it was.
      url.hostname = "evil.example";
      return await Promise.resolve(true);
    },
  };
  const client = publicClient("c1");
  const calls = [
    fetchResourceMetadata(API, undefined, options),
    fetchAuthorizationServerMetadata(AS, options),
    fetchDynamicRegistration(SERVER, "A client", undefined, options),
    fetchDeviceAuthorization(SERVER, { ...options, client }),
    POST.send(options),
  ];
  await Promise.allSettled(calls);
  const expected = [
    ["resource_metadata", PRM],
    ["resource_metadata", NEXT],
    ["authorization_server_metadata", `${AS}/.well-known/openid-configuration`],
    ["registration", `${AS}/register`],
    ["device_authorization", `${AS}/device`],
    ["token", `${AS}/token`],
  ] as const;
  for (const [purpose, url] of expected) {
    const index = log.indexOf(`${purpose} ${url}`);
    assert(index >= 0 && index < log.indexOf(`fetch ${url}`), log.join("\n"));
  }
  const fetches = log.filter((line) => line.startsWith("fetch "));
  assertEquals(log.length, 2 * fetches.length);
});

Deno.test("allowUrl prevents a request, or a redirect, unless it returns true", async () => {
  const thrown = new Error("Why");
  const rows: [deny: () => unknown, cause?: unknown][] = [
    [() => Promise.resolve(false)],
    ...["true", 1, undefined].map((value): typeof rows[number] => [
      () => value,
    ]),
    [() => Promise.reject(thrown), thrown],
  ];
  await eachRowInTurn(rows, async ([deny, cause]) => {
    for (const denied of [PRM, NEXT]) {
      using server = stubFetch({ [PRM]: redirect("/next") });
      const allowUrl = untyped(({ href }: URL) => href !== denied || deny());
      const error = await errorOf(GET.send({ fetch: server.fetch, allowUrl }));
      assertEquals(
        [pinMessage(error).code, error.url, error.cause],
        ["url_refused", denied, cause],
      );
      assertEquals(server.urls, denied === PRM ? [] : [PRM]);
    }
  });
});

Deno.test("fetchToken() says in a page that CORS may have been the reason", async () => {
  const refused = Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }),
  });
  const rows: [globals: string[], thrown: unknown, mayBeCors?: boolean][] = [
    [["document"], new TypeError("Failed to fetch"), true],
    // A worker of a page has no document.
    [["location"], new TypeError("Failed to fetch"), true],
    [[], new TypeError("Failed to fetch")],
    [["document"], new Error("Failed to fetch")],
    // The reason is known.
    [["document"], refused],
  ];
  for (const [globals, thrown, mayBeCors = false] of rows) {
    const named = globals.map((name) => [name, {}]);
    using _globals = replaceGlobals(Object.fromEntries(named));
    using server = stubFetch({ [POST.url]: failing(thrown) });
    const { message } = pinMessage(await errorOf(POST.send(server)));
    assertEquals(message.includes("CORS"), mayBeCors, `${globals}`);
  }
});
