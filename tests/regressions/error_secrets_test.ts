/** No error tells what its request kept to itself, whatever a server repeats. */

import { assertEquals, assertInstanceOf } from "@std/assert";
import {
  buildAuthorizationCodeBody,
  createDpop,
  discoverAuthorization,
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
  fetchDynamicRegistration,
  fetchResourceMetadata,
  fetchToken,
  type IFetch,
  OAuthClientError,
  registerClient,
} from "../../mod.ts";
import { AS, MCP, SERVER } from "../support/fixtures.ts";
import { untyped } from "../support/stub_fetch.ts";

const TOKEN = "ab/cd+ef-hdr-t0ken==";
const HEADERS = { Authorization: `Bearer ${TOKEN}` };

/** All that an error tells, the errors within it and its stack included. */
function allOf(error: unknown, seen = new Set<unknown>()): string {
  if (typeof error !== "object" || error === null) return String(error);
  if (seen.has(error)) return "";
  seen.add(error);
  const { message = "", stack = "", cause, errors } = untyped(error);
  return [
    message,
    stack,
    JSON.stringify(error),
    ...[cause, ...(errors ?? []), ...Object.values(error)]
      .map((one) => allOf(one, seen)),
  ].join("\n");
}

/** What a server says that repeats the request, and the status it says it with. */
const ECHOES: Record<string, (headers: string) => Response> = {
  "in a text of 401": (headers) => new Response(headers, { status: 401 }),
  "in an error of 400": (headers) =>
    Response.json({ error: "x", error_description: headers }, { status: 400 }),
  "in an error of 401 as PHP writes it": (headers) =>
    new Response(
      JSON.stringify({ error: "x", error_description: headers })
        .replaceAll("/", "\\/"),
      { status: 401 },
    ),
  "in an error of 200": (headers) =>
    Response.json({ error: "x", error_description: headers }),
  "in JSON of another kind": (headers) => Response.json({ [headers]: headers }),
  "in the identifier": (headers) =>
    Response.json({ resource: `${AS}/${headers}`, issuer: `${AS}/${headers}` }),
  "in an endpoint": (headers) =>
    Response.json({
      issuer: AS,
      resource: MCP,
      authorization_servers: [AS],
      token_endpoint: `ftp://evil.example/${headers}`,
    }),
  "behind 1,990 characters": (headers) =>
    new Response(" ".repeat(1_990) + headers, { status: 400 }),
};

const CALLS: Record<string, (fetch: IFetch) => Promise<unknown>> = {
  "fetchResourceMetadata()": (fetch) =>
    fetchResourceMetadata(MCP, undefined, {
      fetch,
      sameOriginHeaders: HEADERS,
    }),
  "fetchAuthorizationServerMetadata()": (fetch) =>
    fetchAuthorizationServerMetadata(AS, { fetch, additionalHeaders: HEADERS }),
  "discoverAuthorization()": (fetch) =>
    discoverAuthorization(MCP, {
      fetch,
      sameOriginHeaders: HEADERS,
      additionalHeaders: HEADERS,
    }),
  "discoverAuthorizationServer()": (fetch) =>
    discoverAuthorizationServer(AS, { fetch, additionalHeaders: HEADERS }),
  "fetchDynamicRegistration()": (fetch) =>
    fetchDynamicRegistration(SERVER, "Test", undefined, {
      fetch,
      headers: HEADERS,
    }),
  "registerClient()": (fetch) =>
    registerClient(SERVER, {}, { fetch, headers: HEADERS }),
  "fetchToken()": (fetch) =>
    fetchToken(SERVER, new URLSearchParams({ a: "1" }), {
      fetch,
      headers: HEADERS,
    }),
};

for (const [name, call] of Object.entries(CALLS)) {
  for (const [echo, answer] of Object.entries(ECHOES)) {
    Deno.test(`${name} shows none of the caller's header that a server repeats ${echo}`, async () => {
      const fetch: IFetch = (_url, { headers }) =>
        Promise.resolve(answer(String(headers.Authorization)));
      // Some answers are good ones to some calls; then the attempts may tell.
      const result = untyped(await call(fetch).catch((error) => error));
      const told = result instanceof Error
        ? allOf(result)
        : allOf(result.errors ?? result.attempts);
      assertEquals(told.includes("hdr-t0ken"), false, told);
      assertEquals(told.includes("ab/cd+"), false, told);
    });
  }

  Deno.test(`${name} refuses a header that HTTP cannot carry, and does not show it`, async () => {
    const before = HEADERS.Authorization;
    for (const value of [`Bearer ${TOKEN}\nx`, `Bearer ${TOKEN}\u20ac`]) {
      HEADERS.Authorization = value;
      try {
        const error = await call(() => Promise.reject(new Error("Asked")))
          .catch((error) => error);
        assertInstanceOf(error, OAuthClientError);
        assertEquals(error.code, "invalid_argument");
        assertEquals(allOf(error).includes("t0ken"), false);
      } finally {
        HEADERS.Authorization = before;
      }
    }
  });
}

Deno.test("fetchToken() takes a header value with a line break at its end", async () => {
  const { access_token } = await fetchToken(SERVER, new URLSearchParams(), {
    headers: { Authorization: `Bearer ${TOKEN}\r\n` },
    fetch: () => Promise.resolve(Response.json({ access_token: "t" })),
  });
  assertEquals(access_token, "t");
});

Deno.test("fetchToken() shows no code that comes back as the type of a token", async () => {
  const body = buildAuthorizationCodeBody({
    code: "c0de-s3cret/+=x",
    redirectUri: "http://127.0.0.1/",
    codeVerifier: "v".repeat(43),
  });
  const error = await fetchToken(SERVER, body, {
    dpop: await createDpop(),
    fetch: () =>
      Promise.resolve(
        Response.json({
          access_token: "t",
          token_type: "code c0de-s3cret/+=x",
        }),
      ),
  }).catch((error) => error);
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.code, "invalid_response");
  assertEquals(allOf(error).includes("s3cret"), false);
});

Deno.test("registerClient() shows no secret of a registration that is of no use", async () => {
  const bodies = [
    { clientSecret: "issued-1" },
    { registration_access_token: "issued-1" },
    "client_secret=issued-1&x=1",
    JSON.stringify({ client_secret: "abc/issued-1" }).replace("/", "\\/"),
  ];
  for (const body of bodies) {
    const error = await registerClient(SERVER, {}, {
      fetch: () => Promise.resolve(Response.json(body)),
    }).catch((error) => error);
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.code, "invalid_response");
    assertEquals(allOf(error).includes("issued-1"), false, error.message);
  }
});

Deno.test("fetchToken() shows no secret that the caller's fetch throws back", async () => {
  const error = await fetchToken(SERVER, new URLSearchParams({ a: "1" }), {
    headers: HEADERS,
    fetch: (_url, { headers }) => Promise.reject(headers.Authorization),
  }).catch((error) => error);
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.code, "network_error");
  assertEquals(error.message.includes("t0ken"), false);
});
