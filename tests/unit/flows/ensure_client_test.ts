/** A flow has a client that its server accepts: known, by document, or registered. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  codeFlow,
  ensureClient,
  type EnsureClientOptions,
  type KnownClient,
  OAuthClientError,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  CODE_SERVER,
  comeBack,
  CONTEXT,
  pinRejected,
  REDIRECT_URI,
  REGISTERED_MEMBERS,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { pinMessage } from "../../support/pin_message.ts";
import { shown } from "../../support/shown.ts";
import {
  type Answer,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const REGISTER = "https://as.example/register";
const SERVER = { issuer: AS, registration_endpoint: REGISTER };
const clientMetadata = { client_name: "Test" };

const register: Answer = ({ body }) =>
  Response.json({
    ...JSON.parse(body!),
    client_id: "new",
    client_secret: "s3cret",
  }, { status: 201 });

/** Registers a client; returns the metadata that the server received each time. */
async function registrations(
  server: object,
  options: EnsureClientOptions,
  answer = register,
) {
  using stub = stubFetch({ [REGISTER]: answer });
  const result = await ensureClient({ ...SERVER, ...server }, {
    clientMetadata,
    redirectUri: REDIRECT_URI,
    ...options,
    fetch: stub.fetch,
  }).catch((error) => error);
  const { requests } = stub;
  const sent = requests.map(({ body }) => JSON.parse(body!));
  return { result, requests, sent };
}

/** Registers a client; returns the metadata that the server received. */
async function registered(server: object, options: EnsureClientOptions) {
  const { result, sent } = await registrations(server, {
    redirectUri: undefined,
    ...options,
  });
  if (result instanceof Error) throw result;
  assertEquals([result.issuer, result.client_id], [AS, "new"]);
  assertEquals(sent.length, 1);
  return sent[0];
}

Deno.test("ensureClient() completes the metadata for the flow, and keeps that of the caller", async () => {
  const native = {
    client_name: "Test",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  };
  const methods = ["client_secret_basic", "none"];
  const server = { token_endpoint_auth_methods_supported: methods };
  const redirectUri = new URL(REDIRECT_URI);
  assertEquals(await registered(server, { redirectUri }), native);
  const device = await registered({}, {});
  assertEquals([device.redirect_uris, device.response_types], [[], []]);
  assertEquals(device.grant_types, [
    "urn:ietf:params:oauth:grant-type:device_code",
    "refresh_token",
  ]);
  const given = {
    client_name: "Test",
    redirect_uris: ["https://app.example/"],
    grant_types: ["authorization_code"],
    token_endpoint_auth_method: "client_secret_post",
    application_type: "web",
    logo_uri: "https://app.example/logo.png",
  };
  const own = { clientMetadata: given, redirectUri };
  assertEquals(await registered({}, own), {
    ...given,
    redirect_uris: ["https://app.example/", REDIRECT_URI],
    response_types: ["code"],
  });
});

Deno.test("ensureClient() registers an authentication method that the server lists, and for refresh_token whatever it lists", async () => {
  const rows: [listed: string[] | undefined, method?: string][] = [
    [undefined],
    [["client_secret_basic", "client_secret_post"]],
    [["client_secret_post"], "client_secret_post"],
    [["none"], "none"],
    [["private_key_jwt", "none"], "none"],
  ];
  const options = { redirectUri: REDIRECT_URI };
  await eachRowInTurn(
    rows,
    async ([token_endpoint_auth_methods_supported, method]) => {
      const server = { token_endpoint_auth_methods_supported };
      const { token_endpoint_auth_method } = await registered(server, options);
      assertEquals(token_endpoint_auth_method, method);
    },
  );
  for (const grant_types_supported of [undefined, [], ["authorization_code"]]) {
    const { grant_types } = await registered(
      { grant_types_supported },
      options,
    );
    assertEquals(grant_types, ["authorization_code", "refresh_token"]);
  }
});

