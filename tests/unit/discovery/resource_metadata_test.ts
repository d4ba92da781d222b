import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { fetchResourceMetadata, OAuthClientError } from "../../../mod.ts";
import { MCP, PRM } from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  json,
  redirect,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";

const NAMED = "https://api.example/meta?x=1";
const OTHER = "https://OTHER.example:443/Meta";
const AGGREGATE = "Failed to fetch resource metadata from all attempted URLs";
const ok = (resource: unknown) => json({ resource });

/** Target, the URL given, and what is asked, the last time for the origin. */
const ORDER: [target: string, named: string | undefined, urls: string[]][] = [
  ["https://api.example", undefined, [PRM]],
  ["https://api.example/", undefined, [PRM]],
  ["https://API.example:443", "", [PRM]],
  ["https://api.example?q=1", undefined, [PRM]],
  [MCP, undefined, [`${PRM}/mcp`, PRM]],
  ["https://API.example/a/B/?q=1", undefined, [`${PRM}/a/B/`, PRM]],
  ["https://api.example", NAMED, [NAMED, PRM]],
  [MCP, NAMED, [NAMED, `${PRM}/mcp`, PRM]],
  [MCP, OTHER, [OTHER, `${PRM}/mcp`, PRM]],
];

for (const [target, named, urls] of ORDER) {
  const title = named ? `${target} (${named} given)` : target;
  const missing = urls.map((url, n) =>
    `Failed to fetch resource metadata from ${url}: 404 missing ${n}`
  );
  const last = urls.length - 1;
  const documents = urls.map((_, n) => ({
    resource: n < last ? target : "https://api.example",
    scopes_supported: ["read"],
    other: n,
  }));
  const stubWith = (success: number) =>
    stubFetch(Object.fromEntries(urls.map((url, n) => [
      url,
      n < success ? text(`missing ${n}`, 404) : json(documents[n]),
    ])));

  Deno.test(`fetchResourceMetadata() finds ${title} at any attempt`, async () => {
    for (const [success, url] of urls.entries()) {
      using server = stubWith(success);
      const found = await fetchResourceMetadata(target, named, server);
      assertEquals(found.metadata, documents[success]!);
      assertStrictEquals(found.discoveryUrl, url);
      const messages = found.errors.map(({ message }) => message);
      assertEquals(messages, missing.slice(0, success));
      assertEquals(server.urls, urls.slice(0, success + 1));
    }
  });

  Deno.test(`fetchResourceMetadata() fails where nothing finds ${title}`, async () => {
    using server = stubWith(urls.length);
    const error = await assertRejects(
      () => fetchResourceMetadata(target, named, server),
      Error,
    );
    assertEquals(server.urls, urls);
    if (last === 0) {
      assertEquals(error.message, missing[0]);
      return;
    }
    assertInstanceOf(error, AggregateError);
    assertEquals(error.message, AGGREGATE);
    assertEquals(error.errors.map(({ message }) => message), missing);
  });
}

Deno.test("fetchResourceMetadata() compares resources as parsed URLs", async () => {
  const api = "https://api.example";
  const rows: [target: string, resource: unknown, same: boolean][] = [
    [api, "https://api.example/", true],
    [`${api}/`, "https://api.example", true],
    [api, "HTTPS://API.Example:443", true],
    [`${api}:443`, api, true],
    ["http://api.example", "http://api.example:80/", true],
    [api, "https://api.example/mcp", false],
    [api, "http://api.example", false],
    [api, "https://api.example:8443", false],
    [api, "not a URL", false],
    [api, 7, false],
    [api, [api], false],
    [api, { href: api }, false],
  ];
  for (const [target, resource, same] of rows) {
    const url = `${
      new URL(target).origin
    }/.well-known/oauth-protected-resource`;
    using server = stubFetch({ [url]: ok(resource) });
    const result = fetchResourceMetadata(target, undefined, server);
    if (same) {
      assertStrictEquals((await result).metadata.resource, resource);
      continue;
    }
    const error = await assertRejects(() => result, OAuthClientError);
    const shown = JSON.stringify(resource);
    assertStringIncludes(error.message, `value ${shown} does not match`);
    assertStringIncludes(error.message, `"${api}" for URL ${url}.`);
    assertStringIncludes(error.message, "RFC 9728");
    assertStringIncludes(error.message, "the values must match");
    assertEquals(
      [error.code, error.url, error.status],
      ["identifier_mismatch", url, 200],
    );
  }
});

