/** Values of a request that a server repeats must not stand in an error. */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
} from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildClientCredentialsBody,
  buildTokenExchangeBody,
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  discoverAuthorization,
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
  fetchDeviceAuthorization,
  fetchDynamicRegistration,
  fetchIdJag,
  fetchResourceMetadata,
  fetchToken,
  type IClientAuthentication,
  type IFetch,
  OAuthClientError,
  pollDeviceToken,
  privateKeyJwt,
  publicClient,
  redeemIdJag,
  refreshToken,
  registerClient,
} from "../../mod.ts";
import {
  API,
  AS,
  createSigningKeys,
  idJagReply,
  MCP,
  SERVER,
  signIdJag,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  redirect,
  stubFetch,
  untyped,
} from "../support/stub_fetch.ts";

/** Everything that an error shows: message, members, nested errors. */
function shown(error: unknown): string {
  if (error instanceof AggregateError) {
    return error.message + error.errors.map(shown).join();
  }
  if (typeof error !== "object" || error === null) return String(error);
  const { message, stack, attempts = [] } = error as OAuthClientError;
  const nested = attempts.map((attempt) => shown(attempt.error ?? {}));
  return JSON.stringify(error) + message + (stack ?? "") + nested.join();
}

async function failureOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("The call did not fail");
}

const cookies = Array.from(
  { length: 200 },
  (_, n) => `c${n}=${crypto.randomUUID()}`,
);

Deno.test("fetchResourceMetadata() reports a 404 with 200 cookies in the request", async () => {
  const error = await failureOf(() =>
    fetchResourceMetadata(MCP, undefined, {
      sameOriginHeaders: { Cookie: cookies.join("; ") },
      fetch: () => Promise.resolve(new Response("Not here", { status: 404 })),
    })
  );
  assert(error instanceof AggregateError);
  for (const { code, message } of error.errors as OAuthClientError[]) {
    assertEquals(code, "unexpected_status");
    assert(message.endsWith(": 404 Not here"), message);
  }
});

Deno.test("fetchResourceMetadata() replaces repeated cookies in its messages", async () => {
  const error = await failureOf(() =>
    fetchResourceMetadata(MCP, undefined, {
      sameOriginHeaders: { Cookie: cookies.join("; ") },
      fetch: (_url, { headers }) =>
        Promise.resolve(new Response(headers.Cookie, { status: 400 })),
    })
  );
  for (const cookie of cookies) {
    assert(!shown(error).includes(cookie.slice(-12)), cookie);
  }
});

Deno.test("discoverAuthorization() repeats no secret from a message of fetch", async () => {
  const error = await failureOf(() =>
    discoverAuthorization(MCP, {
      sameOriginHeaders: { "X-Gateway-Credential": "hunter2-hunter2" },
      fetch: (_url, { headers }) =>
        Promise.reject(new TypeError(`bad ${JSON.stringify(headers)}`)),
    })
  );
  assert(error instanceof OAuthClientError);
  assertEquals(error.code, "discovery_failed");
  assert(!shown(error).includes("hunter2"), shown(error));
  assert(error.message.includes("[redacted]"), error.message);
});

/** Values with characters that the encodings change. */
const SECRET = 'pa ss/wörd+"%&quote';
const ENCODINGS: [name: string, encode: (value: string) => string][] = [
  ["as it was sent", (value) => value],
  ["percent-encoded", encodeURIComponent],
  [
    "form-encoded",
    (value) => new URLSearchParams({ "": value }).toString().slice(1),
  ],
  ["JSON-escaped", (value) => JSON.stringify(value).slice(1, -1)],
];

