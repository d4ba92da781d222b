import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  codeFlow,
  ensureClient,
  type IEnsureClientOptions,
  OAuthClientError,
} from "../../../mod.ts";
import {
  AS,
  CODE_SERVER,
  CONTEXT,
  REDIRECT_URI,
  REGISTERED_MEMBERS,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
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
  options: IEnsureClientOptions,
  answer = register,
) {
  using stub = stubFetch({ [REGISTER]: answer });
  const result = await ensureClient({ ...SERVER, ...server }, {
    clientMetadata,
    redirectUri: REDIRECT_URI,
    ...options,
    fetch: stub.fetch,
  }).catch((error) => error);
  return { result, sent: stub.requests.map(({ body }) => JSON.parse(body!)) };
}

/** Registers a client; returns the metadata that the server received. */
async function registered(server: object, options: IEnsureClientOptions) {
  const { result, sent } = await registrations(server, {
    redirectUri: undefined,
    ...options,
  });
  if (result instanceof Error) throw result;
  assertEquals([result.issuer, result.client_id], [AS, "new"]);
  assertEquals(sent.length, 1);
  return sent[0];
}

Deno.test("ensureClient() completes the metadata for the code flow", async () => {
  const metadata = await registered({
    token_endpoint_auth_methods_supported: ["client_secret_basic", "none"],
  }, { clientMetadata, redirectUri: new URL(REDIRECT_URI) });
  assertEquals(metadata, {
    client_name: "Test",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  });
});

Deno.test("ensureClient() completes the metadata for the device flow", async () => {
  const { redirect_uris, grant_types, response_types } = await registered(
    {},
    { clientMetadata },
  );
  assertEquals([redirect_uris, response_types], [[], []]);
  assertEquals(grant_types, [
    "urn:ietf:params:oauth:grant-type:device_code",
    "refresh_token",
  ]);
});

Deno.test("ensureClient() registers an authentication method that the server lists", async () => {
  for (
    const [listed, method] of [
      [undefined, undefined],
      [["client_secret_basic", "client_secret_post"], undefined],
      [["client_secret_post"], "client_secret_post"],
      [["none"], "none"],
      [["private_key_jwt", "none"], "none"],
    ] as const
  ) {
    const { token_endpoint_auth_method } = await registered({
      token_endpoint_auth_methods_supported: listed,
    }, { clientMetadata, redirectUri: REDIRECT_URI });
    assertEquals(token_endpoint_auth_method, method);
  }
});

Deno.test("ensureClient() registers for refresh_token, whatever the server lists", async () => {
  for (const grant_types_supported of [undefined, [], ["authorization_code"]]) {
    const { grant_types } = await registered({ grant_types_supported }, {
      clientMetadata,
      redirectUri: REDIRECT_URI,
    });
    assertEquals(grant_types, ["authorization_code", "refresh_token"]);
  }
});

Deno.test("ensureClient() registers all scopes of the server, if they cover those to request", async () => {
  for (
    const [listed, scopes, given, expected] of [
      [["read", "write"], ["read"], undefined, "read write"],
      [["read", "write"], ["write", "read"], undefined, "read write"],
      [["read", "write"], [], undefined, "read write"],
      [["read"], ["read", "write"], undefined, undefined],
      [undefined, ["read"], undefined, undefined],
      [[], [], undefined, undefined],
      [["read"], undefined, undefined, undefined],
      // What no request may contain is left out.
      [["read", 7, 'a"b'], ["read"], undefined, "read"],
      [["read"], ["read"], "own", "own"],
    ] as const
  ) {
    const { scope } = await registered({ scopes_supported: listed }, {
      clientMetadata: { ...clientMetadata, ...(given && { scope: given }) },
      scopes,
    });
    assertEquals(scope, expected, JSON.stringify([listed, scopes]));
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
  const rows: [object, IEnsureClientOptions, Answer, sent: Sent[]][] = [
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
      [full, plain],
    ],
    [{}, {}, refused(422, "invalid_client_metadata"), [full, plain]],
    // The plain form is the same, or would not help.
    [listedGrants, { scopes }, invalid, [full]],
    [{}, { clientMetadata: grants }, invalid, [full]],
    [{}, {}, refused(403, "access_denied"), [full]],
    [{}, {}, refused(401), [full]],
    [{}, {}, refused(500, "server_error"), [full]],
    [{}, {}, refused(429), [full]],
  ];
  for (const [server, options, refusal, expected] of rows) {
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
  }
});