Deno.test("ensureClient() registers all scopes of the server, if they cover those to request, or those to request if it lists none", async () => {
  const rows: [
    listed: unknown[] | undefined,
    scopes: string[] | undefined,
    expected?: string,
    own?: string,
  ][] = [
    [["read", "write"], ["read"], "read write"],
    [["read", "write"], ["write", "read"], "read write"],
    [["read", "write"], [], "read write"],
    [["read"], ["read", "write"]],
    // The Python SDK of MCP refuses scopes that are not registered, and lists none.
    [undefined, ["read"], "read"],
    [[], ["read", "write"], "read write"],
    [[], []],
    [["read"], undefined],
    // What no request may contain is left out.
    [["read", 7, 'a"b'], ["read"], "read"],
    [["read"], ["read"], "own", "own"],
  ];
  for (const [scopes_supported, scopes, expected, own] of rows) {
    const metadata = { ...clientMetadata, ...(own && { scope: own }) };
    const options = { clientMetadata: metadata, scopes };
    const { scope } = await registered({ scopes_supported }, options);
    assertEquals(scope, expected, JSON.stringify([scopes_supported, scopes]));
  }
});

Deno.test("ensureClient() repeats a registration once in its plain form, if the server refuses its metadata", async () => {
  const refused = (status: number, error?: string) =>
    error ? json({ error }, { status }) : text("", status);
  const invalid = refused(400, "invalid_client_metadata");
  const all = ["authorization_code", "refresh_token"];
  const scopes = ["read"];
  const listed = { scopes_supported: scopes };
  const listedGrants = { grant_types_supported: all };
  const grants = { ...clientMetadata, grant_types: all };
  type Sent = [scope: string | undefined, grant_types: string[]];
  const scoped: Sent = ["read", all];
  const full: Sent = [undefined, all];
  const plain: Sent = [undefined, ["authorization_code"]];
  // What the server lists and says, and what the registrations contain.
  const rows: [object, EnsureClientOptions, Answer, sent: Sent[]][] = [
    [listed, { scopes }, invalid, [scoped, plain]],
    [
      { ...listed, ...listedGrants },
      { scopes },
      refused(400, "invalid_scope"),
      [scoped, full],
    ],
    [
      { grant_types_supported: plain[1] },
      { scopes },
      refused(400),
      [scoped, plain],
    ],
    [{}, {}, refused(422, "invalid_client_metadata"), [full, plain]],
    // The plain form is the same, or would not help.
    [listedGrants, {}, invalid, [full]],
    [listedGrants, { scopes }, invalid, [scoped, full]],
    [{}, { clientMetadata: grants }, invalid, [full]],
    [{}, { scopes }, refused(400, "invalid_redirect_uri"), [scoped]],
    [{}, {}, refused(403, "access_denied"), [full]],
    [{}, {}, refused(401), [full]],
    [{}, {}, refused(500, "server_error"), [full]],
    [{}, {}, refused(429), [full]],
  ];
  await eachRowInTurn(rows, async ([server, options, refusal, expected]) => {
    for (const isRefusedAgain of [false, true]) {
      const answers = [refusal, isRefusedAgain ? refusal : register];
      const { result, sent } = await registrations(
        server,
        options,
        (request) => answers.shift()!(request),
      );
      assertEquals(
        sent.map(({ scope, grant_types }) => [scope, grant_types]),
        expected,
      );
      const isKnown = expected.length === 2 && !isRefusedAgain;
      assertEquals(result instanceof OAuthClientError, !isKnown);
    }
  });
});

