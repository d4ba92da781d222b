import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  clientSecretBasic,
  createDpop,
  getClaimsFromJWT,
  type IAuthorizationParameters,
  type IPushAuthorizationRequestOptions,
  OAuthClientError,
  privateKeyJwt,
  publicClient,
  pushAuthorizationRequest,
} from "../../../mod.ts";
import {
  AS,
  assertInvalidArgument,
  createSigningKeys,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

type PushedAuthorizationMetadata = Parameters<
  typeof pushAuthorizationRequest
>[0];

const PAR = `${AS}/par`;
const METADATA: PushedAuthorizationMetadata = {
  issuer: AS,
  authorization_endpoint: `${AS}/authorize?tenant=t1#f`,
  pushed_authorization_request_endpoint: PAR,
  code_challenge_methods_supported: ["S256"],
};
const PARAMETERS: IAuthorizationParameters = {
  redirectUri: "http://127.0.0.1:8123/callback",
  state: "s1",
  codeChallenge: "x1",
};
const SENT = {
  response_type: "code",
  client_id: "c1",
  redirect_uri: "http://127.0.0.1:8123/callback",
  state: "s1",
  code_challenge: "x1",
  code_challenge_method: "S256",
};
const PUSHED = { request_uri: "urn:r:1", expires_in: 90 };
const CLIENT = publicClient("c1", { issuer: AS });

function formOf(body: string | undefined): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}

/** Pushes a request and returns the result or the error, and what was sent. */
async function push(
  answer: Answer,
  options: Partial<IPushAuthorizationRequestOptions> = {},
  parameters: Partial<IAuthorizationParameters> = {},
  metadata: Partial<PushedAuthorizationMetadata> = {},
) {
  using stubbed = stubFetch({ [PAR]: answer });
  const { fetch, requests } = stubbed;
  const result = await pushAuthorizationRequest(
    { ...METADATA, ...metadata },
    { ...PARAMETERS, ...parameters },
    { client: CLIENT, fetch, now: () => 1_000_500, ...options },
  ).then((pushed) => ({ pushed }), (error: OAuthClientError) => ({ error }));
  return { requests, ...result };
}

Deno.test("pushAuthorizationRequest() returns the reference and the URL for the browser", async () => {
  for (const status of [201, 200]) {
    const made = await push(json(PUSHED, { status }));
    assert("pushed" in made);
    const { url, ...rest } = made.pushed;
    assertEquals(rest, { requestUri: "urn:r:1", expires_at: 1_090 });
    assertEquals(
      url.href,
      `${AS}/authorize?client_id=c1&request_uri=urn%3Ar%3A1&tenant=t1`,
    );
    const [request] = made.requests;
    assertEquals([request!.url, request!.method], [PAR, "POST"]);
    assertEquals(formOf(request!.body), SENT);
  }
});

Deno.test("pushAuthorizationRequest() sends every parameter of an authorization request", async () => {
  const { requests } = await push(json(PUSHED), {}, {
    scopes: ["read", "write"],
    resource: new URL("https://api.example/mcp"),
    authorizationDetails: [{ type: "payment", amount: { value: "1 \u20ac" } }],
    parameters: { prompt: "consent", empty: "" },
  });
  assertEquals(formOf(requests[0]!.body), {
    ...SENT,
    scope: "read write",
    resource: "https://api.example/mcp",
    authorization_details: '[{"type":"payment","amount":{"value":"1 \u20ac"}}]',
    prompt: "consent",
  });
});

Deno.test("pushAuthorizationRequest() authenticates the client and sends client_id with every method", async () => {
  const basic = await push(json(PUSHED), {
    client: clientSecretBasic("c1", "s3cret"),
  });
  assertEquals(basic.requests[0]!.headers.Authorization, "Basic YzE6czNjcmV0");
  assertEquals(formOf(basic.requests[0]!.body), SENT);

  const { privateKey } = await createSigningKeys();
  const signed = await push(json(PUSHED), {
    client: privateKeyJwt("c1", privateKey, { issuer: AS }),
  });
  const { client_assertion, client_assertion_type, ...rest } = formOf(
    signed.requests[0]!.body,
  );
  assertEquals(getClaimsFromJWT(client_assertion!).aud, AS);
  assert(client_assertion_type);
  assertEquals(rest, SENT);
});

Deno.test("pushAuthorizationRequest() binds the code to the DPoP key, and repeats a request that needs a nonce", async () => {
  const dpop = await createDpop();
  let count = 0;
  const { requests, ...made } = await push((request) => {
    const headers = { "DPoP-Nonce": "n1" };
    return ++count === 1
      ? json({ error: "use_dpop_nonce" }, { status: 400, headers })(request)
      : json(PUSHED, { status: 201, headers })(request);
  }, { dpop });
  assert("pushed" in made);
  assertEquals(requests.length, 2);
  const [first, second] = requests.map(({ headers }) =>
    getClaimsFromJWT(headers.DPoP!)
  );
  assertEquals([first!.nonce, second!.nonce], [undefined, "n1"]);
  assertEquals([second!.htm, second!.htu], ["POST", PAR]);
  for (const { body } of requests) {
    assertEquals(formOf(body), { ...SENT, dpop_jkt: dpop.thumbprint });
  }
});

