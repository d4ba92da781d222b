import {
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  type IAuthorizationDynamicClientRegistrationRequest,
  type IRegisterClientOptions,
  OAuthClientError,
  registerClient,
} from "../../../mod.ts";
import {
  assertInvalidArgument,
  assertRedirectRefused,
  REGISTRATION_ENDPOINT,
  SERVER,
} from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  json,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const WEB = "https://client.example/callback";
const LOOPBACK = "http://127.0.0.1:8123/callback";
const PRIVATE = "com.example.client:/callback";

/** Registers a client and gives what came of it, with what was sent. */
async function register(
  answer: Answer = json({ client_id: "c1" }),
  request: IAuthorizationDynamicClientRegistrationRequest = {},
  options: IRegisterClientOptions = {},
) {
  using stubbed = stubFetch({ [REGISTRATION_ENDPOINT]: answer });
  const result = await registerClient(SERVER, request, {
    fetch: stubbed.fetch,
    ...options,
  }).catch((error) => error);
  return { result, requests: stubbed.requests };
}

const APPLICATION_TYPES: [redirect_uris: unknown, expected: string][] = [
  [[WEB], "web"],
  [[WEB, "https://client.example/other"], "web"],
  [["HTTPS://client.example/callback"], "web"],
  [[LOOPBACK], "native"],
  [["http://localhost/"], "native"],
  [[PRIVATE], "native"],
  [[WEB, LOOPBACK], "native"],
  [[WEB, PRIVATE], "native"],
  [["urn:ietf:wg:oauth:2.0:oob"], "native"],
  [["no address"], "native"],
  [[], "native"],
  [undefined, "native"],
];

for (const [redirect_uris, expected] of APPLICATION_TYPES) {
  Deno.test(`registerClient() takes a client with ${redirect_uris} for ${expected}`, async () => {
    const request = redirect_uris === undefined ? {} : { redirect_uris };
    const { requests } = await register(undefined, untyped(request));
    assertEquals(JSON.parse(requests[0]?.body ?? ""), {
      application_type: expected,
      ...request,
    });
  });
}

const METHODS: [listed: string[] | undefined, sent: string | undefined][] = [
  [undefined, undefined],
  [["client_secret_basic"], undefined],
  [["none", "client_secret_post", "client_secret_basic"], undefined],
  [["none", "client_secret_post"], "client_secret_post"],
  [["none"], "none"],
  [["private_key_jwt", "none"], "none"],
  [["private_key_jwt"], undefined],
  [[], undefined],
];

for (const [listed, sent] of METHODS) {
  Deno.test(`registerClient() asks for the method ${sent} where ${listed} is listed`, async () => {
    for (const given of [undefined, "tls_client_auth"]) {
      using stubbed = stubFetch({
        [REGISTRATION_ENDPOINT]: json({ client_id: "c1" }),
      });
      await registerClient(
        {
          ...SERVER,
          ...(listed && { token_endpoint_auth_methods_supported: listed }),
        },
        given === undefined ? {} : { token_endpoint_auth_method: given },
        stubbed,
      );
      const body = JSON.parse(stubbed.requests[0]?.body ?? "");
      assertStrictEquals(body.token_endpoint_auth_method, given ?? sent);
    }
  });
}

Deno.test("registerClient() leaves an application_type as it is given", async () => {
  for (const application_type of ["native", "web", "other"]) {
    for (const redirect_uris of [[WEB], [LOOPBACK]]) {
      const request = { application_type, redirect_uris };
      const { requests } = await register(undefined, request);
      assertEquals(JSON.parse(requests[0]?.body ?? ""), request);
    }
  }
});

Deno.test("registerClient() takes an undefined application_type for none", async () => {
  for (const application_type of [undefined, null]) {
    const request = untyped({ application_type, redirect_uris: [WEB] });
    const { requests } = await register(undefined, request);
    const sent = JSON.parse(requests[0]?.body ?? "");
    assertEquals(sent, { application_type: "web", redirect_uris: [WEB] });
  }
});

