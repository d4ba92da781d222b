import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertNotMatch,
  assertRejects,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { fetchResourceMetadata, OAuthClientError } from "../mod.ts";
import { json, stubFetch, untyped } from "./_stub_fetch.ts";

const ROOT = "https://api.example/.well-known/oauth-protected-resource";
const TARGET = "https://api.example/mcp";
const ok = (resource: unknown) => json({ resource });

Deno.test("fetchResourceMetadata() makes no request to a resourceMetadataUrl of no use", async () => {
  const rows = [
    ...["no URL", "/meta", "file:///etc/passwd", "data:application/json,{}"],
    ...["blob:https://api.example/1", "ftp://api.example/meta"],
    ...["https://user:s3cr3t@api.example/m", "https://:s3cr3t@api.example/m"],
  ];
  for (const named of rows) {
    using server = stubFetch({ [ROOT]: ok("https://api.example") });
    const { discoveryUrl, errors } = await fetchResourceMetadata(
      "https://api.example",
      named,
      server,
    );
    assertEquals([discoveryUrl, errors.length], [ROOT, 1]);
    const [error] = errors;
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.code, "url_refused");
    assertNotMatch(`${error.message} ${error.url}`, /s3cr3t/);
    assertEquals(server.urls, [ROOT]);
  }
});

Deno.test("fetchResourceMetadata() takes null for no options", async () => {
  using server = stubFetch({ [ROOT]: ok("https://api.example") });
  using _global = stub(globalThis, "fetch", server.globalFetch);
  const none = untyped(null);
  await fetchResourceMetadata("https://api.example", undefined, none);
  assertEquals(server.urls, [ROOT]);
});

Deno.test("fetchResourceMetadata() names an argument that is of no use", async () => {
  const targets = [
    ...[undefined, null, 7, {}, "", "api.example/mcp", "/mcp"],
    ...["ftp://api.example", "https://user@api.example"],
    ...["https://:secret@api.example", new URL(TARGET), [TARGET]],
    Object.create(null),
  ];
  const rows: [args: unknown[], name: string][] = [
    ...targets.map((target): [unknown[], string] => [
      [target],
      "targetResource",
    ]),
    [[TARGET, 7], "resourceMetadataUrl"],
    [[TARGET, {}], "resourceMetadataUrl"],
    [[TARGET, undefined, "x"], "options"],
    [[TARGET, undefined, { fetch: "x" }], "options.fetch"],
    [[TARGET, undefined, { fetch: {} }], "options.fetch"],
    [[TARGET, undefined, { signal: {} }], "options.signal"],
    [[TARGET, undefined, { sameOriginHeaders: "abc" }], "headers"],
  ];
  const asked = () => Promise.reject(new Error("Asked"));
  using global = stub(globalThis, "fetch", asked);
  for (const [args, name] of rows) {
    const error = await assertRejects(
      () => untyped(fetchResourceMetadata)(...args),
      OAuthClientError,
    );
    assertEquals(error.code, "invalid_argument");
    assert(error.message.startsWith(`${name} must be `), error.message);
    assertNotMatch(error.message, /secret/);
  }
  assertSpyCalls(global, 0);
});