Deno.test("fetchResourceMetadata() compares the path of a target to the letter", async () => {
  const rows: [resource: string, same: boolean][] = [
    ["https://API.example:443/mcp", true],
    ["https://api.example/mcp/", false],
    ["https://api.example/mcp/sub", false],
    ["https://api.example", false],
    ["http://api.example/mcp", false],
    ["https://api.example/mcp?x=1", false],
    ["https://api.example/mcp#x", false],
  ];
  for (const [resource, same] of rows) {
    using server = stubFetch({
      [NAMED]: same ? text("", 404) : ok(resource),
      [`${PRM}/mcp`]: ok(resource),
      [PRM]: ok("https://api.example"),
    });
    const found = await fetchResourceMetadata(MCP, NAMED, server);
    assertEquals(found.discoveryUrl, same ? `${PRM}/mcp` : PRM, resource);
    assertEquals(found.errors.length, same ? 1 : 2);
  }
});

Deno.test("fetchResourceMetadata() wants the origin at the bare well-known path", async () => {
  using server = stubFetch({
    [`${PRM}/mcp`]: text("", 404),
    [PRM]: ok(MCP),
  });
  const { errors } = await assertRejects(
    () => fetchResourceMetadata(MCP, undefined, server),
    AggregateError,
  );
  const problem = `value "${MCP}" does not match`;
  assertStringIncludes(errors[1].message, problem);
});

/** The error of the one attempt at a target without a path. */
async function errorOf(answer: Answer): Promise<Error> {
  using server = stubFetch({ [PRM]: answer });
  return await assertRejects(
    () => fetchResourceMetadata("https://api.example", undefined, server),
    Error,
  );
}

Deno.test("fetchResourceMetadata() refuses a 200 that brings no metadata", async () => {
  const resource = "https://api.example";
  const documents = [
    ...[null, 7, "text", [], [1], {}, { resource: "" }, { resource: null }],
    { resource, scopes_supported: "read" },
  ];
  const consumed = Response.json({ resource });
  await consumed.text();
  const rows: [answer: Answer, shown: string][] = [
    ...documents.map((document): [Answer, string] => {
      return [json(document), JSON.stringify(document)];
    }),
    [json({ client_secret: "s3cr3t" }), '{"client_secret":"[redacted]"}'],
    [text("<html></html>", 200), ""],
    [text("", 200), ""],
    [() => consumed, ""],
  ];
  for (const [answer, shown] of rows) {
    const error = await errorOf(answer);
    assertInstanceOf(error, OAuthClientError);
    assert(
      error.message.startsWith(`Invalid resource metadata from ${PRM}. `),
    );
    assertStringIncludes(error.message, shown);
    assertEquals(
      [error.code, error.url, error.status],
      ["invalid_metadata", PRM, 200],
    );
  }
});

Deno.test("fetchResourceMetadata() collects what fetch throws", async () => {
  const failure = new TypeError("Cable cut");
  assertStrictEquals(await errorOf(failing(failure)), failure);
  assertInstanceOf(await errorOf(failing("cut")), Error);

  const target = "https://api.example";
  using server = stubFetch({ [NAMED]: failing(failure), [PRM]: ok(target) });
  const found = await fetchResourceMetadata(target, NAMED, server);
  assertEquals([found.discoveryUrl, found.errors.length], [PRM, 1]);
  assertStrictEquals(found.errors[0], failure);
});

Deno.test("fetchResourceMetadata() asks for JSON unless sameOriginHeaders say otherwise", async () => {
  type Headers = Record<string, string>;
  const rows: [given: Headers | undefined, sent: Headers][] = [
    [undefined, { Accept: "application/json" }],
    [{ "x-a": "1" }, { Accept: "application/json", "x-a": "1" }],
    [{ Accept: "text/plain" }, { Accept: "text/plain" }],
    [{ accept: "text/plain" }, { Accept: "text/plain" }],
  ];
  for (const [sameOriginHeaders, sent] of rows) {
    using server = stubFetch({ [PRM]: ok("https://api.example") });
    const options = { fetch: server.fetch, sameOriginHeaders };
    await fetchResourceMetadata("https://api.example", undefined, options);
    const { method, redirect, headers, body } = server.requests[0]!.init;
    assertEquals([method, redirect, body], ["GET", "manual", undefined]);
    assertEquals(headers, sent);
  }
});