for (const [name, encode] of ENCODINGS) {
  Deno.test(`fetchToken() leaves out a description with a secret, ${name}`, async () => {
    for (const client of [clientSecretPost, clientSecretBasic]) {
      using stub = stubFetch({
        [TOKEN_ENDPOINT]: json({
          error: "invalid_client",
          error_description: `Wrong: ${encode(SECRET)}`,
          hint: { of: [encode(SECRET)] },
          [encode(SECRET)]: true,
          help: "Ask the operator",
        }, { status: 401 }),
      });
      const error = await assertRejects(
        () =>
          fetchToken(SERVER, buildClientCredentialsBody(), {
            client: client("c1", SECRET),
            fetch: stub.fetch,
          }),
        OAuthClientError,
      );
      assertEquals(error.error, "invalid_client");
      assertEquals(error.error_description, undefined);
      assertEquals(error.errorResponse, {
        error: "invalid_client",
        hint: { of: [undefined] },
        help: "Ask the operator",
      });
      assertEquals(
        error.message,
        `Token request to ${TOKEN_ENDPOINT} failed: 401 invalid_client`,
      );
      assert(!shown(error).includes(encode(SECRET)));
    }
  });

  Deno.test(`fetchDynamicRegistration() replaces a secret in a body, ${name}`, async () => {
    const url = SERVER.registration_endpoint ?? "";
    using stub = stubFetch({
      [url]: () =>
        new Response(`Unknown token ${encode("to/ken+123456&")}, sorry`, {
          status: 403,
        }),
    });
    const error = await assertRejects(
      () =>
        fetchDynamicRegistration(SERVER, "My client", undefined, {
          headers: { Authorization: "Bearer to/ken+123456&" },
          fetch: stub.fetch,
        }),
      OAuthClientError,
      `Registration to ${url} failed: Unknown token [redacted], sorry`,
    );
    assert(!shown(error).includes("123456"));
  });
}

Deno.test("fetchToken() leaves out a description that is cut within a secret", async () => {
  const code = "s3cr3t-c0d3-".repeat(300);
  for (const padding of [0, 1_500, 1_985]) {
    using stub = stubFetch({
      [TOKEN_ENDPOINT]: json({
        error: "invalid_grant",
        error_description: "x".repeat(padding) + code,
      }, { status: 400 }),
    });
    const error = await assertRejects(
      () =>
        fetchToken(SERVER, new URLSearchParams({ code }), {
          client: publicClient("c1"),
          fetch: stub.fetch,
        }),
      OAuthClientError,
    );
    assertEquals(error.error_description, undefined);
    assertEquals(error.errorResponse, { error: "invalid_grant" });
  }
});

for (const name of ["pre-authorized_code", "otp", "password", "anything"]) {
  Deno.test(`fetchToken() keeps the parameter ${name} secret`, async () => {
    const value = "0123456789";
    using stub = stubFetch({
      [TOKEN_ENDPOINT]: json({
        error: "invalid_grant",
        error_description: `Unknown ${value}`,
        number: Number("123456789"),
      }, { status: 400 }),
    });
    const error = await assertRejects(
      () =>
        fetchToken(SERVER, new URLSearchParams({ [name]: value }), {
          client: publicClient("c1"),
          fetch: stub.fetch,
        }),
      OAuthClientError,
    );
    assert(!shown(error).includes(value), shown(error));
  });
}

Deno.test("fetchToken() keeps an error code and words that are no secrets", async () => {
  using stub = stubFetch({
    [TOKEN_ENDPOINT]: json({
      error: "AADSTS2000",
      error_description:
        "AADSTS2000: Bearer tokens need a client_id, not c-1234567",
    }, { status: 400 }),
  });
  const error = await assertRejects(
    () =>
      fetchToken(SERVER, new URLSearchParams({ device_code: "2000" }), {
        client: publicClient("c-1234567"),
        headers: { Authorization: "Bearer abcdefghij" },
        fetch: stub.fetch,
      }),
    OAuthClientError,
  );
  assertEquals(error.error, "AADSTS2000");
  assertEquals(
    error.error_description,
    "AADSTS2000: Bearer tokens need a client_id, not c-1234567",
  );
});

Deno.test("pollDeviceToken() continues with a device code of authorization_pending", async () => {
  const responses = [
    Response.json({ error: "authorization_pending" }, { status: 400 }),
    Response.json({ access_token: "t", token_type: "Bearer" }),
  ];
  const token = await pollDeviceToken(SERVER, {
    device_code: "authorization_pending",
    user_code: "U",
    verification_uri: `${AS}/activate`,
    expires_in: 600,
    expires_at: 600,
  }, {
    client: publicClient("c1"),
    now: () => 0,
    delay: () => Promise.resolve(),
    fetch: () => Promise.resolve(responses.shift()!),
  });
  assertEquals(token.access_token, "t");
});

