import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertNotMatch,
  assertStrictEquals,
} from "@std/assert";
import {
  clientSecretBasic,
  clientSecretPost,
  fetchDeviceAuthorization,
  type IFetchDeviceAuthorizationOptions,
  OAuthClientError,
  publicClient,
} from "../../../mod.ts";
import {
  AS,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  SERVER,
} from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

/** Starts a device authorization at the time of 1000.9 s. */
async function start(
  answer: Answer,
  options: Partial<IFetchDeviceAuthorizationOptions> = {},
  server = SERVER,
) {
  using stubbed = stubFetch({ [DEVICE_AUTHORIZATION_ENDPOINT]: answer });
  const result = await fetchDeviceAuthorization(server, {
    fetch: stubbed.fetch,
    client: publicClient("c1"),
    now: () => 1_000_900,
    ...options,
  }).catch((error) => error);
  return { result, requests: stubbed.requests };
}

Deno.test("fetchDeviceAuthorization() posts client, scopes, resource and further parameters", async () => {
  const rows: [IFetchDeviceAuthorizationOptions, body: string][] = [
    [{}, "client_id=c1"],
    [{ scopes: [] }, "client_id=c1"],
    [{ scopes: ["a", "b"] }, "scope=a+b&client_id=c1"],
    [{ resource: false }, "client_id=c1"],
    [
      { resource: "https://api.example" },
      "resource=https%3A%2F%2Fapi.example" +
      "&client_id=c1",
    ],
    [
      { parameters: { x: "1" }, scopes: ["a"] },
      "scope=a&x=1" +
      "&client_id=c1",
    ],
    [
      {
        parameters: { x: "1" },
        scopes: ["a"],
        resource: "https://api.example",
      },
      "resource=https%3A%2F%2Fapi.example&scope=a&x=1" +
      "&client_id=c1",
    ],
    [{ client: clientSecretBasic("c1", "s") }, ""],
  ];
  for (const [options, body] of rows) {
    const { requests } = await start(json(DEVICE_AUTHORIZATION), options);
    assertEquals(requests.map(({ body }) => body), [body]);
    assertEquals(requests[0]?.method, "POST");
    assertEquals(requests[0]?.headers.Accept, "application/json");
  }
});

Deno.test("fetchDeviceAuthorization() stamps the end of the codes", async () => {
  const { result } = await start(json(DEVICE_AUTHORIZATION));
  assertEquals(result, { ...DEVICE_AUTHORIZATION, expires_at: 1600 });
});

const MEMBERS: [
  name: string,
  members: Record<string, unknown>,
  expected: Record<string, unknown>,
][] = [
  ["an interval", { interval: 7 }, { interval: 7 }],
  ["an interval of zero", { interval: 0 }, { interval: 0 }],
  ["digits", { interval: "7", expires_in: "60" }, {
    interval: 7,
    expires_in: 60,
    expires_at: 1060,
  }],
  ["null for no interval", { interval: null }, {}],
  ["an interval that is none", { interval: "soon" }, {}],
  ["a negative interval", { interval: -5 }, {}],
  ["a complete address", {
    verification_uri_complete: `${AS}/activate?user_code=WDJB-MJHT`,
  }, { verification_uri_complete: `${AS}/activate?user_code=WDJB-MJHT` }],
  ["null for no complete address", { verification_uri_complete: null }, {}],
  ["verification_url", {
    verification_uri: undefined,
    verification_url: "https://google.example/device",
  }, { verification_uri: "https://google.example/device" }],
  ["verification_uri before verification_url", {
    verification_url: "https://other.example/",
  }, {}],
  ["http on loopback", { verification_uri: "http://127.0.0.1:1/x" }, {
    verification_uri: "http://127.0.0.1:1/x",
  }],
  ["members that nobody asked for", { message: "Go there" }, {}],
];

for (const [name, members, expected] of MEMBERS) {
  Deno.test(`fetchDeviceAuthorization() reads ${name}`, async () => {
    const { result } = await start(
      json({ ...DEVICE_AUTHORIZATION, ...members }),
    );
    assertEquals(result, {
      ...DEVICE_AUTHORIZATION,
      expires_at: 1600,
      ...expected,
    });
  });
}

Deno.test("fetchDeviceAuthorization() fails where a required member is missing", async () => {
  const answers = [
    text("<html>", 200),
    text("", 200),
    json([DEVICE_AUTHORIZATION]),
  ];
  for (const name of Object.keys(DEVICE_AUTHORIZATION)) {
    for (const value of [undefined, null, "", 0, -1, {}]) {
      answers.push(json({ ...DEVICE_AUTHORIZATION, [name]: value }));
    }
  }
  for (const answer of answers) {
    const { result } = await start(answer);
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, result.url], [
      "invalid_response",
      DEVICE_AUTHORIZATION_ENDPOINT,
    ]);
    assertNotMatch(result.message, /d1|WDJB/);
  }
});