Deno.test("ensureClient() fails if the server has registered a method that the client cannot use", async () => {
  const post = "client_secret_post";
  const rows: [method: string, requested: string, isRefused: boolean][] = [
    [post, "", true],
    ["private_key_jwt", "", true],
    ["private_key_jwt", "private_key_jwt", false],
    [post, "none", false],
  ];
  const methods = ["client_secret_basic", post];
  const server = { token_endpoint_auth_methods_supported: methods };
  await eachRowInTurn(
    rows,
    async ([token_endpoint_auth_method, requested, isRefused]) => {
      const { result } = await registrations(server, {
        clientMetadata: {
          ...clientMetadata,
          ...(requested && { token_endpoint_auth_method: requested }),
        },
      }, json({ client_id: "c1", token_endpoint_auth_method }));
      assertEquals(result.code, isRefused ? "unsupported" : undefined);
      if (isRefused) pinMessage(result);
    },
  );
  const basic = { token_endpoint_auth_method: "client_secret_basic" } as const;
  const known = { issuer: AS, client_id: "c1", ...basic };
  const { result } = await registrations({}, { knownClients: [known] });
  assertEquals(pinMessage(result).code, "unsupported");
});

/** The client that is chosen of these in place of a registration. */
async function chosen(
  knownClients: KnownClient[],
  redirectUri?: string,
): Promise<string> {
  const options = { knownClients, redirectUri };
  return (await ensureClient(SERVER, options)).client_id;
}

Deno.test("ensureClient() skips known clients that cannot be used", async () => {
  const usable = { issuer: AS, client_id: "c1" };
  const elsewhere = { redirect_uris: ["http://127.0.0.1:1/other"] };
  const knownClients = [
    { ...usable, client_id: "other", issuer: "https://other.example" },
    { ...usable, client_id: "uri", ...elsewhere },
    { ...usable, client_id: "expired", client_secret_expires_at: 1 },
    usable,
  ];
  const options = { knownClients, redirectUri: REDIRECT_URI };
  assertEquals(await ensureClient(SERVER, options), usable);
  const own = { ...usable, redirect_uris: ["https://x.example", REDIRECT_URI] };
  assertEquals(await chosen([own], REDIRECT_URI), "c1");
  // Without a redirect URI, its registration does not matter.
  assertEquals(await chosen(knownClients), "uri");
});

Deno.test("ensureClient() uses a known client with another port of a loopback redirect URI", async () => {
  const loopback = "http://127.0.0.1:40000/callback";
  const rows: [registered: string, redirectUri: string, isUsed: boolean][] = [
    ["http://127.0.0.1:1/callback", loopback, true],
    ["http://127.0.0.1/callback", loopback, true],
    ["http://[::1]:1/callback", loopback, false],
    ["http://localhost:1/callback", loopback, false],
    ["http://127.0.0.1:1/other", loopback, false],
    ["http://127.0.0.1:1/callback?tenant=1", loopback, false],
    ["https://127.0.0.1:1/callback", loopback, false],
    ["https://a.example:1/callback", "https://a.example:2/callback", false],
  ];
  for (const [registered, redirectUri, isUsed] of rows) {
    const redirect_uris = [registered];
    const clients = [
      { issuer: AS, client_id: "known", redirect_uris },
      { issuer: AS, client_id: "next" },
    ];
    const expected = isUsed ? "known" : "next";
    assertEquals(await chosen(clients, redirectUri), expected, registered);
  }
});

Deno.test("ensureClient() fails if there is no client and none can be registered", async () => {
  const bare = { issuer: AS };
  const elsewhere = { issuer: "https://x.example", client_id: "c1" };
  const another = {
    issuer: `${AS}/`,
    client_id: "c1",
    redirect_uris: ["https://app.example/other"],
  };
  const redirectUri = "https://app.example/callback";
  const rows: [server: typeof bare, options: object][] = [
    [bare, { clientMetadata }],
    [
      { ...bare, ...{ client_id_metadata_document_supported: true } },
      { clientMetadata },
    ],
    [bare, { knownClients: [elsewhere] }],
    [bare, { knownClients: [another], redirectUri }],
    [SERVER, {}],
  ];
  for (const [server, options] of rows) {
    const call = () => ensureClient(server, options);
    await pinRejected(call, "unsupported");
  }
  for (const options of [{ clientMetadata: {} }, { knownClients: {} }]) {
    const call = () => ensureClient(SERVER, untyped(options));
    await pinRejected(call, "invalid_argument");
  }
});