Deno.test("fetchToken() accepts a token beside an error that is no string", async () => {
  for (const error of [false, 0, "", {}, []]) {
    using stub = stubFetch({
      [TOKEN_ENDPOINT]: json({
        error,
        access_token: "t",
        token_type: "Bearer",
      }),
    });
    const token = await fetchToken(SERVER, buildClientCredentialsBody(), {
      client: publicClient("c1"),
      fetch: stub.fetch,
    });
    assertEquals(token.access_token, "t");
  }
});

Deno.test("fetchToken() puts no token of an error response into its error", async () => {
  using stub = stubFetch({
    [TOKEN_ENDPOINT]: json({
      error: "invalid_scope",
      access_token: "at-secret",
      refresh_token: "rt-secret",
      id_token: "it-secret",
    }),
  });
  const error = await assertRejects(
    () =>
      fetchToken(SERVER, buildClientCredentialsBody(), {
        client: publicClient("c1"),
        fetch: stub.fetch,
      }),
    OAuthClientError,
  );
  assertEquals(error.errorResponse, { error: "invalid_scope" });
  assert(!shown(error).includes("-secret"));
});

Deno.test("fetchToken() shows no control or bidi characters of a server", async () => {
  using stub = stubFetch({
    [TOKEN_ENDPOINT]: json({
      error: "bad\u001b[31m",
      error_description: "Nicht möglich \u202e\u001b[31m日本",
    }, { status: 400 }),
  });
  const error = await assertRejects(
    () =>
      fetchToken(SERVER, buildClientCredentialsBody(), {
        client: publicClient("c1"),
        fetch: stub.fetch,
      }),
    OAuthClientError,
    `Token request to ${TOKEN_ENDPOINT} failed: 400`,
  );
  assertEquals(error.code, "oauth_error");
  assertEquals(error.error, undefined);
  assertEquals(error.error_description, "Nicht möglich [31m日本");
});

Deno.test("fetchAuthorizationServerMetadata() cuts a body of 1 MB that repeats secrets", async () => {
  const secret = "k3y-".repeat(10);
  const error = await failureOf(() =>
    fetchAuthorizationServerMetadata(AS, {
      additionalHeaders: { "X-Api-Key": secret },
      fetch: () =>
        Promise.resolve(new Response(secret.repeat(25_000), { status: 500 })),
    })
  );
  assert(error instanceof AggregateError);
  for (const { message } of error.errors) {
    assert(message.length < 2_300, String(message.length));
    assert(!message.includes("k3y-k3y-"), message);
  }
});

Deno.test("fetchResourceMetadata() sends same-origin secrets to no other origin", async () => {
  using stub = stubFetch({
    "https://evil.example/meta": json({ resource: MCP }),
  });
  await fetchResourceMetadata(MCP, "https://evil.example/meta", {
    sameOriginHeaders: { Authorization: "Bearer abcdefghij" },
    fetch: stub.fetch,
  });
  assertEquals(stub.requests[0]?.headers, { Accept: "application/json" });
  assertEquals(new URL(MCP).origin, API);
});

/** A part of every secret, so that one search finds them all. */
const MARK = "hushHUSH";
const FORMS = [
  buildAuthorizationCodeBody({
    code: `code-${MARK}`,
    codeVerifier: `verifier-${MARK}`,
    redirectUri: "http://127.0.0.1/",
  }),
  buildTokenExchangeBody({
    subjectToken: `subject-${MARK}`,
    subjectTokenType: "urn:x",
    actorToken: `actor-${MARK}`,
    actorTokenType: "urn:x",
  }),
];

