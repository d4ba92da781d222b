/** A pushed request leads to a reference that the browser can use. */

import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizationParameters,
  clientAssertion,
  clientSecretBasic,
  createDpop,
  getClaimsFromJWT,
  publicClient,
  pushAuthorizationRequest,
  type PushAuthorizationRequestOptions,
} from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import { AS, REDIRECT_URI } from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

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
const PARAMETERS: AuthorizationParameters = {
  redirectUri: REDIRECT_URI,
  state: "s1",
  codeChallenge: "x1",
};
const SENT = {
  response_type: "code",
  client_id: "c1",
  redirect_uri: REDIRECT_URI,
  state: "s1",
  code_challenge: "x1",
  code_challenge_method: "S256",
};
const PUSHED = { request_uri: "urn:r:1", expires_in: 90 };
const CLIENT = publicClient("c1", { issuer: AS });

function formOf(body: string | undefined): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}

/** Pushes a request; the result, or the error and its members, and what was sent. */
async function push(
  answer: Answer,
  options: Partial<PushAuthorizationRequestOptions> = {},
  parameters: Partial<AuthorizationParameters> = {},
  metadata: Record<string, unknown> = {},
) {
  using stubbed = stubFetch({ [PAR]: answer });
  const { fetch, requests } = stubbed;
  const result = await pushAuthorizationRequest(
    untyped({ ...METADATA, ...metadata }),
    { ...PARAMETERS, ...parameters },
    { client: CLIENT, fetch, now: () => 1_000_500, ...options },
  ).catch((error) => untyped(error));
  const forms = requests.map(({ body }) => formOf(body));
  return { result, requests, forms };
}

Deno.test("pushAuthorizationRequest() returns the reference and the URL for the browser", async () => {
  for (const status of [201, 200]) {
    const { result, requests, forms } = await push(json(PUSHED, { status }));
    const query = "client_id=c1&request_uri=urn%3Ar%3A1&tenant=t1";
    assertEquals({ ...result, url: result.url.href }, {
      requestUri: "urn:r:1",
      expires_at: 1_090,
      url: `${AS}/authorize?${query}`,
    });
    assertEquals(requests.map(({ method }) => method), ["POST"]);
    assertEquals(forms, [SENT]);
  }
});

Deno.test("pushAuthorizationRequest() sends every parameter of an authorization request", async () => {
  const { forms } = await push(json(PUSHED), {}, {
    scopes: ["read", "write"],
    resource: new URL("https://api.example/mcp"),
    authorizationDetails: [{ type: "payment", amount: { value: "1 \u20ac" } }],
    parameters: { prompt: "consent", empty: "" },
  });
  assertEquals(forms[0], {
    ...SENT,
    scope: "read write",
    resource: "https://api.example/mcp",
    authorization_details: '[{"type":"payment","amount":{"value":"1 \u20ac"}}]',
    prompt: "consent",
  });
});

Deno.test("pushAuthorizationRequest() authenticates the client and sends client_id with every method", async () => {
  const client = clientSecretBasic("c1", "s3cret");
  const basic = await push(json(PUSHED), { client });
  assertEquals(basic.requests[0]!.headers.Authorization, "Basic YzE6czNjcmV0");
  assertEquals(basic.forms, [SENT]);

  const signing = clientAssertion("c1", ({ issuer }) => `jwt for ${issuer}`);
  const signed = await push(json(PUSHED), { client: signing });
  const { client_assertion, client_assertion_type, ...rest } = signed.forms[0]!;
  assert(client_assertion_type);
  assertEquals([client_assertion, rest], [`jwt for ${AS}`, SENT]);
});

