/**
 * Metadata of a resource is searched in order, and is that of the URL which was
 * requested.
 */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import { fetchResourceMetadata, OAuthClientError } from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import { API, MCP, PRM } from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  redirect,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const NAMED = `${API}/meta?x=1`;
const OTHER = "https://OTHER.example:443/Meta";
const ok = (resource: unknown) => json({ resource });

/** Target, the URL of the challenge, and the URLs that are requested. */
const ORDER: [
  target: string | URL,
  named: string | URL | undefined,
  urls: string[],
][] = [
  [API, undefined, [PRM]],
  [`${API}/`, undefined, [PRM]],
  ["https://API.example:443", "", [PRM]],
  [`${API}?q=1`, undefined, [PRM]],
  [MCP, undefined, [`${PRM}/mcp`, PRM]],
  [new URL(MCP), new URL(NAMED), [NAMED, `${PRM}/mcp`, PRM]],
  ["https://API.example/a/B/?q=1", undefined, [`${PRM}/a/B/`, PRM]],
  [API, NAMED, [NAMED, PRM]],
  [MCP, OTHER, [OTHER, `${PRM}/mcp`, PRM]],
  // A path that begins with `//` stays on the host.
  [`${API}//evil.example/x`, undefined, [`${PRM}//evil.example/x`, PRM]],
];

for (const [target, named, urls] of ORDER) {
  Deno.test(`fetchResourceMetadata() requests ${target} in order, named ${named}`, async () => {
    for (let success = 0; success <= urls.length; success++) {
      const documents = urls.map((_, n) => ({
        // The last document is that of the origin.
        resource: n < urls.length - 1 ? String(target) : API,
        other: n,
      }));
      using server = stubFetch(Object.fromEntries(urls.map((url, n) => [
        url,
        n < success ? text(`missing ${n}`, 404) : json(documents[n]),
      ])));
      const result = fetchResourceMetadata(target, named, server);
      const missing = urls.slice(0, success).map((url, n) =>
        `Failed to fetch resource metadata from ${url}: 404 missing ${n}`
      );
      if (success < urls.length) {
        const { metadata, discoveryUrl, errors } = await result;
        assertEquals(metadata, documents[success]!);
        assertStrictEquals(discoveryUrl, urls[success]);
        assertEquals(errors.map(({ message }) => message), missing);
      } else if (urls.length === 1) {
        await assertRejects(() => result, OAuthClientError, missing[0]);
      } else {
        const error = await assertRejects(
          () => result,
          AggregateError,
          "Failed to fetch resource metadata from all attempted URLs",
        );
        assertEquals(error.errors.map(({ message }) => message), missing);
      }
      assertEquals(server.urls, urls.slice(0, success + 1));
    }
  });
}

Deno.test("fetchResourceMetadata() compares resources as parsed URLs", async () => {
  const rows: [target: string, resource: unknown, same: boolean][] = [
    [API, `${API}/`, true],
    [`${API}/`, API, true],
    [API, "HTTPS://API.Example:443", true],
    [`${API}:443`, API, true],
    [API, MCP, false],
    [API, "http://api.example", false],
    [API, "https://api.example:8443", false],
    [API, "not a URL", false],
    [API, 7, false],
    [API, [API], false],
    [MCP, "https://API.example:443/mcp", true],
    [MCP, `${MCP}/`, false],
    [MCP, `${MCP}/sub`, false],
    [MCP, API, false],
    [MCP, `${MCP}?x=1`, false],
    [MCP, `${MCP}#x`, false],
  ];
  for (const [target, resource, same] of rows) {
    const url = target === MCP ? `${PRM}/mcp` : PRM;
    using server = stubFetch({ [PRM]: text("", 404), [url]: ok(resource) });
    const result = fetchResourceMetadata(target, undefined, server);
    if (same) {
      assertStrictEquals((await result).metadata.resource, resource);
      continue;
    }
    const thrown = await assertRejects(() => result, Error);
    const error = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
    const expected = target === MCP ? MCP : API;
    const value = typeof resource === "string" ? resource : typeof resource;
    assertEquals(
      error.message,
      `Resource metadata 'resource' property value "${value}" does not match ` +
        `expected value "${expected}" for URL ${url}. Per RFC 9728, section ` +
        "3.3, the values must match",
    );
    assertEquals(
      [error.code, error.url, error.status],
      ["identifier_mismatch", url, 200],
    );
  }
});

/** The error of the one attempt at a target without a path. */
async function errorOf(answer: Answer): Promise<Error> {
  using server = stubFetch({ [PRM]: answer });
  return await assertRejects(
    () => fetchResourceMetadata(API, undefined, server),
    Error,
  );
}

Deno.test("fetchResourceMetadata() rejects a 200 without metadata", async () => {
  const documents = [
    ...[null, 7, "text", [], {}, { resource: "" }, { resource: null }],
    { resource: API, scopes_supported: "read" },
  ];
  const rows: [answer: Answer, shown: string][] = [
    ...documents.map((
      one,
    ): [Answer, string] => [json(one), JSON.stringify(one)]),
    [json({ client_secret: "s3cr3t" }), '{"client_secret":"[redacted]"}'],
    [text("<html></html>", 200), ""],
    [text("", 200), ""],
  ];
  await eachRowInTurn(rows, async ([answer, shown]) => {
    const error = await errorOf(answer);
    assertInstanceOf(error, OAuthClientError);
    assert(error.message.startsWith(`Invalid resource metadata from ${PRM}. `));
    assertStringIncludes(error.message, shown);
    assertEquals(
      [error.code, error.url, error.status],
      ["invalid_metadata", PRM, 200],
    );
  });
});

Deno.test("fetchResourceMetadata() sends sameOriginHeaders to the target's origin only", async () => {
  const sameOriginHeaders = { Authorization: "Bearer t0k3n" };
  const rows: [named: string, same: boolean][] = [
    [NAMED, true],
    ["https://API.example:443/meta", true],
    ["https://other.example/meta", false],
    ["https://api.example:8443/meta", false],
    ["http://api.example/meta", false],
  ];
  await eachRowInTurn(rows, async ([named, same]) => {
    using server = stubFetch({
      [named]: redirect("https://evil.example/meta", 307),
      [`${PRM}/mcp`]: redirect("/moved"),
      [`${API}/moved`]: ok(MCP),
    });
    const { fetch } = server;
    const options = { fetch, sameOriginHeaders };
    const found = await fetchResourceMetadata(MCP, named, options);
    assertEquals(
      server.requests.map(({ headers }) => "Authorization" in headers),
      [same, true, true],
    );
    // A redirect is followed within the origin; the URL is that of the request.
    assertEquals(found.discoveryUrl, `${PRM}/mcp`);
    assertEquals(
      found.errors.map(({ message }) => message),
      [`Failed to fetch resource metadata from ${named}: 307 Moved`],
    );
  });
});

testInvalidArguments(fetchResourceMetadata, [
  ...[undefined, 7, {}, "", "api.example/mcp", "/mcp", "ftp://api.example"]
    .map((target): [string, unknown] => ["targetResource", target]),
  ["targetResource", "https://:s3cret@api.example"],
  ["resourceMetadataUrl", MCP, 7],
  ["resourceMetadataUrl", MCP, {}],
  ["options", MCP, undefined, "x"],
  ["headers", MCP, undefined, { sameOriginHeaders: "abc" }],
]);