/** Responses that fail; most repeat the request. */
const FAILURES: [name: string, Answer][] = [
  ["a lost connection", failing(new TypeError("Cable cut"))],
  [
    "what fetch throws",
    ({ body, headers }) => Promise.reject(`${body} ${Object.values(headers)}`),
  ],
  ["a redirect", redirect("https://evil.example/")],
  ["an error", json({ error: "invalid_grant" }, { status: 400 })],
  [
    "a page",
    ({ body, headers }) =>
      new Response(`<p>${body} ${Object.values(headers)}</p>`, { status: 500 }),
  ],
  ["a page with status 200", ({ body }) => new Response(`<p>${body}</p>`)],
  ["broken JSON", ({ body }) => new Response(`{"access_token": "${body}`)],
  ["an error response", ({ body, headers }) => {
    const members = Object.fromEntries(new URLSearchParams(body));
    return Response.json({
      ...members,
      error: "invalid_grant",
      error_description: `Bad: ${body} ${Object.values(headers)}`,
      error_uri: `https://as.example/?${body}`,
      more: { deep: [body, members] },
    }, { status: 400 });
  }],
  [
    "an error of another type",
    ({ body }) =>
      Response.json({ error: Object.fromEntries(new URLSearchParams(body)) }),
  ],
  ["a token of another type", json({ access_token: [`access-${MARK}`] })],
  [
    "401 with a token",
    json({ access_token: `access-${MARK}` }, {
      status: 401,
    }),
  ],
];

/** Operations that send secrets; each fails at every server above. */
const OPERATIONS: [
  name: string,
  call: (options: {
    fetch: IFetch;
    client: IClientAuthentication;
    headers: Record<string, string>;
  }) => Promise<unknown>,
][] = [
  ...FORMS.map((form): typeof OPERATIONS[0] => [
    `fetchToken() with ${form.get("grant_type")}`,
    (options) => fetchToken(SERVER, form, options),
  ]),
  [
    "refreshToken()",
    (options) =>
      refreshToken(SERVER, { refresh_token: `refresh-${MARK}` }, options),
  ],
  ["fetchIdJag()", (options) =>
    fetchIdJag(SERVER, {
      ...options,
      subjectToken: `subject-${MARK}`,
      audience: API,
    })],
  ["fetchDeviceAuthorization()", (options) =>
    fetchDeviceAuthorization(
      { issuer: AS, device_authorization_endpoint: TOKEN_ENDPOINT },
      { ...options, parameters: { login_hint: `hint-${MARK}` } },
    )],
];

for (const [name, call] of OPERATIONS) {
  Deno.test(`${name} shows no secret, whatever fails`, async () => {
    const secret = `secret-${MARK}`;
    const clients = [
      clientSecretPost("c1", secret),
      clientSecretBasic("c1", secret),
    ];
    for (const client of clients) {
      for (const [failure, answer] of FAILURES) {
        using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
        const { fetch } = stubbed;
        const headers = { Cookie: `cookie-${MARK}` };
        const error = await failureOf(() => call({ fetch, client, headers }));
        assertInstanceOf(error, OAuthClientError);
        assert(!shown(error).includes(MARK), `${failure}: ${shown(error)}`);
        assert(!shown(error).includes(btoa(`c1:${secret}`)), failure);
        assertEquals(stubbed.urls, [TOKEN_ENDPOINT]);
      }
    }
  });
}

Deno.test("no error shows a client assertion, a DPoP proof or an ID-JAG", async () => {
  const { privateKey } = await createSigningKeys();
  const dpop = await createDpop();
  const client = privateKeyJwt("c-at-as", privateKey);
  const cnf = { jkt: dpop.thumbprint };
  const assertion = await signIdJag({ exp: 9e9, cnf });
  for (const [failure, answer] of FAILURES) {
    const sent: string[] = [];
    using stubbed = stubFetch({
      [TOKEN_ENDPOINT]: (request) => {
        const form = new URLSearchParams(request.body);
        sent.push(form.get("client_assertion")!, request.headers.DPoP!);
        sent.push(form.get("assertion")!);
        return answer(request);
      },
    });
    const { fetch } = stubbed;
    const options = { fetch, client, dpop };
    const error = await failureOf(() =>
      redeemIdJag(SERVER, { assertion }, options)
    );
    assertEquals(sent.map((jwt) => jwt.split(".").length), [3, 3, 3]);
    for (const jwt of sent) assert(!shown(error).includes(jwt), failure);
  }
});