Deno.test("ensureClient() fails if the server has registered a method that the client cannot use", async () => {
  const respond = (members: object) => json({ client_id: "c1", ...members });
  const listed = ["client_secret_basic", "client_secret_post"];
  for (
    const [method, requested, message] of [
      [
        "client_secret_post",
        undefined,
        `The client is registered at ${AS} with the authentication method ` +
        '"client_secret_post" and without a client_secret, which it needs',
      ],
      [
        "private_key_jwt",
        undefined,
        `Client authentication "private_key_jwt" at ${AS} needs more than`,
      ],
      ["private_key_jwt", "private_key_jwt", undefined],
      ["client_secret_post", "none", undefined],
    ] as const
  ) {
    const { result } = await registrations(
      { token_endpoint_auth_methods_supported: listed },
      {
        clientMetadata: {
          ...clientMetadata,
          ...(requested && { token_endpoint_auth_method: requested }),
        },
      },
      respond({ token_endpoint_auth_method: method }),
    );
    assertEquals(result instanceof OAuthClientError, message !== undefined);
    if (message) {
      assertEquals(result.code, "unsupported");
      assertStringIncludes(result.message, message);
    }
  }
  const known = {
    issuer: AS,
    client_id: "c1",
    token_endpoint_auth_method: "client_secret_basic",
  };
  const { result } = await registrations({}, { knownClients: [known] });
  assertStringIncludes(result.message, "without a client_secret");
});

Deno.test("ensureClient() keeps the caller's metadata, and adds the redirect URI to it", async () => {
  const given = {
    client_name: "Test",
    redirect_uris: ["https://app.example/"],
    grant_types: ["authorization_code"],
    token_endpoint_auth_method: "client_secret_post",
    application_type: "web",
    logo_uri: "https://app.example/logo.png",
  };
  const metadata = await registered({}, {
    clientMetadata: given,
    redirectUri: REDIRECT_URI,
  });
  assertEquals(metadata, {
    ...given,
    redirect_uris: ["https://app.example/", REDIRECT_URI],
    response_types: ["code"],
  });
});

Deno.test("ensureClient() skips known clients that cannot be used", async () => {
  const usable = { issuer: AS, client_id: "c1" };
  const knownClients = [
    { ...usable, client_id: "other", issuer: "https://other.example" },
    {
      ...usable,
      client_id: "uri",
      redirect_uris: ["http://127.0.0.1:1/other"],
    },
    { ...usable, client_id: "expired", client_secret_expires_at: 1 },
    usable,
  ];
  const options = { knownClients, redirectUri: REDIRECT_URI };
  assertEquals(await ensureClient(SERVER, options), usable);
  const own = { ...usable, redirect_uris: ["https://x.example", REDIRECT_URI] };
  assertEquals(
    await ensureClient(SERVER, { ...options, knownClients: [own] }),
    own,
  );
  // Without a redirect URI, its registration does not matter.
  const { client_id } = await ensureClient(SERVER, { knownClients });
  assertEquals(client_id, "uri");
});

Deno.test("ensureClient() uses a known client with another port of a loopback redirect URI", async () => {
  const registered = (uri: string) => ({
    issuer: AS,
    client_id: "known",
    redirect_uris: [uri],
  });
  for (
    const [uri, isUsed] of [
      ["http://127.0.0.1:1/callback", true],
      ["http://127.0.0.1/callback", true],
      ["http://[::1]:1/callback", false],
      ["http://localhost:1/callback", false],
      ["http://127.0.0.1:1/other", false],
      ["http://127.0.0.1:1/callback?tenant=1", false],
      ["https://127.0.0.1:1/callback", false],
    ] as const
  ) {
    const client = await ensureClient(SERVER, {
      knownClients: [registered(uri), { issuer: AS, client_id: "next" }],
      redirectUri: "http://127.0.0.1:40000/callback",
    });
    assertEquals(client.client_id, isUsed ? "known" : "next", uri);
  }
  const { client_id } = await ensureClient(SERVER, {
    knownClients: [
      registered("https://app.example:1/callback"),
      { issuer: AS, client_id: "next" },
    ],
    redirectUri: "https://app.example:2/callback",
  });
  assertEquals(client_id, "next");
});

