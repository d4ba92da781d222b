/**
 * Each flow requests what its options and the resource require, and keeps what was
 * granted.
 */

import { internalOf } from "../../../lib/session/_internal.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  assertionFlow,
  clientAssertion,
  clientCredentialsFlow,
  clientSecretBasic,
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
  deviceFlow,
  type DeviceFlowOptions,
  type Flow,
  type FlowRequest,
  type IAuthorizationServerMetadata,
  memoryStore,
  OAuthClientError,
  privateKeyJwt,
  publicClient,
  refreshSession,
  type Session,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
  comeBack,
  contextOf,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  MCP,
  metadataOf,
  pinRejected,
  pinThrown,
  REDIRECT_URI,
  REGISTRATION_ENDPOINT,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { PRIVATE_JWK } from "../../support/keys.ts";
import {
  type Answer,
  json,
  never,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";

const TOKEN = TOKEN_ENDPOINT;
const DEVICE = DEVICE_AUTHORIZATION_ENDPOINT;
const REGISTER = REGISTRATION_ENDPOINT;
const PAR = `${AS}/par`;
const KNOWN = { issuer: AS, client_id: "known" };
const BOUND = clientSecretBasic("c1", "s3cret", { issuer: AS });
/** A secret that could be sent to any server. */
const UNBOUND = { client_id: "c", client_secret: "s3cret" };
const CODE = { redirectUri: REDIRECT_URI, visit: () => never<string>() };
const METADATA = { clientMetadata: { client_name: "Test" } };

/** What a discovery found: a server whose metadata has these members as well. */
function foundWith(
  members: Partial<IAuthorizationServerMetadata> = {},
  issuer = AS,
): FlowRequest["context"] {
  return contextOf(metadataOf(issuer, {
    authorization_endpoint: `${issuer}/authorize`,
    code_challenge_methods_supported: ["S256"],
    scopes_supported: ["offline_access"],
    ...members,
  }));
}

const CONTEXT = foundWith();
/** A server to which every authorization request is pushed. */
const PUSHED = foundWith({
  pushed_authorization_request_endpoint: PAR,
  require_pushed_authorization_requests: true,
});

/**
 * A server and its user, who comes back at once; what they are sent is kept. The
 * server registers c1, c2 and so on, and issues tokens, unless `routes` respond.
 */
function world(routes: Record<string, Answer> = {}) {
  let registered = 0;
  const stub = stubFetch({
    [REGISTER]: () => Response.json({ client_id: `c${++registered}` }),
    [DEVICE]: json(DEVICE_AUTHORIZATION),
    [TOKEN]: json({ access_token: "a1", refresh_token: "r1" }),
    ...routes,
  });
  const { fetch, requests } = stub;
  const forms = () => stub.forms;
  const visits: URL[] = [];
  const user = (back?: Record<string, string>) => (url: URL) => {
    visits.push(url);
    return comeBack(url, back);
  };
  return {
    ...{ fetch, requests, forms, visits, user },
    code: (options: Partial<CodeFlowOptions> = {}) =>
      codeFlow({ redirectUri: REDIRECT_URI, visit: user(), ...options }),
    device: (options: Partial<DeviceFlowOptions> = {}) =>
      deviceFlow({ show() {}, delay: () => Promise.resolve(), ...options }),
    signIn: (flow: Flow, request: Partial<FlowRequest> = {}) =>
      flow({ context: CONTEXT, scopes: ["read"], fetch, ...request }),
    refresh: (session: Session) => refreshSession(session, { fetch }),
    /** The values of a parameter at the authorization endpoint. */
    visited: (name: string) =>
      visits.map(({ searchParams }) => searchParams.get(name)),
    /** The values of a parameter in the bodies of the requests. */
    sent: (name: string) =>
      requests.map(({ body }) => new URLSearchParams(body).get(name)),
    count: (url: string) => requests.filter((one) => one.url === url).length,
    [Symbol.dispose]: () => stub[Symbol.dispose](),
  };
}

/** The parameters with which a code flow with a known client opens its URL. */
async function visited(
  options: Partial<CodeFlowOptions>,
  request: Partial<FlowRequest> = {},
): Promise<URLSearchParams> {
  using servers = world();
  const flow = servers.code({ knownClients: [KNOWN], ...options });
  await servers.signIn(flow, request);
  return servers.visits[0]!.searchParams;
}

/** Options of a flow whose client is registered for one grant type only. */
const grantsOf = (type: string) => ({
  clientMetadata: { client_name: "Test", grant_types: [type] },
});

Deno.test("deviceFlow() requests no offline_access for a client without refresh tokens", async () => {
  const rows = [["device", "read"], ["refresh_token", "read offline_access"]];
  for (const [type, expected] of rows) {
    using servers = world();
    await servers.signIn(servers.device(grantsOf(type!)));
    assertEquals(servers.sent("scope"), [null, expected, null]);
  }
});

Deno.test("codeFlow() requests its own scopes and those that the resource requires, or all, and a listed offline_access unless told not to", async () => {
  const rows: [
    options: Partial<CodeFlowOptions>,
    requiredScopes: string[] | undefined,
    expected: string,
    listed?: string,
  ][] = [
    [{ offlineAccess: false }, undefined, "read"],
    [{ offlineAccess: false }, ["write"], "read"],
    [{ offlineAccess: false, scopes: ["own"] }, undefined, "own"],
    [{ scopes: ["own"] }, ["own", "write"], "own write offline_access"],
    [{}, undefined, "read offline_access"],
    [{ offlineAccess: true }, undefined, "read offline_access"],
    [grantsOf("authorization_code"), undefined, "read"],
    [grantsOf("refresh_token"), undefined, "read offline_access"],
    [
      { ...grantsOf("authorization_code"), offlineAccess: true },
      undefined,
      "read offline_access",
    ],
    [{}, undefined, "read", "read"],
  ];
  await eachRowInTurn(
    rows,
    async ([options, requiredScopes, expected, listed]) => {
      const context = listed && foundWith({ scopes_supported: [listed] });
      const parameters = await visited(options, {
        requiredScopes,
        ...(context && { context }),
      });
      assertEquals(parameters.get("scope"), expected);
    },
  );
});

Deno.test("codeFlow() passes redirectUri() the issuer and what is known of the client, and uses its result", async () => {
  const clientMetadataUrl = "https://app.example/client.json";
  const context = foundWith({ client_id_metadata_document_supported: true });
  const anew = { ...METADATA, knownClients: [] };
  const named = { isNamed: true, isInDocument: false };
  const rows: [Partial<CodeFlowOptions>, object, typeof named][] = [
    [{}, {}, named],
    [{}, { context }, named],
    [{ ...anew, client: publicClient("c") }, {}, named],
    [anew, {}, { isNamed: false, isInDocument: false }],
    [{ clientMetadataUrl }, {}, named],
    [{ clientMetadataUrl, client: KNOWN }, { context }, named],
    [
      { ...anew, clientMetadataUrl },
      { context },
      { isNamed: false, isInDocument: true },
    ],
  ];
  await eachRowInTurn(rows, async ([options, request, expected]) => {
    const given: unknown[] = [];
    const redirectUri: CodeFlowOptions["redirectUri"] = (
      { signal, ...request },
    ) => {
      given.push({ ...request, isOver: signal.aborted });
      return Promise.resolve(
        `https://c.example/${new URL(request.issuer).host}`,
      );
    };
    const parameters = await visited({ ...options, redirectUri }, request);
    assertEquals(given, [{ issuer: AS, ...expected, isOver: false }]);
    const uri = `https://c.example/${new URL(AS).host}`;
    assertEquals(parameters.get("redirect_uri"), uri);
  });
});

Deno.test("codeFlow() refuses a response without iss with requireIss, and a server without listed PKCE methods without assumePkce", async () => {
  const context = foundWith({ code_challenge_methods_supported: undefined });
  const missing = () => visited({ requireIss: true });
  await assertRejectsCode(missing, "issuer_mismatch");
  await assertRejectsCode(() => visited({}, { context }), "unsupported");
  await visited({ assumePkce: true }, { context });
});

Deno.test("codeFlow() without a fetch registers a client for each sign-in until one has led to a session", async () => {
  using servers = world();
  const ends = [new Error("The page was left"), "access_denied", ""];
  let end: Error | string = "";
  const flow = servers.code({
    ...METADATA,
    async visit(url) {
      const back = end ? { error: String(end) } : undefined;
      const callback = await servers.user(back)(url);
      if (end instanceof Error) throw end;
      return callback;
    },
  });
  for (end of ends) {
    const signIn = servers.signIn(flow);
    if (end) await assertRejects(() => signIn);
    else assertEquals((await signIn).client!.client_id, "c3");
  }
  assertEquals(servers.visited("client_id"), ["c1", "c2", "c3"]);
});

Deno.test("codeFlow() keeps the metadata document of a session only while the server accepts documents", async () => {
  const clientMetadataUrl = "https://app.example/client.json";
  const rows = [[true, clientMetadataUrl], [undefined, "c1"]] as const;
  await eachRowInTurn(rows, async ([isAccepted, expected]) => {
    using servers = world();
    const context = foundWith({
      client_id_metadata_document_supported: isAccepted,
    });
    const flow = servers.code({ ...METADATA, clientMetadataUrl });
    const session = signedIn(clientMetadataUrl);
    await servers.signIn(flow, { context, session });
    assertEquals(servers.visited("client_id"), [expected]);
  });
});

Deno.test("codeFlow() registers anew where a server refuses to store the request of a client that it has forgotten", async () => {
  const rows: [status: number, error: string, isRepeated: boolean][] = [
    [403, "", true],
    [401, "invalid_client", true],
    [400, "invalid_scope", false],
    [503, "invalid_client", false],
  ];
  await eachRowInTurn(rows, async ([status, error, isRepeated]) => {
    using servers = world({
      [PAR]: ({ body }) =>
        body!.includes("client_id=c1")
          ? Response.json({ request_uri: "urn:r:1", expires_in: 60 })
          : new Response(error && JSON.stringify({ error }), { status }),
    });
    const visit: CodeFlowOptions["visit"] = (_url, { pending: { state } }) =>
      Promise.resolve(new URLSearchParams({ code: "c0de", state }));
    const flow = servers.code({ ...METADATA, visit });
    const request = { context: PUSHED, session: signedIn("old") };
    const outcome = await servers.signIn(flow, request)
      .then(({ client }) => client!.client_id, () => "failed");
    assertEquals(outcome, isRepeated ? "c1" : "failed");
    assertEquals(servers.count(PAR), isRepeated ? 2 : 1);
  });
});

/** A session with this client and token, by default one whose refresh was refused. */
function signedIn(
  client_id: string,
  { scopes = [], ...token }: Partial<Session["token"]> & {
    scopes?: string[];
  } = { access_token: "" },
): Session {
  const members = { access_token: "a1", token_type: "Bearer", ...token };
  const { issuer, ...known } = KNOWN;
  const client = { ...known, client_id };
  return untyped({ issuer, client, scopes, token: members });
}

Deno.test("codeFlow() requires consent where a session was to have a refresh token and has none, and of a named client never at first", async () => {
  const denied = "access_denied";
  const consent = "consent_required";
  const none = { scopes: ["read", "offline_access"] };
  const rows: [
    session: Parameters<typeof signedIn>[1],
    options: Partial<CodeFlowOptions>,
    refusal: string,
    prompts: (string | null)[],
  ][] = [
    [undefined, {}, denied, [null]],
    [none, {}, denied, ["consent"]],
    [{ ...none, refresh_token: "r1" }, {}, denied, [null]],
    // The refresh token was refused: the user has consented before.
    [{ ...none, access_token: "" }, {}, denied, [null]],
    [{ scopes: ["read"] }, {}, denied, [null]],
    [none, { parameters: { prompt: "login" } }, denied, ["login"]],
    [undefined, {}, consent, [null, "consent"]],
    [none, {}, consent, ["consent"]],
    [undefined, { offlineAccess: false }, consent, [null]],
    [undefined, { parameters: { prompt: "none" } }, consent, ["none"]],
    [undefined, { parameters: { prompt: "" } }, consent, [null]],
  ];
  await eachRowInTurn(rows, async ([session, options, refusal, expected]) => {
    using servers = world();
    const flow = servers.code({
      ...{ ...options, knownClients: [KNOWN] },
      visit: servers.user({ error: refusal }),
    });
    const request = { session: session && signedIn("session", session) };
    const signIn = () => servers.signIn(flow, untyped(request));
    const failure = await assertRejects(signIn, OAuthClientError);
    assertEquals(failure.error, refusal);
    assertEquals(servers.visited("prompt"), expected);
  });
});

Deno.test("codeFlow() requires consent for a client that it has registered, for a refresh token, if it requests offline_access", async () => {
  const context = foundWith({ client_id_metadata_document_supported: true });
  const none = [null, null, null];
  const rows: [Partial<CodeFlowOptions>, (string | null)[]][] = [
    // The second sign-in has the registration of the first, the third the session, whose
    // refresh token some servers would issue no successor of.
    [{}, ["consent", "consent", "consent"]],
    [{ parameters: { prompt: "login" } }, ["login", "login", "login"]],
    [{ parameters: { prompt: "" } }, none],
    [{ offlineAccess: false }, none],
    [{ client: KNOWN }, none],
    [{ knownClients: [KNOWN] }, none],
    [{ clientMetadataUrl: "https://app.example/client.json" }, none],
  ];
  for (const [options, expected] of rows) {
    using servers = world();
    const { visits, user } = servers;
    const denied = { error: "access_denied" };
    const flow = servers.code({
      ...{ ...METADATA, ...options },
      visit: (url) => user(visits.length > 0 ? undefined : denied)(url),
    });
    await assertRejects(() => servers.signIn(flow, { context }));
    const session = await servers.signIn(flow, { context });
    await servers.signIn(flow, { context, session });
    const prompts = servers.visited("prompt");
    assertEquals(prompts, expected, JSON.stringify(options));
  }
});

Deno.test("codeFlow() requires consent once if a server refuses it for a client that it has registered", async () => {
  using servers = world();
  const visit = servers.user({ error: "consent_required" });
  const flow = servers.code({ ...METADATA, visit });
  await assertRejects(() => servers.signIn(flow));
  assertEquals(servers.visited("prompt"), ["consent"]);
});

Deno.test("codeFlow() passes its parameters, and those of RFC 9470 over them", async () => {
  const parameters = await visited({
    parameters: { prompt: "login", acr_values: "own" },
    offlineAccess: true,
    resourceIndicator: false,
    redirectUri: "http://127.0.0.1:1/",
  }, { acrValues: "mfa", maxAge: 0 });
  const { state: _s, code_challenge: _c, ...query } = Object.fromEntries(
    parameters,
  );
  assertEquals(query, {
    prompt: "login",
    acr_values: "mfa",
    max_age: "0",
    response_type: "code",
    client_id: "known",
    redirect_uri: "http://127.0.0.1:1/",
    code_challenge_method: "S256",
    scope: "read offline_access",
  });
});

Deno.test("codeFlow() sends the smaller max_age, and its own acr_values unless the resource names some", async () => {
  const rows = [
    [{ max_age: "0", acr_values: "phr" }, "", 60, "phr", "0"],
    [{ max_age: "60" }, undefined, 60, null, "60"],
    [{ max_age: "300" }, "mfa", 60, "mfa", "60"],
    [{ max_age: "soon" }, undefined, 60, null, "60"],
    [{ max_age: "300" }, undefined, undefined, null, "300"],
  ] as const;
  await eachRowInTurn(
    rows,
    async ([parameters, acrValues, maxAge, ...expected]) => {
      const sent = await visited({ parameters }, { acrValues, maxAge });
      assertEquals([sent.get("acr_values"), sent.get("max_age")], expected);
    },
  );
});

Deno.test("codeFlow() prefers the caller's client to that of the session, and credentials to both", async () => {
  const client = publicClient("credentials", { issuer: AS });
  const session = signedIn("session");
  const rows: [object, Partial<FlowRequest>, string][] = [
    [{}, { session }, "known"],
    [{ knownClients: [] }, { session }, "session"],
    [{}, { session, client }, "credentials"],
  ];
  await eachRowInTurn(rows, async ([options, request, expected]) => {
    const parameters = await visited(options, request);
    assertEquals(parameters.get("client_id"), expected);
  });
});

Deno.test("codeFlow() registers anew once the client secret of a stored session has expired", async () => {
  const expiring = { client_secret: "s3cret", client_secret_expires_at: 5_000 };
  using servers = world({ [REGISTER]: json({ client_id: "c1", ...expiring }) });
  const flow = servers.code(METADATA);
  let seconds = 1_000;
  const now = () => seconds * 1_000;
  const stored = JSON.stringify(await servers.signIn(flow, { now }));
  await eachRowInTurn(
    [[2_000, 1], [6_000, 2]] as const,
    async ([later, registrations]) => {
      seconds = later;
      await servers.signIn(flow, { now, session: JSON.parse(stored) });
      assertEquals(servers.count(REGISTER), registrations);
    },
  );
});

Deno.test("codeFlow() keeps a client as JSON in the session for refreshes, and uses the credentials of the caller without storing them", async () => {
  using servers = world();
  const client = { issuer: `${AS}/`, client_id: "c1", client_secret: "s3" };
  const flow = servers.code({ client });
  assertEquals(flow.client, client);
  const session = await servers.signIn(flow);
  assertEquals(session.client, { client_id: "c1", client_secret: "s3" });
  await servers.refresh(session);
  const request = { client: BOUND };
  const unstored = await servers.signIn(servers.code(), request);
  assertEquals(unstored.client, {
    client_id: "c1",
    token_endpoint_auth_method: "client_secret_basic",
  });
  assertEquals(
    servers.requests.map(({ headers }) => headers.Authorization),
    ["c1:s3", "c1:s3", "c1:s3cret"].map((one) => `Basic ${btoa(one)}`),
  );
});

Deno.test("flows carry credentials that are not stored, and createAuthorizedFetch() refreshes with them", async () => {
  using servers = world({ [MCP]: json({}) });
  const client = BOUND;
  const flow = servers.code({ client });
  const others = [
    servers.device({ client }),
    clientCredentialsFlow({ client }),
  ];
  for (const one of [flow, ...others]) assertStrictEquals(one.client, client);
  const session = await servers.signIn(flow);
  session.token.expires_at = 1;
  const call = (authorize: Flow) => {
    const store = memoryStore(session);
    const fetch = untyped(servers.fetch);
    return createAuthorizedFetch(MCP, { flow: authorize, store, fetch })(MCP);
  };
  await call(flow);
  const { headers } = servers.requests.at(-2)!;
  assertEquals(headers.Authorization, `Basic ${btoa("c1:s3cret")}`);
  await pinRejected(() => call((request) => flow(request)), "unsupported");
});

Deno.test("createAuthorizedFetch() accepts the key of a client metadata document without an issuer, but no assertion made elsewhere", () => {
  const authorize = codeFlow(CODE);
  const document = "https://client.example/metadata.json";
  const client = privateKeyJwt(document, PRIVATE_JWK);
  createAuthorizedFetch(MCP, { flow: authorize, client });
  // Its audience is unknown: a server that the resource names could use it elsewhere.
  for (const clientId of [document, "c1"]) {
    const client = clientAssertion(clientId, () => "j1");
    const create = () =>
      createAuthorizedFetch(MCP, { flow: authorize, client });
    for (const one of [create, () => clientCredentialsFlow({ client })]) {
      pinThrown(one, "invalid_argument");
    }
  }
});

Deno.test("codeFlow() does not send the user away with a client of another issuer, or that lacks its secret", async () => {
  const other = publicClient("c1", { issuer: "https://other.example" });
  const method = "client_secret_post" as const;
  const client = {
    ...{ ...KNOWN, client_secret: "", token_endpoint_auth_method: method },
  };
  const rows: [object, object, code: string][] = [
    [{}, { client: other }, "issuer_mismatch"],
    [{ client }, {}, "unsupported"],
    [{ knownClients: [client] }, {}, "unsupported"],
  ];
  await eachRowInTurn(rows, async ([options, request, code]) => {
    using servers = world();
    const signIn = () => servers.signIn(servers.code(options), request);
    await pinRejected(signIn, code);
    assertEquals(servers.visits, []);
  });
});

Deno.test("codeFlow() sends initialAccessToken to the registration endpoint only, and does not keep it", async () => {
  using servers = world({
    [REGISTER]: ({ body }) =>
      Response.json({ ...JSON.parse(body!), client_id: "new" }),
  });
  const session = await servers.signIn(servers.code({
    ...METADATA,
    initialAccessToken: (issuer) => issuer === AS ? "t0ken-initial" : undefined,
  }));
  assertEquals(
    servers.requests.map(({ url, headers }) => [url, headers.Authorization]),
    [[REGISTER, "Bearer t0ken-initial"], [TOKEN, undefined]],
  );
  const kept = JSON.stringify([session, servers.requests[1]]);
  assert(!kept.includes("t0ken-initial"), kept);
});

Deno.test("flows register for all scopes of the server, if they cover those to request", async () => {
  const all = ["read", "write", "offline_access"];
  const context = foundWith({ scopes_supported: all });
  const rows = [
    [undefined, all.join(" ")],
    [["write"], all.join(" ")],
    [["other"], undefined],
  ] as const;
  await eachRowInTurn(rows, async ([scopes, expected]) => {
    for (const kind of ["code", "device"] as const) {
      using servers = world();
      const flow = servers[kind]({ ...METADATA, scopes });
      await servers.signIn(flow, { context });
      assertEquals(JSON.parse(servers.requests[0]!.body!).scope, expected);
    }
  });
});

Deno.test("codeFlow() registers no client at a server that it cannot sign in to", async () => {
  for (
    const missing of [
      { code_challenge_methods_supported: undefined },
      { authorization_endpoint: undefined },
    ]
  ) {
    using servers = world();
    const signIn = () =>
      servers.signIn(servers.code(METADATA), { context: foundWith(missing) });
    await assertRejectsCode(signIn, "unsupported");
    assertEquals(servers.requests, []);
  }
});

Deno.test("codeFlow() says that a visit returns nothing", async () => {
  using servers = world();
  const visit = () => Promise.resolve(untyped(undefined));
  const flow = servers.code({ knownClients: [KNOWN], visit });
  await pinRejected(() => servers.signIn(flow), "invalid_argument");
});

Deno.test("codeFlow() does not open a URL after an abort", async () => {
  using servers = world();
  const controller = new AbortController();
  const flow = servers.code({
    knownClients: [KNOWN],
    redirectUri: () => {
      controller.abort("enough");
      return REDIRECT_URI;
    },
  });
  const { signal } = controller;
  const reason = await servers.signIn(flow, { signal }).catch((error) => error);
  assertEquals([reason, servers.visits], ["enough", []]);
});

Deno.test("deviceFlow() registers no client at a server without a device endpoint", async () => {
  using servers = world();
  const context = foundWith({ device_authorization_endpoint: undefined });
  await assertRejectsCode(
    () => servers.signIn(servers.device(METADATA), { context }),
    "unsupported",
  );
  assertEquals(servers.requests, []);
});

Deno.test("deviceFlow() shows the code and returns the session", async () => {
  using servers = world();
  const codes: string[] = [];
  const flow = servers.device({
    knownClients: [{ ...KNOWN, redirect_uris: ["https://app.example/"] }],
    show: ({ user_code }) => void codes.push(user_code),
    offlineAccess: true,
    parameters: { login_hint: "ada" },
  });
  const session = await servers.signIn(flow, { acrValues: "mfa" });
  assertEquals(codes, ["WDJB-MJHT"]);
  assertEquals(servers.forms(), [{
    resource: MCP,
    scope: "read offline_access",
    login_hint: "ada",
    acr_values: "mfa",
    client_id: "known",
  }, {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: "d1",
    resource: MCP,
    client_id: "known",
  }]);
  assertEquals(session.scopes, ["read", "offline_access"]);
  assertEquals(session.token.refresh_token, "r1");
  assertEquals(internalOf(session).resourceIndicator, undefined);
});

Deno.test("flows send the resource indicator that they are given in every request, and keep it beside the resource", async () => {
  const client = { issuer: AS, client_id: "c", client_secret: "s3cret" };
  const getAssertion = () => "assertion";
  const inside = "urn:example:inside";
  for (const resource of [inside, new URL("https://inside.example")]) {
    using servers = world();
    const indicator = String(resource);
    const options = { client, resourceIndicator: resource };
    const rows: [flow: Flow, requests: number][] = [
      [servers.code(options), 1],
      [servers.device(options), 2],
      [clientCredentialsFlow(options), 1],
      [assertionFlow({ ...options, getAssertion }), 1],
    ];
    await eachRowInTurn(rows, async ([flow, requests]) => {
      servers.requests.length = 0;
      const session = await servers.signIn(flow);
      assertEquals(session.resource, MCP);
      assertEquals(internalOf(session).resourceIndicator, indicator);
      const token = { ...session.token, refresh_token: "r1" };
      const refreshed = await servers.refresh({ ...session, token });
      assertEquals(internalOf(refreshed).resourceIndicator, indicator);
      const sent = servers.sent("resource");
      assertEquals(sent, Array(requests + 1).fill(indicator));
    });
    assertEquals(servers.visited("resource"), [indicator]);
  }
});

Deno.test("deviceFlow() leaves the resource out with resourceIndicator: false", async () => {
  using servers = world();
  const flow = servers.device({
    knownClients: [KNOWN],
    resourceIndicator: false,
  });
  const session = await servers.signIn(flow);
  assertEquals([session.resource, internalOf(session).resourceIndicator], [
    MCP,
    false,
  ]);
  assertEquals(servers.sent("resource"), [null, null]);
});

Deno.test("clientCredentialsFlow() requests a token, and keeps neither secret nor refresh token", async () => {
  using servers = world();
  const flow = clientCredentialsFlow({
    client: BOUND,
    scopes: ["own"],
    parameters: { tenant: "t1" },
    resourceIndicator: false,
  });
  const session = await servers.signIn(flow, { requiredScopes: ["write"] });
  const expected = "grant_type=client_credentials&scope=own+write&tenant=t1";
  assertEquals(servers.requests[0]!.body, expected);
  assertEquals(session.token, { access_token: "a1", token_type: "Bearer" });
  assertEquals(JSON.stringify(session).includes("s3cret"), false);
  assertEquals(internalOf(session).resourceIndicator, false);
  assertEquals(session.scopes, ["own", "write"]);
});

Deno.test("clientCredentialsFlow() sends its secret to its own issuer only", async () => {
  using servers = world();
  const issuer = "https://other.example";
  const client = clientSecretBasic("c1", "s3cret", { issuer });
  const signIn = () => servers.signIn(clientCredentialsFlow({ client }));
  await assertRejectsCode(signIn, "issuer_mismatch");
  assertEquals(servers.requests, []);
});

Deno.test("clientCredentialsFlow() requests no scopes for users, unless told to", async () => {
  using servers = world();
  const listed = ["openid", "read", "offline_access"];
  for (const scopes of [undefined, ["openid"]]) {
    const flow = clientCredentialsFlow({ client: BOUND, scopes });
    await servers.signIn(flow, { scopes: listed });
  }
  assertEquals(servers.sent("scope"), ["read", "openid"]);
});

Deno.test("codeFlow() and deviceFlow() keep in the session that a refresh sends the scopes", async () => {
  const scopes = ["api://c1/call"];
  for (const kind of ["code", "device"] as const) {
    using servers = world();
    const options = { client: KNOWN, scopes, sendScopeOnRefresh: true };
    const session = await servers.signIn(servers[kind](options));
    assertEquals(internalOf(session).sendScopeOnRefresh, true);
    await servers.refresh(session);
    assertEquals(servers.sent("refresh_token").at(-1), "r1");
    assertEquals(servers.sent("scope").at(-1), "api://c1/call offline_access");
  }
});

Deno.test("codeFlow() and deviceFlow() send tokenParameters in token requests and refreshes, where the library does not set them", async () => {
  const SECRET = "s3cret-tenant-key";
  const other = "https://other.example/";
  const tokenParameters = {
    tenant: SECRET,
    redirect_uri: other,
    grant_type: "password",
    client_id: "other",
    empty: "",
  };
  const rows = [
    ["code", true, [REDIRECT_URI, REDIRECT_URI]],
    ["code", false, [REDIRECT_URI, other]],
    ["device", undefined, [other, other]],
  ] as const;
  await eachRowInTurn(
    rows,
    async ([kind, sendRedirectUriOnRefresh, redirectUris]) => {
      let isRefused = false;
      const refusal = `no tenant ${SECRET}`;
      using servers = world({
        [TOKEN]: () =>
          isRefused
            ? Response.json({
              error: "invalid_grant",
              error_description: refusal,
            }, { status: 400 })
            : Response.json({ access_token: "a1", refresh_token: "r1" }),
      });
      const options = {
        client: KNOWN,
        sendRedirectUriOnRefresh,
        tokenParameters,
      };
      const session = await servers.signIn(servers[kind](options));
      await servers.refresh(session);
      const { requests } = servers;
      const forms = requests.filter(({ url }) => url === TOKEN)
        .map(({ body }) => new URLSearchParams(body));
      const values = (name: string) => forms.map((form) => form.getAll(name));
      assertEquals(values("redirect_uri").flat(), [...redirectUris]);
      assertEquals(values("tenant"), [[SECRET], [SECRET]]);
      assertEquals(values("client_id"), [["known"], ["known"]]);
      assertEquals(values("empty"), [[], []]);
      assertEquals(forms[1]!.getAll("grant_type"), ["refresh_token"]);
      const others = requests.filter(({ url }) => url !== TOKEN);
      assert(!JSON.stringify(others).includes(SECRET));
      isRefused = true;
      const refresh = () => servers.refresh(session);
      const error = await assertRejects(refresh, OAuthClientError);
      assert(!`${error.message} ${JSON.stringify(error)}`.includes(SECRET));
    },
  );
});

Deno.test("flows refuse options of the wrong type when they are created", () => {
  const show = () => {};
  const unbound = clientSecretBasic("c", "s");
  // deno-lint-ignore no-explicit-any
  const rows: [create: (options: any) => unknown, ...options: unknown[]][] = [
    [
      codeFlow,
      ...[undefined, { redirectUri: REDIRECT_URI }],
      { ...CODE, redirectUri: undefined },
      { ...CODE, knownClients: UNBOUND },
      { ...CODE, scopes: "read" },
      { ...CODE, initialAccessToken: 7 },
      { ...CODE, tokenParameters: { n: 1 } },
      ...["x", ["a"], { n: 1 }].map((parameters) => ({ ...CODE, parameters })),
      ...[true, "", "inside"].map((resource) => ({ ...CODE, resource })),
      ...[UNBOUND, unbound, clientAssertion("c", () => "j")]
        .map((client) => ({ ...CODE, client })),
    ],
    [
      deviceFlow,
      {},
      { show, delay: 5 },
      { show, client: UNBOUND },
      { show, knownClients: UNBOUND },
      { show, tokenParameters: "a=b" },
      { show, parameters: "x" },
      { show, resource: "https://inside.example/#a" },
    ],
    [clientCredentialsFlow, {}, { client: unbound }, { client: UNBOUND }],
  ];
  for (const [create, ...all] of rows) {
    for (const options of all) {
      assertThrowsCode(() => create(untyped(options)), "invalid_argument");
    }
  }
});
