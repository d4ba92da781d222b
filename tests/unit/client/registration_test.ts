/**
 * A dynamic registration has the body and the header fields of a public native client.
 */

import {
  assertEquals,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  fetchDynamicRegistration,
  type FetchDynamicRegistrationOptions,
} from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import {
  assertRejectsCode,
  REGISTRATION_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const SERVER: Parameters<typeof fetchDynamicRegistration>[0] = {
  registration_endpoint: REGISTRATION_ENDPOINT,
};
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
const DEFAULTS = {
  client_name: "Client",
  client_uri: "https://client.example/",
  grant_types: ["authorization_code", "refresh_token", DEVICE],
  response_types: ["code"],
  redirect_uris: [
    "https://client.example/redirect",
    "https://insiders.client.example/redirect",
    "http://127.0.0.1/",
    "http://127.0.0.1:33418/",
  ],
  token_endpoint_auth_method: "none",
  application_type: "native",
};

const registering = (answer: Answer = json({ client_id: "c1" })) =>
  stubFetch({ [REGISTRATION_ENDPOINT]: answer });

/** Returns the one request of a registration, and the metadata in its body. */
async function requestOf(
  scopes?: string[],
  options?: FetchDynamicRegistrationOptions,
  server = SERVER,
) {
  using stubbed = registering();
  const { fetch, requests } = stubbed;
  const given = { ...options, fetch };
  await fetchDynamicRegistration(server, "Client", scopes, given);
  assertEquals(requests.length, 1);
  const { init, body } = requests[0]!;
  return { init, metadata: JSON.parse(body ?? "") };
}

Deno.test("fetchDynamicRegistration() posts a public native client as JSON", async () => {
  const { init, metadata } = await requestOf();
  const { body, signal, ...rest } = init;
  assertInstanceOf(signal, AbortSignal);
  assertEquals(rest, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    redirect: "manual",
  });
  assertStrictEquals(Object.getPrototypeOf(init.headers), Object.prototype);
  assertEquals(metadata, DEFAULTS);
  assertEquals(body, JSON.stringify(metadata));
});

Deno.test("fetchDynamicRegistration() joins the scopes", async () => {
  const rows: [scopes: string[] | undefined, scope: string | undefined][] = [
    [undefined, undefined],
    [[], ""],
    [[""], ""],
    [["write", "read", "write"], "write read write"],
    [["read", "", "a b"], "read  a b"],
  ];
  await eachRowInTurn(rows, async ([scopes, scope]) => {
    const { metadata } = await requestOf(scopes);
    assertEquals("scope" in metadata, scope !== undefined);
    assertEquals(metadata.scope, scope);
  });
});

Deno.test("fetchDynamicRegistration() filters the grant types of the server in its order", async () => {
  const code = "authorization_code";
  const rows: [listed: unknown, expected: string[]][] = [
    [undefined, DEFAULTS.grant_types],
    ["refresh_token", DEFAULTS.grant_types],
    [[], []],
    [["implicit", "client_credentials"], []],
    [["refresh_token", "implicit", code], ["refresh_token", code]],
    [[DEVICE, 7, "refresh_token", code], [DEVICE, "refresh_token", code]],
  ];
  await eachRowInTurn(rows, async ([listed, expected]) => {
    const server = untyped({ ...SERVER, grant_types_supported: listed });
    const { metadata } = await requestOf([], {}, server);
    assertEquals(metadata.grant_types, expected);
  });
});

