/** Values of a request that a server repeats must not stand in an error. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  buildClientCredentialsBody,
  clientSecretBasic,
  clientSecretPost,
  discoverAuthorization,
  fetchAuthorizationServerMetadata,
  fetchDynamicRegistration,
  fetchResourceMetadata,
  fetchToken,
  OAuthClientError,
  pollDeviceToken,
  publicClient,
} from "../../mod.ts";
import { API, AS, MCP, SERVER, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { json, stubFetch } from "../support/stub_fetch.ts";

/** Everything that an error shows: message, members, nested errors. */
function shown(error: unknown): string {
  if (error instanceof AggregateError) {
    return error.message + error.errors.map(shown).join();
  }
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
  assert(!MCP.startsWith("https://evil") && MCP.startsWith(API));
});