Deno.test("pushAuthorizationRequest() binds the code to the DPoP key, and repeats a request that needs a nonce", async () => {
  const dpop = await createDpop();
  let count = 0;
  const { requests, forms } = await push((request) => {
    const headers = { "DPoP-Nonce": "n1" };
    return ++count === 1
      ? json({ error: "use_dpop_nonce" }, { status: 400, headers })(request)
      : json(PUSHED, { status: 201, headers })(request);
  }, { dpop });
  const sent = { ...SENT, dpop_jkt: dpop.thumbprint };
  assertEquals(forms, [sent, sent]);
  const [first, second] = requests.map(({ headers }) =>
    getClaimsFromJWT(headers.DPoP!)
  );
  assertEquals([first!.nonce, second!.nonce], [undefined, "n1"]);
  assertEquals([second!.htm, second!.htu], ["POST", PAR]);
});

Deno.test("pushAuthorizationRequest() reports the error of the server without what was sent", async () => {
  const body = {
    error: "invalid_request",
    error_description: `Not allowed: ${REDIRECT_URI}`,
    note: "s3cret-of-c1",
  };
  const client = clientSecretBasic("c1", "s3cret-of-c1");
  const { result } = await push(json(body, { status: 400 }), { client });
  const { code, error, status, url } = pinMessage(result);
  const members = [code, error, status, url];
  assertEquals(members, ["oauth_error", "invalid_request", 400, PAR]);
  assert(!JSON.stringify(result).includes("s3cret-of-c1"));
});

Deno.test("pushAuthorizationRequest() fails on a response without a usable reference", async () => {
  const wrong = [
    ...[undefined, "", 7].map((request_uri) => ({ request_uri })),
    ...[undefined, 0, "soon"].map((expires_in) => ({ expires_in })),
  ];
  for (const members of wrong) {
    const { result } = await push(json({ ...PUSHED, ...members }));
    assertEquals(pinMessage(result).code, "invalid_response");
  }
});

Deno.test("pushAuthorizationRequest() makes no request that it cannot use", async () => {
  const dpop = await createDpop();
  const PAR_ENDPOINT = "pushed_authorization_request_endpoint";
  const noPkce = { code_challenge_methods_supported: undefined };
  const other = publicClient("c1", { issuer: "https://other.example" });
  type Row = [
    code: string,
    metadata: Record<string, unknown>,
    options?: Partial<PushAuthorizationRequestOptions>,
    parameters?: Partial<AuthorizationParameters>,
  ];
  const rows: Row[] = [
    ["unsupported", { authorization_endpoint: undefined }],
    ["unsupported", { [PAR_ENDPOINT]: undefined }],
    ["unsupported", noPkce],
    ["url_refused", { [PAR_ENDPOINT]: "http://as.example/par" }],
    ["issuer_mismatch", {}, { client: other }],
    ["invalid_argument", {}, { client: untyped({}) }],
    ["invalid_argument", {}, {}, { state: "" }],
    ["invalid_argument", {}, { dpop }, { parameters: { dpop_jkt: "x" } }],
    ["invalid_argument", {}, { dpop }, { parameters: untyped("x") }],
  ];
  await eachRowInTurn(rows, async ([code, metadata, options, parameters]) => {
    const made = await push(json(PUSHED), options, parameters, metadata);
    assertEquals([made.result.code, made.requests], [code, []]);
  });
  const assumePkce = true;
  const { result } = await push(json(PUSHED), { assumePkce }, {}, noPkce);
  assertEquals(result.requestUri, PUSHED.request_uri);
});

Deno.test("pushAuthorizationRequest() names its purpose to allowUrl, and ends with the caller's signal", async () => {
  const purposes: string[] = [];
  await push(json(PUSHED), {
    allowUrl: (_url, purpose) => Boolean(purposes.push(purpose)),
  });
  assertEquals(purposes, ["pushed_authorization"]);
  const reason = new Error("enough");
  const made = await push(json(PUSHED), { signal: AbortSignal.abort(reason) });
  assertEquals([made.result, made.requests], [reason, []]);
});

testInvalidArguments(pushAuthorizationRequest, [
  ["serverMetadata", null, PARAMETERS, { client: CLIENT }],
  ["options", METADATA, PARAMETERS, undefined],
]);
