import { assertEquals, assertInstanceOf, assertNotMatch } from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { fetchResourceMetadata, OAuthClientError } from "../../../mod.ts";
import { assertInvalidArgument, MCP, PRM } from "../../support/fixtures.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";

const ok = (resource: unknown) => json({ resource });

Deno.test("fetchResourceMetadata() makes no request to a resourceMetadataUrl of no use", async () => {
  const rows = [
    ...["no URL", "/meta", "file:///etc/passwd", "data:application/json,{}"],
    ...["blob:https://api.example/1", "ftp://api.example/meta"],
    ...["https://user:s3cr3t@api.example/m", "https://:s3cr3t@api.example/m"],
  ];
  for (const named of rows) {
    using server = stubFetch({ [PRM]: ok("https://api.example") });
    const { discoveryUrl, errors } = await fetchResourceMetadata(
      "https://api.example",
      named,
      server,
    );
    assertEquals([discoveryUrl, errors.length], [PRM, 1]);
    const [error] = errors;
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.code, "url_refused");
    assertNotMatch(`${error.message} ${error.url}`, /s3cr3t/);
    assertEquals(server.urls, [PRM]);
  }
});

Deno.test("fetchResourceMetadata() takes null for no options", async () => {
  using server = stubFetch({ [PRM]: ok("https://api.example") });
  using _global = stub(globalThis, "fetch", server.globalFetch);
  const none = untyped(null);
  await fetchResourceMetadata("https://api.example", undefined, none);
  assertEquals(server.urls, [PRM]);
});

Deno.test("fetchResourceMetadata() names an argument that is of no use", async () => {
  const targets = [
    ...[undefined, null, 7, {}, "", "api.example/mcp", "/mcp"],
    ...["ftp://api.example", "https://user@api.example"],
    ...["https://:secret@api.example", new URL(MCP), [MCP]],
    Object.create(null),
  ];
  const rows: [args: unknown[], name: string][] = [
    ...targets.map((target): [unknown[], string] => [
      [target],
      "targetResource",
    ]),
    [[MCP, 7], "resourceMetadataUrl"],
    [[MCP, {}], "resourceMetadataUrl"],
    [[MCP, undefined, "x"], "options"],
    [[MCP, undefined, { fetch: "x" }], "options.fetch"],
    [[MCP, undefined, { fetch: {} }], "options.fetch"],
    [[MCP, undefined, { signal: {} }], "options.signal"],
    [[MCP, undefined, { sameOriginHeaders: "abc" }], "headers"],
  ];
  const asked = () => Promise.reject(new Error("Asked"));
  using global = stub(globalThis, "fetch", asked);
  for (const [args, name] of rows) {
    const error = await assertInvalidArgument(
      () => untyped(fetchResourceMetadata)(...args),
      name,
    );
    assertNotMatch(error.message, /secret/);
  }
  assertSpyCalls(global, 0);
});