Deno.test("registerClient() sends the metadata given and leaves it as it was", async () => {
  const request = {
    client_name: "Grüße",
    redirect_uris: [LOOPBACK],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "private_key_jwt",
    jwks: { keys: [] },
    x_more: null,
  };
  const before = JSON.stringify(request);
  const { requests } = await register(undefined, request);
  assertEquals(JSON.stringify(request), before);
  const [sent] = requests;
  assertEquals(JSON.parse(sent?.body ?? ""), {
    application_type: "native",
    ...request,
  });
  const { body: _, signal, ...init } = sent!.init;
  assertInstanceOf(signal, AbortSignal);
  assertEquals(init, {
    method: "POST",
    headers: {
      Accept: "application/json",
      "Content-Type": "application/json",
    },
    redirect: "manual",
  });
});

Deno.test("registerClient() sends further header fields, which win", async () => {
  const { requests } = await register(undefined, {}, {
    headers: { Authorization: "Bearer initial", accept: "application/x" },
  });
  assertEquals(requests[0]?.headers, {
    Accept: "application/x",
    "Content-Type": "application/json",
    Authorization: "Bearer initial",
  });
});

Deno.test("registerClient() takes any 2xx with a client_id", async () => {
  const rows: Record<string, unknown>[] = [
    { client_id: "c1" },
    { client_id: "c1", client_secret: "s", client_secret_expires_at: 0 },
    { client_id: "c1", redirect_uris: null, x_more: [1] },
    // The issuer is the one that was asked, whatever the reply says.
    { client_id: "c1", issuer: "https://other.example" },
  ];
  for (const members of rows) {
    for (const status of [200, 201, 202]) {
      const { result } = await register(json(members, { status }));
      assertEquals(result, { ...members, issuer: SERVER.issuer });
    }
  }
});

Deno.test("registerClient() fails on a reply without a client_id of text", async () => {
  const answers = [
    ...[undefined, null, "", 7, {}, ["c1"], true].map((client_id) =>
      json({ client_id, client_secret: "s3cret" })
    ),
    json([]),
    json(null),
    json("c1"),
    text("<html>", 200),
    text("", 201),
    () => new Response(null, { status: 204 }),
  ];
  for (const answer of answers) {
    const { result } = await register(answer);
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, result.url], [
      "invalid_response",
      REGISTRATION_ENDPOINT,
    ]);
    assertFalse(result.message.includes("s3cret"));
  }
});

Deno.test("registerClient() tells why the server refused", async () => {
  const rows: [body: unknown, told: string, description?: string][] = [
    [{ error: "invalid_redirect_uri" }, "invalid_redirect_uri"],
    [
      { error: "invalid_client_metadata", error_description: "No native" },
      "invalid_client_metadata: No native",
      "No native",
    ],
    [{ error: { code: 7 } }, '{"code":7}'],
  ];
  for (const [body, told, error_description] of rows) {
    for (const status of [400, 403, 500]) {
      const { result } = await register(json(body, { status }));
      assertInstanceOf(result, OAuthClientError);
      const message =
        `Registration to ${REGISTRATION_ENDPOINT} failed: ${told}`;
      assertEquals(result.message, message);
      assertEquals([result.code, result.status], ["oauth_error", status]);
      assertEquals(result.error_description, error_description);
      assertEquals(result.error, told.split(": ")[0]);
    }
  }
});

Deno.test("registerClient() tells why the server refused with a 200", async () => {
  const rows: [body: unknown, error: string, description?: string][] = [
    [{ error: "invalid_redirect_uri" }, "invalid_redirect_uri"],
    [
      { error: "invalid_redirect_uri", error_description: "no" },
      "invalid_redirect_uri",
      "no",
    ],
    [{ error: { code: 7 } }, '{"code":7}'],
  ];
  for (const [body, error, description] of rows) {
    for (const status of [200, 201]) {
      const { result } = await register(json(body, { status }));
      assertInstanceOf(result, OAuthClientError);
      assertEquals([result.code, result.status], ["oauth_error", status]);
      assertEquals(
        [result.error, result.error_description],
        [error, description],
      );
    }
  }
});

Deno.test("registerClient() tells of a refusal without a reason", async () => {
  const rows: [Answer, status: number][] = [
    [text("<html>", 404), 404],
    [text("", 500), 500],
    [json({ client_id: "c1" }, { status: 400 }), 400],
    [json({ client_id: "c1" }, { status: 300 }), 300],
  ];
  for (const [answer, status] of rows) {
    const { result, requests } = await register(answer);
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, result.status], ["unexpected_status", status]);
    assertEquals(requests.length, 1);
  }
});

