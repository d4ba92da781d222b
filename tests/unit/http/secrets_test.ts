/** Values of a request that a server repeats must not stand in an error. */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
} from "@std/assert";
import {
  clientAssertion,
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
  pollBackchannelToken,
  privateKeyJwt,
  publicClient,
  redeemIdJag,
  refreshToken,
  registerClient,
  requestBackchannelAuthentication,
} from "../../../mod.ts";
import { done, pending, poll } from "../../support/poll_device_token.ts";
import { redirection } from "../../support/resource.ts";
import { shown } from "../../support/shown.ts";
import { tokenErrorOf } from "../../support/request_token.ts";
import {
  API,
  AS,
  createSigningKeys,
  idJagReply,
  MCP,
  REGISTRATION_ENDPOINT,
  SERVER,
  signIdJag,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

async function failureOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("The call did not fail");
}

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
  [
    "divided by an invisible character",
    (value) => `${value.slice(0, 5)}\u200e${value.slice(5)}`,
  ],
];

for (const [name, encode] of ENCODINGS) {
  Deno.test(`fetchToken() leaves out a description with a secret, ${name}`, async () => {
    const answer = json({
      error: "invalid_client",
      error_description: `Wrong: ${encode(SECRET)}`,
      hint: { of: [encode(SECRET)] },
      [encode(SECRET)]: true,
      help: "Ask the operator",
    }, { status: 401 });
    for (const create of [clientSecretPost, clientSecretBasic]) {
      const client = create("c1", SECRET);
      const error = await tokenErrorOf(answer, { client });
      assertEquals(error.error, "invalid_client");
      assertEquals(error.error_description, undefined);
      assertEquals(error.errorResponse, {
        error: "invalid_client",
        hint: { of: [null] },
        help: "Ask the operator",
      });
      assert(!shown(error).includes(encode(SECRET)));
    }
  });
}

Deno.test("fetchToken() leaves out a description that is cut within a secret", async () => {
  const code = "s3cr3t-c0d3-".repeat(300);
  for (const padding of [0, 1_500, 1_985]) {
    const error_description = "x".repeat(padding) + code;
    const answer = json({ error: "invalid_grant", error_description });
    const error = await tokenErrorOf(answer, {}, new URLSearchParams({ code }));
    assertEquals(error.error_description, undefined);
    assertEquals(error.errorResponse, { error: "invalid_grant" });
  }
});

Deno.test("fetchToken() keeps an error code and words that are no secrets", async () => {
  const error_description =
    "AADSTS2000: Bearer tokens need a client_id, not c-1234567";
  const error = await tokenErrorOf(
    json({ error: "AADSTS2000", error_description }),
    {
      client: publicClient("c-1234567"),
      headers: { Authorization: "Bearer abcdefghij" },
    },
    new URLSearchParams({ device_code: "2000" }),
  );
  assertEquals(error.error, "AADSTS2000");
  assertEquals(error.error_description, error_description);
});

Deno.test("pollDeviceToken() continues with a device code of authorization_pending", async () => {
  const device_code = "authorization_pending";
  const { result } = await poll([pending, done], { device_code });
  assertEquals(result.access_token, "t");
});

/** A part of every secret, so that one search finds them all. */
const MARK = "hushHUSH";
const marked = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, `${name}-${MARK}`]));

/** Responses that fail; most repeat the request. */
const FAILURES: Record<string, Answer> = {
  "what fetch throws": ({ body, headers }) =>
    Promise.reject(`${body} ${Object.values(headers)}`),
  "a redirect": ({ body }) =>
    Response.redirect(`https://evil.example/?${body}`),
  "a page": ({ body, headers }) =>
    new Response(`<p>${body} ${Object.values(headers)}</p>`, { status: 500 }),
  "a page with status 200": ({ body }) => new Response(`<p>${body}</p>`),
  "broken JSON": ({ body }) => new Response(`{"access_token": "${body}`),
  "an error response": ({ body, headers }) => {
    const members = Object.fromEntries(new URLSearchParams(body));
    return Response.json({
      ...members,
      error: "invalid_grant",
      error_description: `Bad: ${body} ${Object.values(headers)}`,
      error_uri: `https://as.example/?${body}`,
      more: { deep: [body, members] },
    }, { status: 400 });
  },
  "an error of another type": ({ body }) =>
    Response.json({ error: Object.fromEntries(new URLSearchParams(body)) }),
  "a URL that is refused": ({ body }) =>
    Response.json({
      device_code: "d",
      user_code: "U",
      verification_uri: `http://as.example/${body}`,
      expires_in: 600,
    }),
  "a token of another type": json({ access_token: [`access-${MARK}`] }),
  "401 with a token": json({ access_token: MARK }, { status: 401 }),
};

/** Operations that send secrets; each fails at every server above. */
const OPERATIONS: Record<
  string,
  (options: {
    fetch: IFetch;
    client: IClientAuthentication;
    headers: Record<string, string>;
  }) => Promise<unknown>