const SECRET = { Authorization: "Bearer t0k3n" };

Deno.test("fetchResourceMetadata() sends sameOriginHeaders to the target's origin only", async () => {
  const rows: [named: string, same: boolean][] = [
    [NAMED, true],
    ["https://API.example:443/meta", true],
    ["https://other.example/meta", false],
    ["https://api.example:8443/meta", false],
    ["http://api.example/meta", false],
  ];
  for (const [named, same] of rows) {
    using server = stubFetch({
      [named]: text("", 404),
      [`${PRM}/mcp`]: text("", 404),
      [PRM]: ok("https://api.example"),
    });
    const options = { fetch: server.fetch, sameOriginHeaders: SECRET };
    await fetchResourceMetadata(MCP, named, options);
    assertEquals(
      server.requests.map(({ headers }) => "Authorization" in headers),
      [same, true, true],
    );
  }
});

Deno.test("fetchResourceMetadata() follows a redirect within the origin only", async () => {
  using server = stubFetch({
    [NAMED]: redirect("https://evil.example/meta", 307),
    [`${PRM}/mcp`]: redirect("/moved"),
    "https://api.example/moved": ok(MCP),
  });
  const { fetch } = server;
  const options = { fetch, sameOriginHeaders: SECRET };
  const found = await fetchResourceMetadata(MCP, NAMED, options);
  assertEquals(found.discoveryUrl, `${PRM}/mcp`);
  assertEquals(
    found.errors.map(({ message }) => message),
    [`Failed to fetch resource metadata from ${NAMED}: 307 Moved`],
  );
  const moved = server.requests[2];
  assertEquals(moved?.url, "https://api.example/moved");
  assertEquals(moved?.headers, { Accept: "application/json", ...SECRET });
});

Deno.test("fetchResourceMetadata() follows a redirect whose body closes without a promise", async () => {
  const moved = {
    status: 302,
    statusText: "Found",
    headers: new Headers({ Location: "/moved" }),
    body: { cancel() {} },
    json: () => Promise.resolve({}),
    text: () => Promise.resolve(""),
  };
  const target = "https://api.example";
  using server = stubFetch({
    [PRM]: () => moved,
    "https://api.example/moved": ok(target),
  });
  const found = await fetchResourceMetadata(target, undefined, server);
  assertStrictEquals(found.discoveryUrl, PRM);
});

Deno.test("fetchResourceMetadata() stays on the host of a path that begins with //", async () => {
  const target = "https://api.example//evil.example/x";
  using server = stubFetch({
    [`${PRM}//evil.example/x`]: text("", 404),
    [PRM]: ok("https://api.example"),
  });
  const found = await fetchResourceMetadata(target, undefined, server);
  assertEquals(found.discoveryUrl, PRM);
  const hosts = server.urls.map((url) => new URL(url).host);
  assertEquals(hosts, ["api.example", "api.example"]);
});

Deno.test("fetchResourceMetadata() looks the global fetch up at each call", async () => {
  for (const name of ["first", "second"]) {
    const document = { resource: "https://api.example", resource_name: name };
    using server = stubFetch({ [PRM]: json(document) });
    using global = stub(globalThis, "fetch", server.globalFetch);
    const found = await fetchResourceMetadata("https://api.example", undefined);
    assertEquals(found.metadata.resource_name, name);
    assertSpyCalls(global, 1);
  }
});

Deno.test("fetchResourceMetadata() ends with the reason of an abort", async () => {
  const { answer, signal, reason } = aborted();
  using server = stubFetch({
    [NAMED]: answer,
  });
  const options = { fetch: server.fetch, signal };
  // The second call finds the signal aborted already.
  for (let call = 0; call < 2; call++) {
    assertStrictEquals(
      await assertRejects(() => fetchResourceMetadata(MCP, NAMED, options)),
      reason,
    );
    assertEquals(server.urls, [NAMED]);
  }
});
