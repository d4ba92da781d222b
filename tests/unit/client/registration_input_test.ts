import {
  assertEquals,
  assertInstanceOf,
  assertNotMatch,
  assertRejects,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import { fetchDynamicRegistration, OAuthClientError } from "../../../mod.ts";
import {
  assertInvalidArgument,
  REGISTRATION_ENDPOINT,
  SERVER,
} from "../../support/fixtures.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";

Deno.test("fetchDynamicRegistration() fails where the server has no endpoint", async () => {
  using server = stubFetch({});
  for (const endpoint of [undefined, null, ""]) {
    const metadata = { ...SERVER, registration_endpoint: endpoint };
    const error = await assertRejects(
      () => fetchDynamicRegistration(untyped(metadata), "Client", [], server),
      OAuthClientError,
    );
    assertEquals(error.message, "Server does not support dynamic registration");
    assertEquals(error.code, "unsupported");
  }
  assertEquals(server.urls, []);
});

Deno.test("fetchDynamicRegistration() makes no request to an endpoint of no use", async () => {
  const rows: [endpoint: string, shown: string][] = [
    ["register", "register"],
    ["/register", "/register"],
    ["file:///r", "file:///r"],
    ["data:application/json,{}", "data:application/json,{}"],
    ["https://user:s3cr3t@as.example/register", REGISTRATION_ENDPOINT],
    ["https://:s3cr3t@as.example/register", REGISTRATION_ENDPOINT],
  ];
  for (const [registration_endpoint, shown] of rows) {
    using server = stubFetch({});
    const metadata = { ...SERVER, registration_endpoint };
    const error = await assertRejects(
      () => fetchDynamicRegistration(metadata, "Client", [], server),
      OAuthClientError,
      `Request to ${shown} not made`,
    );
    assertEquals(error.code, "url_refused");
    assertNotMatch(`${error.message} ${error.url}`, /s3cr3t/);
    assertEquals(server.urls, []);
  }
});

Deno.test("fetchDynamicRegistration() takes null for no options", async () => {
  using server = stubFetch({
    [REGISTRATION_ENDPOINT]: json({ client_id: "c1" }),
  });
  using _global = stub(globalThis, "fetch", server.globalFetch);
  await fetchDynamicRegistration(SERVER, "Client", [], untyped(null));
  assertEquals(server.urls, [REGISTRATION_ENDPOINT]);
});

Deno.test("fetchDynamicRegistration() keeps the reason why clientMetadata is no JSON", async () => {
  using server = stubFetch({});
  const clientMetadata = { n: 1n };
  const options = { fetch: server.fetch, clientMetadata };
  const error = await assertRejects(
    () => fetchDynamicRegistration(SERVER, "Client", [], options),
    OAuthClientError,
    "clientMetadata must be fit for JSON",
  );
  assertEquals(error.code, "invalid_argument");
  assertInstanceOf(error.cause, TypeError);
});

Deno.test("fetchDynamicRegistration() names an argument that is of no use", async () => {
  const rows: [args: unknown[], name: string][] = [
    ...[undefined, null, "x", 7].map((server): [unknown[], string] => {
      return [[server, "Client"], "serverMetadata"];
    }),
    [[{ registration_endpoint: 7 }, "Client"], "registration_endpoint"],
    ...[undefined, null, "", 7, {}].map((name): [unknown[], string] => {
      return [[SERVER, name], "clientName"];
    }),
    ...["read", 7, {}, [7], [null]].map((scopes): [unknown[], string] => {
      return [[SERVER, "Client", scopes], "scopes"];
    }),
    ...([
      ["x", "options"],
      [7, "options"],
      [{ fetch: "x" }, "options.fetch"],
      [{ clientUri: "" }, "clientUri"],
      [{ clientUri: 7 }, "clientUri"],
      [{ redirectUris: "http://127.0.0.1/" }, "redirectUris"],
      [{ redirectUris: [7] }, "redirectUris"],
      [{ signal: "x" }, "options.signal"],
      [{ clientMetadata: { n: 1n } }, "clientMetadata"],
      [{ clientMetadata: "abc" }, "clientMetadata"],
      [{ clientMetadata: { toJSON: () => undefined } }, "clientMetadata"],
      [{ clientMetadata: { toJSON: () => "abc" } }, "clientMetadata"],
      [{ clientMetadata: { toJSON: () => null } }, "clientMetadata"],
      [{ clientMetadata: { toJSON: () => [1] } }, "clientMetadata"],
      [{ headers: "abc" }, "headers"],
    ] as const).map(([options, name]): [unknown[], string] => {
      return [[SERVER, "Client", [], options], name];
    }),
  ];
  const asked = () => Promise.reject(new Error("Asked"));
  using global = stub(globalThis, "fetch", asked);
  for (const [args, name] of rows) {
    const error = await assertInvalidArgument(
      () => untyped(fetchDynamicRegistration)(...args),
      name,
    );
    assertNotMatch(error.message, /Client/);
  }
  assertSpyCalls(global, 0);
});