> = {
  fetchToken: (options) => {
    const names = ["code", "code_verifier", "subject_token", "actor_token"];
    return fetchToken(SERVER, new URLSearchParams(marked(names)), options);
  },
  refreshToken: (options) =>
    refreshToken(SERVER, untyped(marked(["refresh_token"])), options),
  fetchIdJag: (options) =>
    fetchIdJag(SERVER, { ...options, subjectToken: MARK, audience: API }),
  fetchDeviceAuthorization: (options) =>
    fetchDeviceAuthorization(
      { issuer: AS, device_authorization_endpoint: TOKEN_ENDPOINT },
      { ...options, parameters: marked(["login_hint"]) },
    ),
  requestBackchannelAuthentication: (options) =>
    requestBackchannelAuthentication(
      {
        issuer: AS,
        backchannel_authentication_endpoint: TOKEN_ENDPOINT,
        backchannel_token_delivery_modes_supported: ["poll"],
      },
      { ...options, idTokenHint: MARK, bindingMessage: `Pay ${MARK}` },
    ),
  pollBackchannelToken: (options) => {
    // Expired before a second poll.
    const expires_at = Date.now() / 1000 + 7;
    const authentication = { auth_req_id: MARK, expires_in: 7, expires_at };
    const delay = () => Promise.resolve();
    let time = Date.now();
    const now = () => time += 1000;
    return pollBackchannelToken(SERVER, authentication, {
      ...options,
      ...{ delay, now },
    });
  },
};

for (const [name, call] of Object.entries(OPERATIONS)) {
  Deno.test(`${name}() shows no secret, whatever fails`, async () => {
    const secret = `secret-${MARK}`;
    const clients = [
      clientSecretPost("c1", secret),
      clientSecretBasic("c1", secret),
    ];
    for (const client of clients) {
      for (const [failure, answer] of Object.entries(FAILURES)) {
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
  const { issuer } = SERVER;
  const client = privateKeyJwt("c-at-as", privateKey, { issuer });
  const cnf = { jkt: dpop.thumbprint };
  const assertion = await signIdJag({ exp: 9e9, cnf });
  for (const [failure, answer] of Object.entries(FAILURES)) {
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
/** Responds with metadata that has an endpoint, or another member. */
const metadata = (members: object) =>
  Response.json({
    issuer: AS,
    resource: MCP,
    authorization_servers: [AS],
    ...members,
  });

/** Further responses that repeat a header field of the caller, or the token in it. */
const ECHOES: Record<string, Answer> = {
  ...FAILURES,
  "other JSON": ({ headers }) =>
    Response.json({ [String(headers.Authorization)]: 1 }),
  "the identifier": ({ headers }) => {
    const url = `${AS}/${headers.Authorization}`;
    return Response.json({ resource: url, issuer: url });
  },
  "an endpoint": () =>
    metadata({ token_endpoint: `ftp://evil.example/${TOKEN}` }),
  "a server of http": () =>
    metadata({ authorization_servers: [`http://evil.example/${TOKEN}`] }),
  "a server of https": () =>
    metadata({ authorization_servers: [`https://evil.example/${TOKEN}`] }),
  "a redirect": () => redirection(`/${TOKEN}`),
  "a text that is cut": ({ headers }) =>
    new Response(" ".repeat(1_990) + headers.Authorization, { status: 400 }),
};
for (const length of [160, 165, 170, 174]) {
  const start = `http://as.example/${"x".repeat(length)}`;
  ECHOES[`an endpoint that is cut after ${length} characters`] = () =>
    metadata({ token_endpoint: start + TOKEN });
}

type Headers = Record<string, string>;
const CALLS: Record<
  string,
  (fetch: IFetch, headers: Headers) => Promise<unknown>
> = {
  fetchResourceMetadata: (fetch, sameOriginHeaders) =>
    fetchResourceMetadata(MCP, undefined, { fetch, sameOriginHeaders }),
  fetchAuthorizationServerMetadata: (fetch, additionalHeaders) =>
    fetchAuthorizationServerMetadata(AS, { fetch, additionalHeaders }),
  discoverAuthorization: (fetch, headers) =>
    discoverAuthorization(MCP, {
      fetch,
      sameOriginHeaders: headers,
      additionalHeaders: headers,
    }),
  discoverAuthorizationServer: (fetch, additionalHeaders) =>
    discoverAuthorizationServer(AS, { fetch, additionalHeaders }),
  fetchDynamicRegistration: (fetch, headers) =>
    fetchDynamicRegistration(SERVER, "Test", undefined, { fetch, headers }),
  registerClient: (fetch, headers) =>
    registerClient(SERVER, {}, { fetch, headers }),
  fetchToken: (fetch, headers) =>
    fetchToken(SERVER, new URLSearchParams({ a: "1" }), { fetch, headers }),
};

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`${name}() shows no header field of the caller that a server repeats`, async () => {
    for (const [where, echo] of Object.entries(ECHOES)) {
      const fetch: IFetch = async (url, init) =>
        await echo({ url, body: undefined, ...init, init });
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
  const dpop = {
    createProof: () => Promise.resolve("proof"),
    noteResponse() {},
  };
  const error = await tokenErrorOf(
    json({ access_token: "t", token_type: code }),
    { dpop: untyped(dpop) },
    new URLSearchParams({ code }),
  );
  assertEquals(error.code, "invalid_response");
  assert(!shown(error).includes("s3cret"));
});

Deno.test("registerClient() ends with an error that repeats a secret which is a part of [redacted]", async () => {
  for (const value of ["redacted", "[redacted]", "redacted]"]) {
    using stub = stubFetch({
      [REGISTRATION_ENDPOINT]: text(`token ${value} is not valid`, 401),
    });
    const headers = { Authorization: `Bearer ${value}` };
    await assertRejects(
      () => registerClient(SERVER, {}, { headers, fetch: stub.fetch }),
      OAuthClientError,
      "token [redacted] is not valid",
    );
  }
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
    client: clientAssertion("c1", () => `s3cret-assertion-${sent.length}`),
    dpop: await createDpop(),
  });
  assertEquals(sent.length, 2);
  assertEquals(error.error_description, undefined);
});
