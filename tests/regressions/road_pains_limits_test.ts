/** What people suffer from silent and hostile servers; the numbers are ROAD.md's. */

import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { MetadataSearch } from "../../lib/discovery/_search.ts";
import {
  discoverAuthorization,
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
  fetchDeviceAuthorization,
  fetchToken,
  type IRequestOptions,
  OAuthClientError,
  pollDeviceToken,
  publicClient,
  registerClient,
} from "../../mod.ts";
import {
  API,
  AS,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  OAUTH,
  OPENID,
  PRM,
  REGISTRATION_ENDPOINT,
  SERVER,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import {
  type Answer,
  json,
  never,
  redirect,
  stubFetch,
} from "../support/stub_fetch.ts";

const client = publicClient("c1");

/** Every network call, the address it asks first, and what for. */
const CALLS: [
  name: string,
  url: string,
  purpose: string,
  call: (options: IRequestOptions) => Promise<unknown>,
][] = [
  [
    "fetchToken",
    TOKEN_ENDPOINT,
    "token",
    (options) =>
      fetchToken(SERVER, new URLSearchParams(), { ...options, client }),
  ],
  [
    "fetchDeviceAuthorization",
    DEVICE_AUTHORIZATION_ENDPOINT,
    "device_authorization",
    (options) => fetchDeviceAuthorization(SERVER, { ...options, client }),
  ],
  [
    "registerClient",
    REGISTRATION_ENDPOINT,
    "registration",
    (options) => registerClient(SERVER, {}, options),
  ],
  [
    "fetchAuthorizationServerMetadata",
    OAUTH,
    "authorization_server_metadata",
    (options) => fetchAuthorizationServerMetadata(AS, options),
  ],
  [
    "discoverAuthorizationServer",
    OAUTH,
    "authorization_server_metadata",
    (options) => discoverAuthorizationServer(AS, options),
  ],
  [
    "discoverAuthorization",
    PRM,
    "resource_metadata",
    (options) => discoverAuthorization(API, options),
  ],
];

for (const [name, url, purpose, call] of CALLS) {
  Deno.test(`${name}() ends by itself, and at once, at a server that hangs (pain 8)`, async () => {
    const answers: Answer[] = [
      () => never(),
      () => new Response(new ReadableStream()),
    ];
    for (const answer of answers) {
      // Any other address that is asked after the time-out fails the test.
      using server = stubFetch({ [url]: answer });
      const error = await assertRejects(
        () => call({ fetch: server.fetch, timeoutMs: 5 }),
        OAuthClientError,
      );
      assertEquals([error.code, error.url], ["timeout", url]);
      assertEquals(server.urls, [url]);
    }
  });

  Deno.test(`${name}() asks allowUrl before it asks a server (pain 9)`, async () => {
    const asked: string[][] = [];
    const allowUrl: IRequestOptions["allowUrl"] = ({ href }, purpose) => {
      asked.push([href, purpose]);
      return false;
    };
    using server = stubFetch({});
    const error = await call({ fetch: server.fetch, allowUrl })
      .catch((error) => error);
    const [first] = error instanceof AggregateError ? error.errors : [error];
    assertInstanceOf(first, OAuthClientError);
    const isSearch = first.code === "discovery_failed";
    const failure = isSearch ? first.attempts?.[0]?.error : first;
    assertInstanceOf(failure, OAuthClientError);
    assertEquals([failure.code, failure.url], ["url_refused", url]);
    assertEquals(asked[0], [url, purpose]);
    assertEquals(server.urls, []);
  });

  Deno.test(`${name}() reads no endless body (pain 9)`, async () => {
    let pulls = 0;
    const endless = () =>
      new ReadableStream({
        pull(stream) {
          pulls++;
          stream.enqueue(new Uint8Array(8));
        },
      }, { highWaterMark: 0 });
    using server = stubFetch({ [url]: () => new Response(endless()) });
    const rest = () => Promise.resolve(new Response("", { status: 404 }));
    const fetch: IRequestOptions["fetch"] = (asked, init) =>
      asked === url ? server.fetch(asked, init) : rest();
    const error = await call({ fetch, maxBytes: 20 }).catch((error) => error);
    const [first] = error instanceof AggregateError ? error.errors : [error];
    const { attempts } = first;
    const failure = attempts ? attempts[0].error : first;
    assertInstanceOf(failure, OAuthClientError);
    assertEquals([failure.code, failure.url], ["response_too_large", url]);
    assertEquals(pulls, 3);
  });
}

Deno.test("a search notes the time-out that ended it (pain 8)", async () => {
  const target = new URL(`${API}/mcp`);
  using server = stubFetch({ [`${PRM}/mcp`]: () => never() });
  const { fetch } = server;
  const search = new MetadataSearch({ fetch, timeoutMs: 5 });
  const error = await assertRejects(
    () =>
      search.findResource(target, {
        resourceMetadataUrl: undefined,
        resourceMatch: undefined,
        headers: undefined,
      }),
    OAuthClientError,
  );
  assertEquals(error.code, "timeout");
  assertEquals(search.attempts, [{ url: `${PRM}/mcp`, error }]);
});

Deno.test("discovery ends at the first time-out, whatever failed before (pain 8)", async () => {
  using server = stubFetch({
    [OAUTH]: () => new Response("", { status: 404 }),
    [OPENID]: () => never(),
  });
  const error = await assertRejects(
    () =>
      fetchAuthorizationServerMetadata(AS, {
        fetch: server.fetch,
        timeoutMs: 5,
      }),
    OAuthClientError,
  );
  assertEquals([error.code, error.url], ["timeout", OPENID]);
  assertEquals(server.urls, [OAUTH, OPENID]);
});

Deno.test("pollDeviceToken() goes on after a time-out, and waits longer (pain 8)", async () => {
  const answers: Answer[] = [
    () => never(),
    json({ access_token: "t", token_type: "Bearer" }),
  ];
  using server = stubFetch({
    [TOKEN_ENDPOINT]: (request) => answers.shift()!(request),
  });
  const waits: number[] = [];
  const codes: unknown[] = [];
  const token = await pollDeviceToken(SERVER, {
    ...DEVICE_AUTHORIZATION,
    expires_at: 600,
  }, {
    client,
    fetch: server.fetch,
    timeoutMs: 5,
    now: () => 0,
    delay(milliseconds) {
      waits.push(milliseconds);
      return Promise.resolve();
    },
    onPending: ({ error }) => codes.push(error?.code),
  });
  assertEquals(token.access_token, "t");
  assertEquals([waits, codes], [[5_000, 10_000], ["timeout"]]);
});

Deno.test("discoverAuthorization() asks allowUrl before every hop, with its purpose (pain 9)", async () => {
  const asked: string[][] = [];
  using server = stubFetch({
    [PRM]: redirect("/prm.json"),
    [`${API}/prm.json`]: json({ resource: API, authorization_servers: [AS] }),
    [OAUTH]: redirect("/internal"),
    [OPENID]: json({ issuer: AS }),
  });
  const found = await discoverAuthorization(API, {
    fetch: server.fetch,
    allowUrl({ href, pathname }, purpose) {
      asked.push([href, purpose]);
      return pathname !== "/internal";
    },
  });
  const purposes = ["resource_metadata", "authorization_server_metadata"];
  assertEquals(asked, [
    [PRM, purposes[0]],
    [`${API}/prm.json`, purposes[0]],
    [OAUTH, purposes[1]],
    [`${AS}/internal`, purposes[1]],
    [OPENID, purposes[1]],
  ]);
  assertEquals(
    found.attempts.map(({ error }) => (error as OAuthClientError)?.code),
    [undefined, "url_refused", undefined],
  );
});