Deno.test("registerClient() fails on a redirect with the reason", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of ["https://evil.example/register", "/elsewhere"]) {
      const answer = redirect(location, status);
      const { result, requests } = await register(answer);
      assertRedirectRefused(result, REGISTRATION_ENDPOINT, status);
      assertEquals(requests.length, 1);
    }
  }
});

Deno.test("registerClient() says that no reply came", async () => {
  const cause = new TypeError("Cable cut");
  const { result } = await register(failing(cause));
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "network_error");
  assertStrictEquals(result.cause, cause);
});

Deno.test("registerClient() ends with the reason of an abort", async () => {
  const { answer, signal, reason } = aborted();
  const { result } = await register(answer, {}, { signal });
  assertStrictEquals(result, reason);
});

Deno.test("registerClient() refuses an endpoint that is missing or unsafe, before any request", async () => {
  const rows: [endpoint: unknown, code: string, allowHttp?: boolean][] = [
    [undefined, "unsupported"],
    ["", "unsupported"],
    ["http://as.example/register", "url_refused"],
    ["javascript:alert(1)", "url_refused"],
    ["data:text/plain,x", "url_refused"],
    ["file:///etc/passwd", "url_refused", true],
    ["https://u:s3cret@as.example/register", "url_refused"],
    ["/register", "url_refused"],
    [7, "url_refused"],
  ];
  for (const [registration_endpoint, code, allowHttp] of rows) {
    using stubbed = stubFetch({});
    const { fetch } = stubbed;
    const server = untyped({ ...SERVER, registration_endpoint });
    const error = await assertRejects(
      () => registerClient(server, {}, { fetch, allowHttp }),
      OAuthClientError,
    );
    assertEquals(String(error.code), code);
    assertFalse(error.message.includes("s3cret"));
    assertEquals(stubbed.urls, []);
  }
});

Deno.test("registerClient() takes an http endpoint on loopback, or when allowed", async () => {
  const rows: [endpoint: string, allowHttp?: boolean][] = [
    ["http://127.0.0.1:8080/register"],
    ["http://as.example/register", true],
  ];
  for (const [registration_endpoint, allowHttp] of rows) {
    using stubbed = stubFetch({
      [registration_endpoint]: json({ client_id: "c1" }),
    });
    const { fetch } = stubbed;
    const server = { ...SERVER, registration_endpoint };
    const client = await registerClient(server, {}, { fetch, allowHttp });
    assertEquals(client.client_id, "c1");
  }
});

Deno.test("registerClient() refuses metadata that is not fit for JSON", async () => {
  const circle: Record<string, unknown> = {};
  circle.circle = circle;
  const { result, requests } = await register(undefined, circle);
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "invalid_argument");
  assertEquals(result.message, "request must be fit for JSON");
  assertEquals(requests, []);
});

Deno.test("registerClient() makes no request with metadata that is no object in JSON", async () => {
  for (const value of [undefined, "abc", null, 7, [{}]]) {
    const request = untyped({ toJSON: () => value });
    const { result, requests } = await register(undefined, request);
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "invalid_argument");
    assertEquals(result.message, "request must be fit for JSON");
    assertEquals(requests, []);
  }
});

Deno.test("registerClient() names an argument that is of no use", async () => {
  const rows: [args: unknown[], name: string][] = [
    [[null, {}, {}], "serverMetadata"],
    [[SERVER, null, {}], "request"],
    [[SERVER, "x", {}], "request"],
    [[SERVER, {}, "x"], "options"],
    [[SERVER, {}, { fetch: 7 }], "options.fetch"],
    [[SERVER, {}, { signal: {} }], "options.signal"],
    [[SERVER, {}, { headers: new Headers() }], "headers"],
  ];
  for (const [[server, request, options], name] of rows) {
    using stubbed = stubFetch({});
    const given = typeof options === "object"
      ? { fetch: stubbed.fetch, ...options }
      : options;
    await assertInvalidArgument(
      () => untyped(registerClient)(server, request, given),
      name,
    );
    assertEquals(stubbed.urls, []);
  }
});