Deno.test("ensureClient() fails if there is no client and none can be registered", async () => {
  for (
    const [server, options, code, message] of [
      [
        { issuer: AS },
        { clientMetadata },
        "unsupported",
        `No client for authorization server ${AS}: set client to one that ` +
        "you have, as the server offers no registration",
      ],
      [
        { issuer: AS, client_id_metadata_document_supported: true },
        { clientMetadata },
        "unsupported",
        "set clientMetadataUrl, as the server accepts client metadata documents",
      ],
      [
        { issuer: AS },
        { knownClients: [{ issuer: "https://x.example", client_id: "c1" }] },
        "unsupported",
        "knownClients has clients of https://x.example only; set client",
      ],
      [
        { issuer: AS },
        {
          knownClients: [{
            issuer: `${AS}/`,
            client_id: "c1",
            redirect_uris: ["https://app.example/other"],
          }],
          redirectUri: "https://app.example/callback",
        },
        "unsupported",
        "the one in knownClients has another redirect URI",
      ],
      [
        SERVER,
        {},
        "unsupported",
        "set clientMetadata to register one, or client",
      ],
      [SERVER, { clientMetadata: {} }, "invalid_argument", "client_name"],
      [SERVER, { knownClients: {} }, "invalid_argument", "knownClients"],
    ] as const
  ) {
    const error = await assertRejects(
      () => ensureClient(server, untyped(options)),
      OAuthClientError,
      message,
    );
    assertEquals(error.code, code);
  }
});

Deno.test("ensureClient() names the status and the option if the endpoint for registrations is not found", async () => {
  for (
    const [body, words] of [["", "404"], ["No page", "No page"]] as const
  ) {
    const { result } = await registrations(
      {},
      { clientMetadata },
      () => new Response(body, { status: 404 }),
    );
    assertEquals(
      result.message,
      `Registration to ${REGISTER} failed: ${words} (the server may offer no ` +
        "registration: set client to one that you have)",
    );
  }
});

Deno.test("ensureClient() authorizes a registration with registrationToken, and nothing repeats the token", async () => {
  const secret = "initial-access-token";
  const issuers: string[] = [];
  const asked = (issuer: string) => {
    issuers.push(issuer);
    return Promise.resolve(secret);
  };
  for (
    const [registrationToken, status, expected, message] of [
      [secret, 201, `Bearer ${secret}`, undefined],
      [asked, 201, `Bearer ${secret}`, undefined],
      [undefined, 201, null, undefined],
      [() => undefined, 401, null, /set registrationToken\)$/],
      [undefined, 403, null, /set registrationToken\)$/],
      [secret, 401, `Bearer ${secret}`, /registrationToken may have expired/],
      [secret, 403, `Bearer ${secret}`, /registrationToken may have expired/],
      [secret, 500, `Bearer ${secret}`, /failed: No: \[redacted\]$/],
    ] as const
  ) {
    using stub = stubFetch({
      [REGISTER]: (request) =>
        status === 201
          ? register(request)
          : new Response(`No: ${secret}`, { status }),
    });
    const result = await ensureClient(SERVER, {
      clientMetadata,
      registrationToken,
      fetch: stub.fetch,
    }).catch((error) => error);
    assertEquals(
      stub.requests.map(({ headers }) => `${headers.Authorization}`),
      [`${expected ?? undefined}`],
    );
    if (message === undefined) assertEquals(result.client_id, "new");
    else assertMatch(result.message, message);
    const { cause } = result;
    const shown = JSON.stringify([result, { ...result }, String(result), {
      ...cause,
    }, String(cause)]);
    assert(!expected || !shown.includes(secret), shown);
  }
  assertEquals(issuers, [AS]);
});

Deno.test("ensureClient() requests no registrationToken for a client that it has, and refuses one that no field can hold", async () => {
  const registrationToken = () => {
    throw new Error("requested");
  };
  const known = { issuer: AS, client_id: "known" };
  const options = { clientMetadata, registrationToken };
  assertEquals(
    await ensureClient(SERVER, { ...options, knownClients: [known] }),
    known,
  );
  for (const token of ["a b", "a\n", "", 7]) {
    const { result, sent } = await registrations({}, {
      registrationToken: untyped(token),
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
        [REGISTER]: () => new Response(body, { status: 201 }),
        [TOKEN_ENDPOINT]: json({ access_token: "a1", token_type: "Bearer" }),
      });
      const { fetch } = stub;
      const options = { clientMetadata, redirectUri: REDIRECT_URI };
      const authorize = codeFlow({
        ...options,
        visit: (_url, { pending: { state } }) =>
          Promise.resolve(new URLSearchParams({ code: "c", state })),
      });
      const request = { context: CONTEXT, scopes: [], fetch };
      const session = await authorize(request);
      await authorize({ ...request, session });
      // A client that an earlier version has stored.
      const knownClients = [JSON.parse(body)];
      await ensureClient(CODE_SERVER, { ...options, knownClients, fetch });
    }
  });
}
