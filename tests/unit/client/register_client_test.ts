/**
 * A registration sends what the caller says, and returns what can be used of the
 * response.
 */

import { assertEquals, assertFalse, assertInstanceOf } from "@std/assert";
import {
  type IAuthorizationDynamicClientRegistrationRequest,
  OAuthClientError,
  registerClient,
  type RegisterClientOptions,
} from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import {
  AS,
  REGISTERED_MEMBERS,
  REGISTRATION_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const SERVER = { issuer: AS, registration_endpoint: REGISTRATION_ENDPOINT };
const NONE = "none";
const BASIC = "client_secret_basic";
const POST = "client_secret_post";
const JWT = "private_key_jwt";
const WEB = "https://client.example/callback";
const LOOPBACK = "http://127.0.0.1:8123/callback";
const PRIVATE = "com.example.client:/callback";

/** Registers a client; the result or the error, the request, and its body. */
async function register(
  respond: Answer = json({ client_id: "c1" }),
  request: IAuthorizationDynamicClientRegistrationRequest = {},
  options: RegisterClientOptions = {},
  server: Record<string, unknown> = {},
) {
  using stubbed = stubFetch({ [REGISTRATION_ENDPOINT]: respond });
  const { fetch, requests } = stubbed;
  const metadata = untyped({ ...SERVER, ...server });
  const given = { fetch, ...options };
  const result = await registerClient(metadata, request, given)
    .catch((error) => error);
  const [sent] = requests;
  return { result, init: sent?.init, body: JSON.parse(sent?.body ?? "null") };
}

Deno.test("registerClient() derives application_type from the redirect URIs", async () => {
  const web = [
    [WEB],
    [WEB, `${WEB}/2`],
    ["HTTPS://client.example/callback"],
    // oidc-provider registers none of these for a native client.
    ["http://app.internal/callback"],
    ["http://app.internal/callback", WEB],
    ["http://app.internal/callback", LOOPBACK],
  ];
  const native = [
    ...[[LOOPBACK], ["http://localhost/"], [PRIVATE]],
    ...[[WEB, LOOPBACK], [WEB, PRIVATE]],
    ...[["urn:ietf:wg:oauth:2.0:oob"], ["not a URL"], [], undefined],
  ];
  for (const redirect_uris of [...web, ...native]) {
    const expected = web.some((one) => one === redirect_uris)
      ? "web"
      : "native";
    for (const application_type of [undefined, null, "native", "web", "x"]) {
      const request = untyped({ redirect_uris, application_type });
      const { body } = await register(undefined, request);
      assertEquals(body.application_type, application_type ?? expected);
    }
  }
});

Deno.test("registerClient() names a supported authentication method if none is given", async () => {
  const rows: [listed: string[] | undefined, sent: string | undefined][] = [
    [undefined, undefined],
    [[BASIC], undefined],
    [[NONE, POST, BASIC], undefined],
    [[NONE, POST], POST],
    [[NONE], NONE],
    [[JWT, NONE], NONE],
    [[JWT], undefined],
    [[], undefined],
  ];
  await eachRowInTurn(rows, async ([listed, sent]) => {
    const server = { token_endpoint_auth_methods_supported: listed };
    for (const given of [undefined, "tls_client_auth"]) {
      const request = given ? { token_endpoint_auth_method: given } : {};
      const { body } = await register(undefined, request, {}, server);
      assertEquals(body.token_endpoint_auth_method, given ?? sent);
    }
  });
});

Deno.test("registerClient() returns the method to use, also where the response contradicts itself", async () => {
  const rows: [
    listed: string[] | undefined,
    requested: string | undefined,
    named: string | undefined,
    hasSecret: boolean,
    method: string | undefined,
  ][] = [
    [undefined, NONE, NONE, false, NONE],
    [undefined, NONE, BASIC, true, BASIC],
    [[POST], undefined, POST, true, POST],
    // What was requested is kept where the response names no method.
    [undefined, POST, undefined, true, POST],
    [[POST], undefined, undefined, true, POST],
    [undefined, JWT, undefined, false, JWT],
    [undefined, NONE, undefined, false, NONE],
    [[BASIC], undefined, undefined, true, undefined],
    // Nothing to authenticate with was issued, and nothing named.
    [undefined, POST, undefined, false, undefined],
    // A method without its secret: the client is public if it may be.
    [undefined, NONE, POST, false, NONE],
    [[BASIC, NONE], undefined, BASIC, false, NONE],
    [[BASIC, POST], NONE, POST, false, NONE],
    [[BASIC, POST], undefined, POST, false, POST],
    [undefined, undefined, BASIC, false, BASIC],
    // A secret of a public client: the list decides, unless it has `none`.
    [[BASIC, POST], NONE, undefined, true, undefined],
    [[BASIC, NONE], NONE, undefined, true, undefined],
    [[BASIC, POST], NONE, NONE, true, undefined],
    [[BASIC, NONE], NONE, NONE, true, NONE],
    [undefined, NONE, NONE, true, NONE],
    [[], NONE, NONE, true, NONE],
    [[BASIC], NONE, JWT, true, JWT],
  ];
  for (const [listed, requested, named, hasSecret, method] of rows) {
    const issued = {
      client_id: "c1",
      ...(hasSecret && { client_secret: "s3cret" }),
    };
    const { result } = await register(
      json({ ...issued, ...(named && { token_endpoint_auth_method: named }) }),
      { token_endpoint_auth_method: requested },
      {},
      { token_endpoint_auth_methods_supported: listed },
    );
    const expected = {
      issuer: AS,
      ...issued,
      ...(method && { token_endpoint_auth_method: method }),
    };
    const row = JSON.stringify({ listed, requested, named, hasSecret });
    assertEquals(result, expected, row);
  }
});

Deno.test("registerClient() sends the given metadata and leaves it unchanged", async () => {
  const request = {
    client_name: "Gr\u00fc\u00dfe",
    redirect_uris: [LOOPBACK],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "private_key_jwt",
    jwks: { keys: [] },
    x_more: null,
  };
  const before = structuredClone(request);
  const { body, init } = await register(undefined, request);
  assertEquals(request, before);
  assertEquals(body, { application_type: "native", ...request });
  const { body: _, signal, ...rest } = init!;
  assertInstanceOf(signal, AbortSignal);
  assertEquals(rest, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    redirect: "manual",
  });
});