Deno.test("ensureClient() names the status and the option if the endpoint for registrations is not found", async () => {
  for (const body of ["", "No page"]) {
    const { result } = await registrations({}, {}, text(body, 404));
    pinMessage(result);
  }
});

Deno.test("ensureClient() authorizes a registration with initialAccessToken, and nothing repeats the token", async () => {
  const secret = "initial-access-token";
  const issuers: string[] = [];
  const given = (issuer: string) => {
    issuers.push(issuer);
    return Promise.resolve(secret);
  };
  const rows: [
    initialAccessToken: EnsureClientOptions["initialAccessToken"],
    status: number,
    message?: RegExp,
  ][] = [
    [secret, 201],
    [given, 201],
    [undefined, 201],
    [() => undefined, 401, /set initialAccessToken\)$/],
    [undefined, 403, /set initialAccessToken\)$/],
    [secret, 401, /initialAccessToken/],
    [secret, 403, /initialAccessToken/],
    [secret, 500, /failed: 500: No: \[redacted\]$/],
  ];
  await eachRowInTurn(rows, async ([initialAccessToken, status, message]) => {
    const isSent = [secret, given].some((one) => one === initialAccessToken);
    const refuse = text(`No: ${secret}`, status);
    const { result, requests } = await registrations(
      {},
      { initialAccessToken },
      (request) => (status === 201 ? register : refuse)(request),
    );
    const sent = requests.map(({ headers }) => headers.Authorization);
    assertEquals(sent, [isSent ? `Bearer ${secret}` : undefined]);
    if (message) assertMatch(result.message, message);
    else assertEquals(result.client_id, "new");
    assert(!isSent || !shown(result).includes(secret));
  });
  assertEquals(issuers, [AS]);
});

Deno.test("ensureClient() requests no initialAccessToken for a client that it has, and refuses one that no field can hold", async () => {
  const initialAccessToken = () => {
    throw new Error("requested");
  };
  const known = { issuer: AS, client_id: "known" };
  const options = { clientMetadata, initialAccessToken };
  assertEquals(
    await ensureClient(SERVER, { ...options, knownClients: [known] }),
    known,
  );
  for (const token of ["a b", "a\n", "", 7]) {
    const { result, sent } = await registrations({}, {
      initialAccessToken: untyped(token),
    });
    assertEquals([result.code, sent], ["invalid_argument", []]);
    assert(!result.message.includes(String(token) || "?"));
  }
});

// By `authenticate`, clients are distinguished from those that authenticate themselves.
for (const member of [...REGISTERED_MEMBERS, "authenticate"]) {
  Deno.test(`codeFlow() and ensureClient() use a registration with a ${member} of the wrong type`, async () => {
    const nested = "[".repeat(20_000) + "]".repeat(20_000);
    for (const value of ["-1", "{}", nested]) {
      const body = `{"issuer":"${AS}","client_id":"c1","${member}":${value}}`;
      using stub = stubFetch({
        [REGISTER]: text(body, 201),
        [TOKEN_ENDPOINT]: json({ access_token: "a1", token_type: "Bearer" }),
      });
      const options = { clientMetadata, redirectUri: REDIRECT_URI };
      const authorize = codeFlow({ ...options, visit: (url) => comeBack(url) });
      const { fetch } = stub;
      const request = { context: CONTEXT, scopes: [], fetch };
      const session = await authorize(request);
      await authorize({ ...request, session });
      // A client that an earlier version has stored.
      const knownClients = [JSON.parse(body)];
      await ensureClient(CODE_SERVER, { ...options, knownClients, fetch });
    }
  });
}