Deno.test("fetchIdJag() and redeemIdJag() show no ID-JAG that they refuse", async () => {
  const wrong = await signIdJag({ note: MARK, jti: 7 });
  for (const token of [wrong, MARK, `${MARK}.${MARK}.${MARK}`]) {
    using stubbed = stubFetch({ [TOKEN_ENDPOINT]: idJagReply(token) });
    const { fetch } = stubbed;
    const options = { fetch, subjectToken: "s", audience: API };
    const errors = [
      await failureOf(() => fetchIdJag(SERVER, options)),
      await failureOf(() => redeemIdJag(SERVER, { assertion: token }, {})),
    ];
    for (const error of errors) {
      assert(!shown(error).includes(MARK), shown(error));
      assert(!shown(error).includes(token), shown(error));
    }
  }
});

const TOKEN = "ab/cd+ef-hdr-t0ken==";
/** Responses that repeat a header field of the caller. */
const ECHOES: [name: string, echo: (field: string) => Response][] = [
  ["text", (field) => new Response(field, { status: 401 })],
  [
    "an error response",
    (field) =>
      Response.json({ error: "x", error_description: field }, { status: 400 }),
  ],
  ["other JSON", (field) => Response.json({ [field]: field })],
  [
    "the identifier",
    (field) =>
      Response.json({ resource: `${AS}/${field}`, issuer: `${AS}/${field}` }),
  ],
  ["an endpoint", (field) =>
    Response.json({
      issuer: AS,
      resource: MCP,
      authorization_servers: [AS],
      token_endpoint: `ftp://evil.example/${field}`,
    })],
  [
    "a text that is cut",
    (field) => new Response(" ".repeat(1_990) + field, { status: 400 }),
  ],
];

type Headers = Record<string, string>;
const CALLS: [
  name: string,
  call: (fetch: IFetch, headers: Headers) => Promise<unknown>,
][] = [
  [
    "fetchResourceMetadata",
    (fetch, sameOriginHeaders) =>
      fetchResourceMetadata(MCP, undefined, { fetch, sameOriginHeaders }),
  ],
  [
    "fetchAuthorizationServerMetadata",
    (fetch, additionalHeaders) =>
      fetchAuthorizationServerMetadata(AS, { fetch, additionalHeaders }),
  ],
  ["discoverAuthorization", (fetch, headers) =>
    discoverAuthorization(MCP, {
      fetch,
      sameOriginHeaders: headers,
      additionalHeaders: headers,
    })],
  [
    "discoverAuthorizationServer",
    (fetch, additionalHeaders) =>
      discoverAuthorizationServer(AS, { fetch, additionalHeaders }),
  ],
  [
    "fetchDynamicRegistration",
    (fetch, headers) =>
      fetchDynamicRegistration(SERVER, "Test", undefined, { fetch, headers }),
  ],
  [
    "registerClient",
    (fetch, headers) => registerClient(SERVER, {}, { fetch, headers }),
  ],
  [
    "fetchToken",
    (fetch, headers) =>
      fetchToken(SERVER, new URLSearchParams({ a: "1" }), { fetch, headers }),
  ],
];

for (const [name, call] of CALLS) {
  Deno.test(`${name}() shows no header field of the caller that a server repeats`, async () => {
    for (const [where, echo] of ECHOES) {
      const fetch: IFetch = (_url, { headers }) =>
        Promise.resolve(echo(String(headers.Authorization)));
      const headers = { Authorization: `Bearer ${TOKEN}` };
      // Some of these are metadata; then the failed attempts are checked.
      const result = await call(fetch, headers).catch((error) => error);
      const { errors, attempts } = untyped(result);
      const found = result instanceof Error
        ? [result]
        : errors ?? attempts?.map(({ error }: { error?: Error }) => error);
      for (const error of found ?? []) {
        const text = shown(error);
        assert(!/hdr-t0ken|ab\/cd\+/.test(text), `${where}: ${text}`);
      }
    }
  });
}

Deno.test("fetchToken() shows no code that is repeated as a token type", async () => {
  const code = "c0de-s3cret/+=x";
  const error = await failureOf(() =>
    fetchToken(SERVER, new URLSearchParams({ code }), {
      dpop: untyped({
        createProof: () => Promise.resolve("proof"),
        noteResponse() {},
      }),
      fetch: () =>
        Promise.resolve(Response.json({ access_token: "t", token_type: code })),
    })
  );
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.code, "invalid_response");
  assert(!shown(error).includes("s3cret"));
});