Deno.test("pushAuthorizationRequest() reports the error of the server without what was sent", async () => {
  const made = await push(
    json({
      error: "invalid_request",
      error_description: "Not allowed: http://127.0.0.1:8123/callback",
      note: "s3cret-of-c1",
    }, { status: 400 }),
    { client: clientSecretBasic("c1", "s3cret-of-c1") },
  );
  assert("error" in made);
  const { code, error, status, url, message } = made.error;
  assertEquals([code, error, status, url], [
    "oauth_error",
    "invalid_request",
    400,
    PAR,
  ]);
  assertEquals(
    message,
    `The pushed authorization request to ${PAR} failed: 400 invalid_request: ` +
      "Not allowed: http://127.0.0.1:8123/callback",
  );
  assert(!JSON.stringify(made.error).includes("s3cret-of-c1"));
});

Deno.test("pushAuthorizationRequest() names the expected status", async () => {
  const made = await push(text("Busy", 503));
  assert("error" in made);
  assertEquals(
    made.error.message,
    `The pushed authorization request to ${PAR} failed: expected status 2xx, got 503`,
  );
});

Deno.test("pushAuthorizationRequest() fails on a response without a usable reference", async () => {
  for (
    const body of [
      {},
      { request_uri: "urn:r:1" },
      { expires_in: 90 },
      { request_uri: "", expires_in: 90 },
      { request_uri: 7, expires_in: 90 },
      { request_uri: "urn:r:1", expires_in: 0 },
      { request_uri: "urn:r:1", expires_in: "soon" },
    ]
  ) {
    const made = await push(json(body, { status: 201 }));
    assert("error" in made);
    assertEquals([made.error.code, made.error.message], [
      "invalid_response",
      `Pushed authorization response of ${PAR} has no usable request_uri or ` +
      "expires_in",
    ]);
  }
});

Deno.test("pushAuthorizationRequest() makes no request that it cannot use", async () => {
  const dpop = await createDpop();
  const rows: [
    code: string,
    options: Partial<IPushAuthorizationRequestOptions>,
    parameters: Partial<IAuthorizationParameters>,
    metadata: Record<string, unknown>,
  ][] = [
    ["unsupported", {}, {}, { authorization_endpoint: undefined }],
    ["unsupported", {}, {}, {
      pushed_authorization_request_endpoint: undefined,
    }],
    ["unsupported", {}, {}, { code_challenge_methods_supported: undefined }],
    ["url_refused", {}, {}, {
      pushed_authorization_request_endpoint: "http://as.example/par",
    }],
    [
      "issuer_mismatch",
      { client: publicClient("c1", { issuer: "https://other.example" }) },
      {},
      {},
    ],
    ["invalid_argument", { client: untyped({}) }, {}, {}],
    ["invalid_argument", {}, { state: "" }, {}],
    ["invalid_argument", { dpop }, { parameters: { dpop_jkt: "x" } }, {}],
  ];
  for (const [code, options, parameters, metadata] of rows) {
    const made = await push(json(PUSHED), options, parameters, metadata);
    assert("error" in made);
    assertEquals([made.error.code, made.requests.length], [code, 0]);
  }
  const { pushed } = await push(json(PUSHED), { assumePkce: true }, {}, {
    code_challenge_methods_supported: untyped(undefined),
  }) as { pushed?: unknown };
  assert(pushed);
});

Deno.test("pushAuthorizationRequest() names its purpose to allowUrl, and ends with the caller's signal", async () => {
  const purposes: string[] = [];
  await push(json(PUSHED), {
    allowUrl: (_url, purpose) => Boolean(purposes.push(purpose)),
  });
  assertEquals(purposes, ["pushed_authorization"]);
  const reason = new Error("enough");
  const made = await push(json(PUSHED), { signal: AbortSignal.abort(reason) });
  assert("error" in made);
  assertEquals<unknown>(made.error, reason);
  assertEquals(made.requests.length, 0);
});

Deno.test("pushAuthorizationRequest() names the argument that is wrong", async () => {
  const options = { client: CLIENT };
  await assertInvalidArgument(
    () => pushAuthorizationRequest(untyped(null), PARAMETERS, options),
    "serverMetadata",
  );
  await assertRejects(
    () => pushAuthorizationRequest(METADATA, PARAMETERS, untyped(undefined)),
    OAuthClientError,
    "options must be an object",
  );
});