Deno.test("fetchDeviceAuthorization() refuses an address that no user is to be sent to", async () => {
  const addresses = [
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "http://as.example/activate",
    "https://user:s3cret@as.example/activate",
    "/activate",
    "https://as.example/\u0000",
    "https://as.example/a b",
  ];
  const names = [
    "verification_uri",
    "verification_url",
    "verification_uri_complete",
  ];
  for (const address of addresses) {
    for (const name of names) {
      const { verification_uri: _, ...rest } = DEVICE_AUTHORIZATION;
      const base = name === "verification_url" ? rest : DEVICE_AUTHORIZATION;
      const { result } = await start(json({ ...base, [name]: address }));
      assertInstanceOf(result, OAuthClientError);
      assertEquals(result.code, "url_refused");
      assertNotMatch(result.message, /s3cret/);
    }
  }
});

Deno.test("fetchDeviceAuthorization() shows no secret that a refused address repeats", async () => {
  const secret = "s3cret-Value";
  const address = `ftp://evil.example/?s=${secret}`;
  for (const name of ["verification_uri", "verification_uri_complete"]) {
    for (const client of [clientSecretPost, clientSecretBasic]) {
      const answer = json({ ...DEVICE_AUTHORIZATION, [name]: address });
      const { result } = await start(answer, { client: client("c1", secret) });
      assertInstanceOf(result, OAuthClientError);
      assertEquals(
        [result.code, result.url, result.status],
        ["url_refused", DEVICE_AUTHORIZATION_ENDPOINT, 200],
      );
      const cause = result.cause instanceof Error ? result.cause.message : "";
      assertMatch(result.message, /ftp:\/\/evil\.example/);
      assertNotMatch(
        result.message + cause + JSON.stringify(result),
        /s3cret|Value/,
      );
    }
  }
});

Deno.test("fetchDeviceAuthorization() takes http addresses when allowed", async () => {
  const verification_uri = "http://as.example/activate";
  const answer = json({ ...DEVICE_AUTHORIZATION, verification_uri });
  const { result } = await start(answer, { allowHttp: true });
  assertEquals(result.verification_uri, verification_uri);
});

Deno.test("fetchDeviceAuthorization() tells what the server refused", async () => {
  const answer = json({
    error: "unauthorized_client",
    error_description: "No device flow",
  }, { status: 400 });
  const { result } = await start(answer);
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "oauth_error");
  assertEquals(result.error, "unauthorized_client");
  assertEquals(result.error_description, "No device flow");
});

Deno.test("fetchDeviceAuthorization() fails before any request at a server without the endpoint", async () => {
  const { device_authorization_endpoint: _, ...server } = SERVER;
  const { result, requests } = await start(
    json(DEVICE_AUTHORIZATION),
    {},
    server,
  );
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "unsupported");
  assertEquals(requests, []);
});

Deno.test("fetchDeviceAuthorization() shows an issuer's client to no other issuer", async () => {
  const client = publicClient("c1", { issuer: "https://other.example" });
  const { result, requests } = await start(json(DEVICE_AUTHORIZATION), {
    client,
  });
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "issuer_mismatch");
  assertEquals(requests, []);
});

Deno.test("fetchDeviceAuthorization() ends with the reason of an abort", async () => {
  const { answer, signal, reason } = aborted();
  const { result } = await start(answer, { signal });
  assertStrictEquals(result, reason);
});

Deno.test("fetchDeviceAuthorization() refuses options that are no object", async () => {
  const result = await untyped(fetchDeviceAuthorization)(SERVER, null)
    .catch((error: unknown) => error);
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "invalid_argument");
});

Deno.test("fetchDeviceAuthorization() checks scopes, resource and parameters, before any request", async () => {
  const rows: [options: Record<string, unknown>, name: string][] = [
    [{ scopes: "a b" }, "scopes"],
    [{ scopes: [7] }, "scopes"],
    [{ resource: 7 }, "resource"],
    [{ scopes: ["a b"] }, "scopes"],
    [{ parameters: { x: 7 } }, "parameters"],
    [{ parameters: { client_id: "c2" } }, "parameters"],
    [{ parameters: { scope: "b" } }, "parameters"],
    [{ parameters: new Map([["x", "1"]]) }, "parameters"],
    [{ parameters: new URLSearchParams("x=1") }, "parameters"],
  ];
  for (const [options, name] of rows) {
    const { result, requests } = await start(
      json(DEVICE_AUTHORIZATION),
      untyped(options),
    );
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "invalid_argument");
    assertEquals(result.message.split(" ")[0], name);
    assertEquals(requests, []);
  }
});