Deno.test("registerClient() adds and replaces header fields of the caller", async () => {
  const { init } = await register(undefined, {}, {
    headers: { Authorization: "Bearer initial", accept: "application/x" },
  });
  assertEquals(init?.headers, {
    Accept: "application/x",
    "Content-Type": "application/json",
    Authorization: "Bearer initial",
  });
});

Deno.test("registerClient() returns the registration with the issuer, without null members", async () => {
  const rows: [members: Record<string, unknown>, expected?: object][] = [
    [{ client_id: "c1" }],
    [{ client_id: "c1", client_secret: "s", client_secret_expires_at: 0 }],
    [{ client_id: "c1", client_secret: null, x_more: [1] }, {
      client_id: "c1",
      x_more: [1],
    }],
    // The issuer of the response is ignored, and so is what is an option of clients.
    [{ client_id: "c1", issuer: "https://other.example", formEncode: false }, {
      client_id: "c1",
    }],
  ];
  await eachRowInTurn(rows, async ([members, expected = members]) => {
    const { result } = await register(json(members, { status: 201 }));
    assertEquals(result, { ...expected, issuer: AS });
  });
});

Deno.test("registerClient() leaves out members of the wrong type, however deep", async () => {
  const nested = "[".repeat(20_000) + "]".repeat(20_000);
  for (const member of REGISTERED_MEMBERS) {
    for (const value of ["-1", "{}", nested, `[${nested}]`]) {
      const body = `{"client_id":"c1","${member}":${value}}`;
      const { result } = await register(() => new Response(body));
      const { [member]: kept = [], ...rest } = result;
      assertEquals(rest, { client_id: "c1", issuer: AS });
      const isEmpty = kept === -1 || (Array.isArray(kept) && kept.length === 0);
      assertEquals(isEmpty, true, `${member} ${value.slice(0, 5)}`);
    }
  }
});

Deno.test("registerClient() rejects a client_id that is not a non-empty string", async () => {
  for (const client_id of [undefined, null, "", 0, 7, {}, [], ["c1"], true]) {
    const answer = json({ client_id, client_secret: "s3cret" });
    const { result } = await register(answer);
    assertInstanceOf(result, OAuthClientError);
    const { code, url, message } = result;
    assertEquals([code, url], ["invalid_response", REGISTRATION_ENDPOINT]);
    assertFalse(message.includes("s3cret"));
  }
});

Deno.test("registerClient() requests a safe endpoint only, or http with allowHttp", async () => {
  const http = "http://as.example/register";
  type Row = [endpoint: unknown, code: string | undefined, allowHttp?: boolean];
  const rows: Row[] = [
    [undefined, "unsupported"],
    [http, "url_refused"],
    [http, undefined, true],
    ["file:///etc/passwd", "url_refused", true],
  ];
  await eachRowInTurn(
    rows,
    async ([registration_endpoint, code, allowHttp]) => {
      using stubbed = stubFetch(
        code ? {} : { [http]: json({ client_id: "c1" }) },
      );
      const { fetch } = stubbed;
      const server = untyped({ ...SERVER, registration_endpoint });
      const result = await registerClient(server, {}, { fetch, allowHttp })
        .catch((error) => error);
      assertEquals(result.code, code);
    },
  );
});

testInvalidArguments(registerClient, [
  ["serverMetadata.issuer", { ...SERVER, issuer: "" }, {}],
  ["options", SERVER, {}, "x"],
  ["headers", SERVER, {}, { headers: new Headers() }],
]);