Deno.test("fetchDynamicRegistration() sends the URLs and the metadata of the caller", async () => {
  const client_uri = "https://me.example/";
  const redirect_uris = ["http://127.0.0.1:1/cb"];
  const further = { client_uri, application_type: "web", scope: "x", y: [1] };
  type Row = [options: FetchDynamicRegistrationOptions, changes: object];
  const rows: Row[] = [
    [{ clientUri: undefined, redirectUris: undefined }, {}],
    [{ clientUri: client_uri }, { client_uri }],
    [{ clientUri: new URL(client_uri) }, { client_uri }],
    [{ redirectUris: redirect_uris }, { redirect_uris }],
    [
      { redirectUris: [new URL("http://127.0.0.1:1/cb"), "app:/cb"] },
      { redirect_uris: [...redirect_uris, "app:/cb"] },
    ],
    [{ redirectUris: [] }, { redirect_uris: [] }],
    [{ clientUri: "https://a.example", clientMetadata: further }, further],
  ];
  await eachRowInTurn(rows, async ([options, changes]) => {
    const { metadata } = await requestOf(["read"], options);
    assertEquals(metadata, { ...DEFAULTS, scope: "read", ...changes });
  });
});

Deno.test("fetchDynamicRegistration() sends the header fields of the caller and no others", async () => {
  const json = { "Content-Type": "application/json" };
  type Headers = Record<string, string>;
  const rows: [headers: Headers, sent: Headers][] = [
    [{ Authorization: "Bearer t" }, { ...json, Authorization: "Bearer t" }],
    [{ "content-type": "a/b" }, { "Content-Type": "a/b" }],
  ];
  await eachRowInTurn(rows, async ([headers, sent]) => {
    const { init } = await requestOf([], { headers });
    assertEquals(init.headers, sent);
  });
});

Deno.test("fetchDynamicRegistration() returns the body of any 2xx response", async () => {
  const registration = { client_id: "c1", client_secret: "s", other: [1] };
  const answers: Answer[] = [
    json(registration),
    json(registration, { status: 299 }),
    // A minimal response, without a status.
    () => untyped({ ok: true, json: () => Promise.resolve(registration) }),
  ];
  for (const answer of answers) {
    using server = registering(answer);
    const got = await fetchDynamicRegistration(SERVER, "Client", [], server);
    assertEquals<unknown>(got, registration);
  }
});

Deno.test("fetchDynamicRegistration() requires a usable registration_endpoint before any request", async () => {
  const none = "Server does not support dynamic registration";
  const url = "https://user:s3cr3t@as.example/register";
  const shown = "https://[redacted]@as.example/register";
  const refused = (shown: string) =>
    `Refusing ${shown}: the registration_endpoint must be an absolute https ` +
    "URL without credentials";
  const rows: [endpoint: unknown, code: string, message: string][] = [
    [undefined, "unsupported", none],
    [null, "unsupported", none],
    ["", "unsupported", none],
    ["/register", "url_refused", refused("/register")],
    ["file:///r", "url_refused", refused("file:///r")],
    [url, "url_refused", refused(shown)],
  ];
  await eachRowInTurn(rows, async ([registration_endpoint, code, message]) => {
    using server = stubFetch({});
    const metadata = untyped({ registration_endpoint });
    const call = () => fetchDynamicRegistration(metadata, "Client", [], server);
    const error = await assertRejectsCode(call, code);
    assertEquals(error.message, message);
    assertEquals(error.url?.includes("s3cr3t") ?? false, false);
  });
});

Deno.test("fetchDynamicRegistration() treats null as no options", async () => {
  using server = registering();
  using _global = stub(globalThis, "fetch", server.globalFetch);
  await fetchDynamicRegistration(SERVER, "Client", [], untyped(null));
  assertEquals(server.urls, [REGISTRATION_ENDPOINT]);
});

testInvalidArguments(fetchDynamicRegistration, [
  ["registration_endpoint", { registration_endpoint: 7 }, "Client"],
  ["clientName", SERVER, undefined],
  ["clientName", SERVER, {}],
  ["scopes", SERVER, "Client", "read"],
  ["scopes", SERVER, "Client", {}],
  ["scopes", SERVER, "Client", [null]],
  ["options", SERVER, "Client", [], "x"],
  ["clientUri", SERVER, "Client", [], { clientUri: 7 }],
  ["redirectUris", SERVER, "Client", [], { redirectUris: [7] }],
  ["headers", SERVER, "Client", [], { headers: "abc" }],
]);
