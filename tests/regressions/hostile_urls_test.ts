/** URLs and texts that a server chooses to obtain, to hide or to repeat a value. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  clientAssertion,
  clientSecretPost,
  createDpop,
  discoverAuthorization,
  fetchAuthorizationServerMetadata,
  fetchDeviceAuthorization,
  OAuthClientError,
  parseAuthorizationResponse,
  registerClient,
} from "../../mod.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
  metadataOf,
  SERVER,
} from "../support/fixtures.ts";
import { json, redirect, stubFetch, text } from "../support/stub_fetch.ts";
import { codes, undiscovered } from "../support/discover.ts";
import { shown } from "../support/shown.ts";
import { tokenErrorOf } from "../support/request_token.ts";

const HOST = "https://h.example";
const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const SECRET = "s3cr3t-value-123456";
const HEADERS = { Authorization: `Bearer ${SECRET}` };

for (const value of ["redacted", "[redacted]", "redacted]"]) {
  Deno.test(`registerClient() ends with an error that repeats the value ${value}`, async () => {
    using stub = stubFetch({
      [`${AS}/register`]: text(`token ${value} is not valid`, 401),
    });
    await assertRejects(
      () =>
        registerClient(SERVER, {}, {
          headers: { Authorization: `Bearer ${value}` },
          fetch: stub.fetch,
        }),
      OAuthClientError,
      "token [redacted] is not valid",
    );
  });
}

Deno.test("discoverAuthorization() accepts no parent that a redirect leads away from", async () => {
  using stub = stubFetch({
    [`${HOST}${WELL_KNOWN}/t/evil`]: text("", 404),
    [`${HOST}${WELL_KNOWN}`]: redirect(`${HOST}/t/evil/m`),
    [`${HOST}/t/evil/m`]: json({ resource: HOST, authorization_servers: [AS] }),
  });
  await assertRejects(
    () => discoverAuthorization(`${HOST}/t/evil`, { fetch: stub.fetch }),
    OAuthClientError,
    "is not the resource of its metadata",
  );
});

Deno.test("discoverAuthorization() repeats no secret in URLs that a resource names", async () => {
  for (
    const server of [
      `http://x.example/${SECRET}`,
      `https://x.example/${SECRET}`,
    ]
  ) {
    const error = await assertRejects(() =>
      discoverAuthorization(`${HOST}/mcp`, {
        sameOriginHeaders: HEADERS,
        fetch: (url) =>
          Promise.resolve(
            url.startsWith(HOST)
              ? Response.json({
                resource: `${HOST}/mcp`,
                authorization_servers: [server],
              })
              : new Response("", { status: 404 }),
          ),
      })
    );
    assert(!shown(error).includes(SECRET), shown(error));
  }
});

Deno.test("fetchAuthorizationServerMetadata() repeats no secret in URLs of redirects", async () => {
  for (const second of ["https://other.example/", "failure"]) {
    const error = await assertRejects(() =>
      fetchAuthorizationServerMetadata(AS, {
        additionalHeaders: HEADERS,
        fetch: (url) =>
          url.includes(SECRET)
            ? second === "failure"
              ? Promise.reject(new TypeError(`lost ${url}`))
              : Promise.resolve(Response.redirect(second))
            : Promise.resolve(
              new Response("", {
                status: 302,
                headers: { Location: `/${SECRET}` },
              }),
            ),
      })
    );
    const { errors } = error as AggregateError;
    for (const one of errors) {
      // What a caller's fetch throws is kept unchanged.
      if (one instanceof OAuthClientError) {
        assert(!shown(one).includes(SECRET), shown(one));
      }
    }
  }
});

Deno.test("discoverAuthorization() repeats no part of a secret in an endpoint that is refused", async () => {
  for (let length = 150; length < 180; length++) {
    const token_endpoint = `http://as.example/${"x".repeat(length)}${SECRET}`;
    using stub = stubFetch({
      [`${HOST}${WELL_KNOWN}`]: json({
        resource: HOST,
        authorization_servers: [AS],
      }),
      [`${AS}/.well-known/oauth-authorization-server`]: json({
        issuer: AS,
        token_endpoint,
      }),
      [`${AS}/.well-known/openid-configuration`]: text("No", 404),
    });
    const error = await assertRejectsCode(() =>
      discoverAuthorization(HOST, {
        sameOriginHeaders: HEADERS,
        fetch: stub.fetch,
      }), "discovery_failed");
    assert(!shown(error).includes(SECRET.slice(0, 8)), shown(error));
  }
});

Deno.test("fetchDeviceAuthorization() repeats no secret in a verification_uri", async () => {
  using stub = stubFetch({
    [`${AS}/device`]: json({
      device_code: "d",
      user_code: "U",
      verification_uri: `http://as.example/${SECRET}`,
      expires_in: 600,
    }),
  });
  const error = await assertRejectsCode(() =>
    fetchDeviceAuthorization(SERVER, {
      client: clientSecretPost("c1", SECRET),
      fetch: stub.fetch,
    }), "url_refused");
  assert(!shown(error).includes(SECRET));
});

Deno.test("fetchToken() finds secrets that invisible characters divide", async () => {
  const divided = `${SECRET.slice(0, 5)}\u200e${SECRET.slice(5)}`;
  const error = await tokenErrorOf(
    json({
      error: "invalid_client",
      error_description: `bad secret ${divided}`,
      x: { y: divided },
    }, { status: 401 }),
    { client: clientSecretPost("c1", SECRET) },
  );
  assertEquals(error.error_description, undefined);
  assert(!shown(error).includes(SECRET), shown(error));
});

Deno.test("fetchToken() keeps the assertion of the first try secret after a retry", async () => {
  const sent: string[] = [];
  const headers = { "DPoP-Nonce": "n1" };
  const error = await tokenErrorOf((request) => {
    const form = new URLSearchParams(request.body);
    sent.push(form.get("client_assertion")!);
    const members = sent.length === 1
      ? { error: "use_dpop_nonce" }
      : { error: "invalid_client", error_description: sent[0] };
    return Response.json(members, { status: 400, headers });
  }, {
    client: clientAssertion("c1", () => `assertion-${sent.length}-${SECRET}`),
    dpop: await createDpop(),
  });
  assertEquals(sent.length, 2);
  assertEquals(error.error_description, undefined);
});

Deno.test("discoverAuthorization() returns no control or bidi characters to show", async () => {
  using stub = stubFetch({
    [`${HOST}${WELL_KNOWN}/mcp`]: json({
      resource: `${HOST}/mcp`,
      resource_name: "Bank\u001b[2J\u202e",
      resource_documentation: "https://x.example/\u001b]0;pwn\u0007",
      resource_policy_uri: ["javascript:alert(1)"],
      authorization_servers: [AS],
    }),
    [`${AS}/.well-known/oauth-authorization-server`]: json({
      ...metadataOf(AS),
      x_name: "A\u0085\u2066\n Bank",
      op_tos_uri: 7,
      service_documentation: "https://x.example/\u202ecod",
      userinfo_endpoint: ["https://x.example/"],
    }),
  });
  const { resourceMetadata, serverMetadata } = await discoverAuthorization(
    `${HOST}/mcp`,
    { fetch: stub.fetch },
  );
  assertEquals(resourceMetadata, {
    resource: `${HOST}/mcp`,
    resource_name: "Bank[2J",
    authorization_servers: [AS],
  });
  assertEquals({ ...serverMetadata }, {
    ...metadataOf(AS),
    ...{ x_name: "A  Bank" },
  });
});

Deno.test("parseAuthorizationResponse() cleans and cuts what the server says", () => {
  const parameters = new URLSearchParams({
    state: "s1",
    error: "access_denied",
    error_description: "x".repeat(50_000),
    error_uri: "https://x.example/\u001b]0;pwn\u0007\u202e",
  });
  const expected = { state: "s1", serverMetadata: SERVER };
  const error = assertThrowsCode(
    () => parseAuthorizationResponse(parameters, expected),
    "oauth_error",
  );
  assertEquals(error.error_description?.length, 2_000);
  assertEquals(error.error_uri, "https://x.example/]0;pwn");
});

Deno.test("discoverAuthorization() assumes no endpoints beside malformed metadata of another resource", async () => {
  const document = { resource: "https://other.example", scopes_supported: "a" };
  const { code, error, attempts } = await undiscovered(
    { [`${HOST}${WELL_KNOWN}/mcp`]: json(document) },
    {},
    `${HOST}/mcp`,
  );
  assertEquals([code, codes(attempts)], [
    "discovery_failed",
    ["identifier_mismatch"],
  ]);
  assert(error.message.includes("is not the resource of its metadata"));
});

Deno.test("discoverAuthorization() reads metadata whose scopes are no list", async () => {
  using stub = stubFetch({
    [`${HOST}${WELL_KNOWN}/mcp`]: json({
      resource: `${HOST}/mcp`,
      authorization_servers: [AS],
      scopes_supported: "read write",
    }),
    [`${AS}/.well-known/oauth-authorization-server`]: json(metadataOf(AS)),
  });
  const { source, resourceMetadata } = await discoverAuthorization(
    `${HOST}/mcp`,
    { fetch: stub.fetch },
  );
  assertEquals(source, "resource_metadata");
  assertEquals(resourceMetadata, {
    resource: `${HOST}/mcp`,
    authorization_servers: [AS],
  });
});
