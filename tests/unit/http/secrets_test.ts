/** What was sent, and what was issued, must not stand in an error or an event. */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  type AuthorizedFetchEvent,
  type AuthorizedFetchOptions,
  clientAssertion,
  type ClientAuthentication,
  clientSecretBasic,
  clientSecretPost,
  codeFlow,
  createDpop,
  discoverAuthorization,
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
  fetchDeviceAuthorization,
  fetchDynamicRegistration,
  fetchIdJag,
  type FetchLike,
  fetchResourceMetadata,
  fetchToken,
  memoryStore,
  OAuthClientError,
  pollBackchannelToken,
  privateKeyJwt,
  publicClient,
  redeemIdJag,
  refreshToken,
  registerClient,
  requestBackchannelAuthentication,
  type Session,
  type SessionStore,
} from "../../../mod.ts";
import { done, pending, poll } from "../../support/poll_device_token.ts";
import {
  byUrl,
  redirection,
  resourceFetch,
  type Respond,
  SESSION,
  unauthorizedAt,
} from "../../support/resource.ts";
import { shown } from "../../support/shown.ts";
import { tokenErrorOf } from "../../support/request_token.ts";
import {
  API,
  AS,
  CODE_SERVER,
  comeBack,
  createSigningKeys,
  idJagReply,
  MCP,
  OAUTH,
  pinRejected,
  PRM,
  REGISTRATION_ENDPOINT,
  SERVER,
  signIdJag,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  statusOf,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

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

Deno.test("fetchToken() leaves out an error code with a secret", async () => {
  for (const repeated of ["s3cr3t-c0d3", "no code s3cr3t-c0d3"]) {
    const error = await tokenErrorOf(
      json({ error: repeated }),
      {},
      new URLSearchParams({ code: "s3cr3t-c0d3" }),
    );
    assertEquals([error.code, error.error], ["oauth_error", undefined]);
    assert(!shown(error).includes("s3cr3t"));
  }
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

/** A server with one URL for all of its endpoints. */
const EVERYWHERE = {
  ...SERVER,
  device_authorization_endpoint: TOKEN_ENDPOINT,
  backchannel_authentication_endpoint: TOKEN_ENDPOINT,
  backchannel_token_delivery_modes_supported: ["poll"],
};

/** Operations that send secrets; each fails at every server above. */
const OPERATIONS: Record<
  string,
  (options: {
    fetch: FetchLike;
    client: ClientAuthentication;
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
  fetchDeviceAuthorization: (options) => {
    const parameters = marked(["login_hint"]);
    return fetchDeviceAuthorization(EVERYWHERE, { ...options, parameters });
  },
  requestBackchannelAuthentication: (options) => {
    const request = { idTokenHint: MARK, bindingMessage: `Pay ${MARK}` };
    return requestBackchannelAuthentication(EVERYWHERE, {
      ...options,
      ...request,
    });
  },
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
        const send = () => call({ fetch, client, headers });
        const error = await assertRejects(send, OAuthClientError);
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
    const redeem = () => redeemIdJag(SERVER, { assertion }, options);
    const error = await assertRejects(redeem);
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
    const calls = [
      () => fetchIdJag(SERVER, options),
      () => redeemIdJag(SERVER, { assertion: token }, {}),
    ];
    for (const call of calls) {
      const error = await assertRejects(call);
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
  (fetch: FetchLike, headers: Headers) => Promise<unknown>
> = {
  fetchResourceMetadata: (fetch, sameOriginHeaders) =>
    fetchResourceMetadata(MCP, undefined, { fetch, sameOriginHeaders }),
  fetchAuthorizationServerMetadata: (fetch, additionalHeaders) =>
    fetchAuthorizationServerMetadata(AS, { fetch, additionalHeaders }),
  discoverAuthorization: (fetch, headers) =>
    discoverAuthorization(MCP, {
      fetch,
      resourceMetadataHeaders: headers,
      serverMetadataHeaders: headers,
    }),
  discoverAuthorizationServer: (fetch, additionalHeaders) =>
    discoverAuthorizationServer(AS, {
      fetch,
      serverMetadataHeaders: additionalHeaders,
    }),
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
      const fetch: FetchLike = async (url, init) =>
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
    await pinRejected(
      () => registerClient(SERVER, {}, { headers, fetch: stub.fetch }),
      "unexpected_status",
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

// From here on, a resource repeats what the authorized fetch has sent to it.
const KEY = "k3y-of/the+caller";
const OTHER = "https://other.example";

/** Fails unless an error has this code, and shows none of the values. */
function assertHides(error: unknown, code: string, values: string[]): void {
  assert(error instanceof OAuthClientError);
  assertEquals<string>(error.code, code, error.message);
  const text = shown(error);
  for (const value of values) {
    assert(!text.includes(value), text);
    // A part would do for a token in a JWT.
    assert(!text.includes(value.slice(2, 14)), text);
  }
  assert(text.includes("[redacted]"), text);
}

/** A 401 that names this URL. */
function challenge(url: string): Response {
  const headers = { "WWW-Authenticate": `Bearer resource_metadata="${url}"` };
  return new Response(null, { status: 401, headers });
}

type Encode = (value: string) => string;
const IN_URLS: Record<string, Encode> = {
  "as it was sent": (value) => value,
  "percent-encoded": encodeURIComponent,
  "in a query": (value) => `${new URLSearchParams({ q: value })}`,
};

/** The token without a refresh, which the fetch would try first. */
const { refresh_token: REFRESH_TOKEN = "", ...token } = SESSION.token;
const { access_token } = token;

/** A flow with a user who consents at once. */
const signIn = () =>
  codeFlow({
    clientMetadata: { client_name: "x", redirect_uris: [] },
    redirectUri: "https://app.example/callback",
    visit: (url) => comeBack(url),
  });

function fetchWith(
  respond: Respond,
  session: Partial<Session> = {},
  options: Partial<AuthorizedFetchOptions> = {},
) {
  const events: AuthorizedFetchEvent[] = [];
  const { api } = resourceFetch(respond, {
    store: memoryStore({ ...SESSION, token, ...session }),
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { api, events };
}

const missing: Respond = () => new Response(null, { status: 404 });

const KEY_FIELD = { "X-Api-Key": KEY };

interface Case {
  respond: Respond;
  code?: string;
  values: string[];
  session?: Partial<Session>;
  method?: string;
}

/** Responds with a 401 that names a URL with what was sent. */
const repeatingAt =
  (origin: string, encode: Encode): Respond => ({ url, headers }) => {
    if (url !== MCP) return new Response(null, { status: 404 });
    const token = encode(headers.get("Authorization")!.slice(7));
    const key = encode(headers.get("X-Api-Key")!);
    return challenge(`${origin}/?${token}&${key}`);
  };

const REPEATED: Record<string, Case> = {
  // Which its server may have passed on.
  "the refresh token from Location": {
    respond: () => redirection(`http://127.0.0.1/?${REFRESH_TOKEN}`),
    code: "redirect_refused",
    values: [REFRESH_TOKEN],
    session: { token: SESSION.token },
  },
  "the ID-JAG from resource_metadata": {
    respond: ({ url }) =>
      url === MCP
        ? challenge(`${OTHER}/?id-jag-of-the-session`)
        : new Response(null, { status: 404 }),
    values: ["id-jag-of-the-session"],
    session: { internal: { idJag: { assertion: "id-jag-of-the-session" } } },
  },
};
for (const [name, encode] of Object.entries(IN_URLS)) {
  const values = [encode(access_token), encode(KEY)];
  for (const origin of [OTHER, API]) {
    REPEATED[`a token from resource_metadata at ${origin}, ${name}`] = {
      respond: repeatingAt(origin, encode),
      values,
    };
  }
  // The redirects within the origin end with one more than are followed.
  for (const target of ["http://127.0.0.1", API]) {
    REPEATED[`a token from Location at ${target}, ${name}`] = {
      respond: () => redirection(`${target}/?${values.join("&")}`),
      code: "redirect_refused",
      values,
    };
  }
  REPEATED[`a token from Location of a POST, ${name}`] = {
    respond: () => redirection(`${OTHER}/?${values.join("&")}`),
    code: "redirect_refused",
    values: values.slice(0, 1),
    method: "POST",
  };
}

for (const [name, one] of Object.entries(REPEATED)) {
  Deno.test(`createAuthorizedFetch() does not repeat ${name}`, async () => {
    const { respond, code = "discovery_failed", values, method = "GET" } = one;
    const { api } = fetchWith(respond, one.session);
    const error = await assertRejects(() =>
      api(MCP, { method, headers: KEY_FIELD })
    );
    assertHides(error, code, values);
  });
}

Deno.test("createAuthorizedFetch() repeats no proof, and no token that was refreshed on the way", async () => {
  const dpop = await createDpop();
  const proofs: string[] = [];
  const { api } = resourceFetch(({ url, headers }) => {
    if (url === TOKEN_ENDPOINT) {
      const fresh = { access_token: "a-token-that-is-new", token_type: "DPoP" };
      return Response.json(fresh);
    }
    if (url !== MCP) return new Response(null, { status: 404 });
    proofs.push(headers.get("DPoP")!);
    return challenge(`${OTHER}/${access_token}/${proofs[0]}`);
  }, {
    dpop,
    store: memoryStore({ ...SESSION, dpopThumbprint: dpop.thumbprint }),
  });
  const error = await assertRejects(() => api(MCP));
  assertEquals(proofs.length, 2);
  assertHides(error, "discovery_failed", [access_token, proofs[0]!]);
});

Deno.test("createAuthorizedFetch().renew() repeats no token of the session", async () => {
  const { api } = fetchWith(missing);
  const named = `resource_metadata="${OTHER}/${access_token}"`;
  const response = unauthorizedAt(MCP, named);
  const error = await assertRejects(() => api.renew(response));
  assertHides(error, "discovery_failed", [access_token]);
});

Deno.test("createAuthorizedFetch() repeats no value of tokenParameters, unless its parameter is public", async () => {
  const key = "s3cret-tenant-key";
  const tokenParameters = { key, audience: MCP };
  const session = { token: SESSION.token, internal: { tokenParameters } };
  const { api } = fetchWith(() => challenge(`${OTHER}/${key}`), session);
  const error = await assertRejects(() => api(MCP));
  assertHides(error, "discovery_failed", [key]);
  assert(shown(error).includes(MCP));
});

Deno.test("createAuthorizedFetch().renew() repeats no token that has been replaced since", async () => {
  const store = memoryStore({ ...SESSION, token });
  const { api } = resourceFetch(({ url, headers }) => {
    const sent = headers.get("Authorization")?.slice(7);
    const named = `resource_metadata="${OTHER}/${sent}"`;
    const error = 'Bearer error="insufficient_scope", scope="write"';
    return refusal(url === MCP ? 403 : 404, `${error}, ${named}`);
  }, { store });
  const body = new Blob(["once"]).stream();
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const response = await api(MCP, init);
  const fresh = { access_token: "a-token-that-is-new", token_type: "Bearer" };
  await store.save({ ...SESSION, token: fresh });
  const error = await assertRejects(() => api.renew(response));
  assertHides(error, "discovery_failed", [access_token]);
});

/** Members of metadata that repeat a token, and the code of the error at that server. */
const REPEATED_IN: [members: string[], code: string][] = [
  [["issuer"], "issuer_mismatch"],
  [["registration_endpoint"], "oauth_error"],
  [["authorization_endpoint"], "unsupported"],
  [["token_endpoint"], "unexpected_status"],
];

for (const [[member = ""], code] of REPEATED_IN) {
  for (const encode of [String, encodeURIComponent]) {
    Deno.test(`createAuthorizedFetch() repeats no token that is in the ${member} of the metadata, as ${encode.name}`, async () => {
      const repeated = encode(access_token);
      const metadata: Record<string, unknown> = { ...CODE_SERVER };
      metadata[member] = `${AS}/${repeated}`;
      if (member === "authorization_endpoint") {
        metadata.code_challenge_methods_supported = undefined;
      }
      const { api, events } = fetchWith(
        ({ url }) => {
          if (url === MCP) return challenge(`${PRM}/mcp`);
          if (url.startsWith(API)) {
            const authorization_servers = [metadata.issuer];
            return Response.json({ resource: MCP, authorization_servers });
          }
          if (url.includes("/.well-known/")) return Response.json(metadata);
          if (url === metadata.registration_endpoint) {
            return member === "registration_endpoint"
              ? Response.json({
                error: "invalid_client_metadata",
                error_description: repeated,
              }, { status: 400 })
              : Response.json({ client_id: "c2" });
          }
          return new Response("", { status: 404 });
          // Of a client that the server no longer knows.
        },
        { internal: { isUserAway: true } },
        {
          flow: member === "issuer" ? () => Promise.resolve(SESSION) : signIn(),
        },
      );
      const error = await assertRejects(() => api(MCP), OAuthClientError);
      assertEquals<string>(error.code, code, error.message);
      for (const text of [shown(error), JSON.stringify(events)]) {
        assert(!text.includes(access_token), text);
        assert(!text.includes(encodeURIComponent(access_token)), text);
      }
    });
  }
}

const refusal = (status: number, value: string) =>
  new Response(null, { status, headers: { "WWW-Authenticate": value } });

/** Responses by URL of servers that repeat a token where they name themselves, or a client. */
const REPEATING: Record<
  string,
  (token: string) => Record<string, (body: string) => Response | undefined>
> = {
  "the issuer": (token) => ({
    [`${PRM}/mcp`]: () =>
      Response.json({
        resource: MCP,
        authorization_servers: [`${OTHER}/${token}`],
      }),
    [`${OTHER}/.well-known/oauth-authorization-server/${token}`]: () =>
      Response.json({ ...SERVER, issuer: `${OTHER}/${token}` }),
  }),
  "the scope of a step-up": (token) => ({
    [MCP]: () =>
      refusal(403, `Bearer error="insufficient_scope", scope="${token}"`),
  }),
  "the acr_values of a step-up": (token) => {
    const error = 'Bearer error="insufficient_user_authentication"';
    return { [MCP]: () => refusal(401, `${error}, acr_values="${token}"`) };
  },
  "a client identifier": (token) => ({
    [REGISTRATION_ENDPOINT]: () => Response.json({ client_id: token }),
  }),
  "a granted scope": (token) => ({
    [TOKEN_ENDPOINT]: () =>
      Response.json({ access_token: token, scope: `read ${token}` }),
  }),
  "an error of a refresh": (token) => ({
    [TOKEN_ENDPOINT]: (body) =>
      body.includes("refresh_token")
        ? Response.json({ error: "invalid_grant", error_description: token }, {
          status: 400,
        })
        : undefined,
  }),
};

for (const [name, respond] of Object.entries(REPEATING)) {
  for (const [how, encode] of Object.entries(IN_URLS).slice(0, 2)) {
    Deno.test(`createAuthorizedFetch() reports no token in an event that a server repeats in ${name}, ${how}`, async () => {
      const repeating = respond(encode(access_token));
      const isRefresh = name === "an error of a refresh";
      const { api, events } = fetchWith(
        ({ url, headers, body }) => {
          const isFirst = url === MCP && !headers.has("Authorization");
          const response = isFirst ? undefined : repeating[url]?.(body);
          if (response) return response;
          if (url === MCP) return new Response(null, { status: 401 });
          if (url === OAUTH) return Response.json(CODE_SERVER);
          if (url === REGISTRATION_ENDPOINT) {
            return Response.json({ client_id: "c2" });
          }
          return url === TOKEN_ENDPOINT
            ? Response.json({ error: "invalid_client" }, { status: 401 })
            : undefined;
        },
        isRefresh ? SESSION : {},
        { flow: signIn() },
      );
      await statusOf(api(MCP)).catch(() => {});
      const text = JSON.stringify(events);
      assert(!text.includes(encode(access_token)), text);
      // An error description with a token is left out as a whole, and a scope that is a
      // token is dropped.
      const isLeftOut = isRefresh || name.includes("scope");
      assertEquals(text.includes("[redacted]"), !isLeftOut, text);
    });
  }
}

Deno.test("createAuthorizedFetch() requests no scope that is a token of the session", async () => {
  const asked: (string[] | undefined)[] = [];
  for (
    const [status, scope] of [
      [401, `${access_token} write`],
      [403, `${access_token} write`],
      [401, access_token],
    ] as const
  ) {
    const challenge = `Bearer scope="${scope}"`;
    const error = status === 403 ? `, error="insufficient_scope"` : "";
    const respond = byUrl({
      [MCP]: () => refusal(status, challenge + error),
      [OAUTH]: () => Response.json(CODE_SERVER),
    });
    // Without scopes of an earlier sign-in, those of the challenge are requested.
    const scopes = scope === access_token ? [] : SESSION.scopes;
    const { api } = fetchWith(respond, { scopes }, {
      flow({ scopes, requiredScopes }) {
        asked.push(scopes, requiredScopes);
        return Promise.reject(new Error("enough"));
      },
    });
    await api(MCP).catch(() => {});
  }
  assertEquals(asked.length, 6);
  for (const scopes of asked.slice(0, 4)) {
    assertEquals(scopes?.includes(access_token), false, `${scopes}`);
    assertEquals(scopes?.includes("write"), true);
  }
  assertEquals(asked.slice(4), [[], undefined]);
});

Deno.test("createAuthorizedFetch() reports no query of a token endpoint, or of any URL in an error description", async () => {
  const { server: serverMetadata } = SESSION;
  const url = "wss://h.example/p";
  const rows: [query: string, description?: string, shown?: string][] = [
    ["?code=a-key"],
    ["", `See ${url}?key=1 now? Yes`, `See ${url} now? Yes`],
    ["", "See //h.example/p?key=1", "See //h.example/p"],
    ["", "(/p?key=1)", "(/p"],
  ];
  await eachRowInTurn(rows, async ([query, error_description, shown]) => {
    const token_endpoint = TOKEN_ENDPOINT + query;
    const error = { error: "invalid_grant", error_description };
    const respond = byUrl({
      [MCP]: () => new Response(null, { status: 401 }),
      [token_endpoint]: () => Response.json(error, { status: 400 }),
    });
    const { api, events } = fetchWith(respond, {
      token: SESSION.token,
      server: { ...serverMetadata, token_endpoint },
    }, { flow: undefined });
    await statusOf(api(MCP));
    const dropped = events.find(({ type }) => type === "session_dropped");
    const message = pinMessage(String(Object(dropped).message));
    assertEquals(/key/.test(message), false);
    assertStringIncludes(message, shown ?? "");
  });
});

Deno.test("createAuthorizedFetch() reports no token in the path of a request that it does not cover", async () => {
  const url = `${API}/other/[redacted]/x`;
  const down = { ...memoryStore(), load: () => Promise.reject("down") };
  // The path is left out if the token is not known.
  const rows: [SessionStore | undefined, Partial<Session>, url: string][] = [
    [undefined, SESSION, url],
    [down, {}, API],
    [undefined, { dpopThumbprint: "k" }, url],
  ];
  await eachRowInTurn(rows, async ([store, session, url]) => {
    const options = store && { store };
    const respond = () => new Response("ok");
    const { api, events } = fetchWith(respond, session, options);
    await statusOf(api(`${API}/other/${access_token}/x`));
    assertEquals(events, [{ type: "uncovered_request", method: "GET", url }]);
  });
});

Deno.test("createAuthorizedFetch() repeats no access token from an error of a refresh", async () => {
  const body = { error: "x", error_description: access_token };
  const { api } = resourceFetch(({ url }) =>
    url === MCP
      ? new Response(null, { status: 401 })
      : Response.json(body, { status: 503 })
  );
  const error = await assertRejects(() => api(MCP), OAuthClientError);
  assertEquals([error.status, error.error], [503, "x"]);
  assert(!shown(error).includes(access_token), shown(error));
});
