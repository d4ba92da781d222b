import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  assertionFlow,
  type Authorize,
  clientAssertion,
  clientCredentialsFlow,
  clientSecretBasic,
  codeFlow,
  createAuthorizedFetch,
  deviceFlow,
  type IAuthorizationServerMetadata,
  type IAuthorizeRequest,
  type ICodeFlowOptions,
  type ISession,
  memoryStore,
  OAuthClientError,
  privateKeyJwt,
  publicClient,
  refreshSession,
} from "../../../mod.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  MCP,
  metadataOf,
  REDIRECT_URI,
  REGISTRATION_ENDPOINT,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { PRIVATE_JWK } from "../../support/keys.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";

const TOKEN = TOKEN_ENDPOINT;
const DEVICE = DEVICE_AUTHORIZATION_ENDPOINT;
const REGISTER = REGISTRATION_ENDPOINT;
const KNOWN = { issuer: AS, client_id: "known" };
const CODE = { redirectUri: REDIRECT_URI, visit: user([]) };
const REGISTERING = { ...CODE, clientMetadata: { client_name: "Test" } };
/** A secret that could be sent to any server. */
const UNBOUND = { client_id: "c", client_secret: "s3cret" };
const token = json({ access_token: "a1", refresh_token: "r1" });
const device = json(DEVICE_AUTHORIZATION);

/** What a discovery found: a server whose metadata has these members as well. */
function contextOf(
  members: Partial<IAuthorizationServerMetadata> = {},
  issuer = AS,
): IAuthorizeRequest["context"] {
  const serverMetadata = metadataOf(issuer, {
    authorization_endpoint: `${issuer}/authorize`,
    code_challenge_methods_supported: ["S256"],
    scopes_supported: ["offline_access"],
    ...members,
  });
  const source = "resource_metadata";
  return { issuer, resource: MCP, serverMetadata, source, attempts: [] };
}

const CONTEXT = contextOf();
const REQUEST: IAuthorizeRequest = { context: CONTEXT, scopes: ["read"] };

/** A user who comes back with these parameters at once, from the URLs in `visits`. */
function user(visits: URL[], back: Record<string, string> = { code: "c0de" }) {
  return (url: URL) => {
    visits.push(url);
    const state = url.searchParams.get("state")!;
    return Promise.resolve(new URLSearchParams({ ...back, state }));
  };
}

/** The URL that a code flow opens. */
async function visited(
  options: Partial<ICodeFlowOptions>,
  request: Partial<IAuthorizeRequest> = {},
): Promise<URL> {
  using stub = stubFetch({ [TOKEN]: token });
  const visits: URL[] = [];
  const authorize = codeFlow({
    ...{ ...CODE, knownClients: [KNOWN], visit: user(visits) },
    ...options,
  });
  await authorize({ ...REQUEST, ...request, fetch: stub.fetch });
  return visits[0]!;
}

/** The values of a parameter in the URLs of visits. */
function valuesOf(visits: URL[], name: string): (string | null)[] {
  return visits.map(({ searchParams }) => searchParams.get(name));
}

Deno.test("codeFlow() requests its own scopes and those that the resource requires, or all", async () => {
  for (
    const [scopes, requiredScopes, expected] of [
      [undefined, undefined, "read"],
      [undefined, ["write"], "read"],
      [["own"], undefined, "own"],
      [["own"], ["own", "write"], "own write"],
    ] as const
  ) {
    const url = await visited({ scopes, offlineAccess: false }, {
      requiredScopes: requiredScopes && [...requiredScopes],
    });
    assertEquals(url.searchParams.get("scope"), expected);
  }
});

Deno.test("codeFlow() passes the issuer to redirectUri(), and refuses a response without iss where it is required", async () => {
  const asked: unknown[] = [];
  const redirectUri: ICodeFlowOptions["redirectUri"] = (request) => {
    asked.push(request);
    return `https://c.example/${new URL(request.issuer).hostname}`;
  };
  const url = await visited({ redirectUri });
  const registered = { ...REGISTERING, knownClients: [], redirectUri };
  await visited({ ...registered, client: publicClient("c") });
  using stub = stubFetch({
    [TOKEN]: token,
    [REGISTER]: json({ client_id: "new" }, { status: 201 }),
  });
  const context = contextOf({ registration_endpoint: REGISTER });
  await codeFlow(registered)({ ...REQUEST, context, fetch: stub.fetch });
  assertEquals(
    asked,
    [true, true, false].map((isNamed) => ({
      isInDocument: false,
      isNamed,
      issuer: AS,
    })),
  );
  const uri = url.searchParams.get("redirect_uri");
  assertEquals(uri, `https://c.example/${new URL(AS).hostname}`);
  await assertRejectsCode(
    () => visited({ requireIss: true }),
    "issuer_mismatch",
  );
});

Deno.test("flows request offline_access where the server lists it, unless told not to", async () => {
  for (
    const [offlineAccess, listed, expected] of [
      [undefined, "offline_access", "read offline_access"],
      [true, "offline_access", "read offline_access"],
      [false, "offline_access", "read"],
      [undefined, "read", "read"],
    ] as const
  ) {
    const context = contextOf({ scopes_supported: [listed] });
    const url = await visited({ offlineAccess }, { context });
    assertEquals(url.searchParams.get("scope"), expected);
  }
});

Deno.test("codeFlow() uses the registration of an unfinished sign-in again, without a response once", async () => {
  const elsewhere = new Error("The page was left");
  const blocked = new OAuthClientError("popup_blocked", "Blocked");
  const closed = new OAuthClientError("popup_closed", "Closed");
  const aborted = new DOMException("Closed", "AbortError");
  const succeeds = "";
  const rows: [outcomes: (Error | string)[], registrations: number][] = [
    [[closed], 1],
    [[closed, closed], 1],
    [[closed, closed, closed], 2],
    [["access_denied", "access_denied", "access_denied", closed], 1],
    [["access_denied", closed, closed], 2],
    [["unauthorized_client", closed], 2],
    [["access_denied", aborted, aborted], 2],
    // The visit goes on elsewhere, or has not begun.
    [[elsewhere, elsewhere, elsewhere], 1],
    [[blocked, blocked, blocked], 1],
    // The session keeps the registration.
    [[closed, succeeds, closed], 2],
  ];
  for (const [outcomes, expected] of rows) {
    let registered = 0;
    using stub = stubFetch({
      [REGISTER]: () => Response.json({ client_id: `c${++registered}` }),
      [TOKEN]: token,
    });
    const { fetch } = stub;
    const visits: URL[] = [];
    let outcome: Error | string;
    const authorize = codeFlow({
      ...REGISTERING,
      visit: async (url) => {
        if (outcome instanceof Error) {
          visits.push(url);
          throw outcome;
        }
        const back = outcome === succeeds ? undefined : { error: outcome };
        return await user(visits, back)(url);
      },
    });
    for (outcome of outcomes) {
      const result = () => authorize({ ...REQUEST, fetch });
      if (outcome === succeeds) await result();
      else await assertRejects(result);
    }
    assertEquals(registered, expected, outcomes.join());
    assertEquals(valuesOf(visits, "client_id").at(-1), `c${registered}`);
  }
});

Deno.test("codeFlow() registers anew where a pushed request of an unfinished sign-in is refused", async () => {
  const par = `${AS}/par`;
  const context = contextOf({
    pushed_authorization_request_endpoint: par,
    require_pushed_authorization_requests: true,
  });
  let registered = 0;
  const pushed: (string | null)[] = [];
  using stub = stubFetch({
    [REGISTER]: () => Response.json({ client_id: `c${++registered}` }),
    [par]: ({ body }) =>
      pushed.push(new URLSearchParams(body).get("client_id")) === 2
        ? Response.json({ error: "invalid_client" }, { status: 401 })
        : Response.json({ request_uri: "urn:r:1", expires_in: 60 }),
  });
  const { fetch } = stub;
  const visit = () => Promise.reject(new Error("elsewhere"));
  const authorize = codeFlow({ ...REGISTERING, visit });
  for (let i = 0; i < 3; i++) {
    const result = () => authorize({ ...REQUEST, context, fetch });
    await assertRejects(result, Error, "elsewhere");
  }
  assertEquals(pushed, ["c1", "c1", "c2", "c2"]);
});

Deno.test("codeFlow() keeps the registrations of unfinished sign-ins apart by server", async () => {
  const issuers = [AS, "https://second.example"];
  using stub = stubFetch(Object.fromEntries(issuers.map((client_id) => [
    `${client_id}/register`,
    json({ client_id, client_secret: "s3cret" }),
  ])));
  const { fetch } = stub;
  const visits: URL[] = [];
  const visit = user(visits, { error: "access_denied" });
  const authorize = codeFlow({ ...REGISTERING, visit });
  const used = [...issuers, ...issuers];
  for (const issuer of used) {
    const context = contextOf({}, issuer);
    await assertRejects(() => authorize({ ...REQUEST, context, fetch }));
  }
  assertEquals(stub.requests.length, 2);
  assertEquals(valuesOf(visits, "client_id"), used);
});

/** The prompts of the visits of a sign-in with a session, and its failure. */
async function prompts(
  { session, refusal = "access_denied", ...options }: {
    session?: Partial<ISession["token"]> & { scopes?: string[] };
    parameters?: Record<string, string>;
    refusal?: string;
    offlineAccess?: boolean;
  },
) {
  using stub = stubFetch({
    [TOKEN]: json({ error: "invalid_grant" }, { status: 400 }),
  });
  const visits: URL[] = [];
  const authorize = codeFlow({
    ...{ ...CODE, ...options, knownClients: [KNOWN] },
    visit: user(visits, { error: refusal }),
  });
  const { scopes = ["read", "offline_access"], ...members } = session ?? {};
  const failure = await assertRejects(() =>
    authorize({
      ...REQUEST,
      fetch: stub.fetch,
      session: session && untyped({
        client: { ...KNOWN, client_id: "session" },
        scopes,
        token: { access_token: "a1", token_type: "Bearer", ...members },
      }),
    }), OAuthClientError);
  return [valuesOf(visits, "prompt"), failure.error];
}

Deno.test("codeFlow() requires consent where a session was to have a refresh token and has none, and of a named client never at first", async () => {
  const denied = "access_denied";
  const consent = "consent_required";
  const rows: [
    given: Parameters<typeof prompts>[0],
    expected: [(string | null)[], string],
  ][] = [
    [{}, [[null], denied]],
    [{ session: {} }, [["consent"], denied]],
    [{ session: { refresh_token: "r1" } }, [[null], denied]],
    // The refresh token was refused: the user has consented before.
    [{ session: { access_token: "" } }, [[null], denied]],
    [{ session: { scopes: ["read"] } }, [[null], denied]],
    [{ session: {}, parameters: { prompt: "login" } }, [["login"], denied]],
    [{ refusal: consent }, [[null, "consent"], consent]],
    [{ refusal: consent, session: {} }, [["consent"], consent]],
    [{ refusal: consent, offlineAccess: false }, [[null], consent]],
    [
      { refusal: consent, parameters: { prompt: "none" } },
      [["none"], consent],
    ],
  ];
  for (const [given, expected] of rows) {
    assertEquals(await prompts(given), expected, JSON.stringify(given));
  }
});

Deno.test("codeFlow() requires consent for a client that it has registered until there is a token, if it requests offline_access", async () => {
  const context = contextOf({
    registration_endpoint: REGISTER,
    client_id_metadata_document_supported: true,
  });
  const none = [null, null, null];
  const rows: [Partial<ICodeFlowOptions>, (string | null)[]][] = [
    // The second sign-in has the registration of the first, the third the session.
    [{}, ["consent", "consent", null]],
    [{ parameters: { prompt: "login" } }, ["login", "login", "login"]],
    [{ parameters: { prompt: "" } }, none],
    [{ offlineAccess: false }, none],
    [{ client: KNOWN }, none],
    [{ knownClients: [KNOWN] }, none],
    [{ clientMetadataUrl: "https://app.example/client.json" }, none],
  ];
  for (const [options, expected] of rows) {
    using stub = stubFetch({
      [TOKEN]: token,
      [REGISTER]: json({ client_id: "new" }, { status: 201 }),
    });
    const visits: URL[] = [];
    const denied = user(visits, { error: "access_denied" });
    const accepted = user(visits);
    const authorize = codeFlow({
      ...REGISTERING,
      ...options,
      visit: (url) => (visits.length > 0 ? accepted : denied)(url),
    });
    const request = { ...REQUEST, context, fetch: stub.fetch };
    await assertRejects(() => authorize(request));
    const session = await authorize(request);
    await authorize({ ...request, session });
    const prompts = valuesOf(visits, "prompt");
    assertEquals(prompts, expected, JSON.stringify(options));
  }
});

Deno.test("codeFlow() requires consent once if a server refuses it for a client that it has registered", async () => {
  const context = contextOf({ registration_endpoint: REGISTER });
  using stub = stubFetch({
    [REGISTER]: json({ client_id: "new" }, { status: 201 }),
  });
  const visits: URL[] = [];
  const visit = user(visits, { error: "consent_required" });
  const authorize = codeFlow({ ...REGISTERING, visit });
  const request = { ...REQUEST, context, fetch: stub.fetch };
  await assertRejects(() => authorize(request));
  assertEquals(valuesOf(visits, "prompt"), ["consent"]);
});

Deno.test("codeFlow() passes its parameters, and those of RFC 9470 over them", async () => {
  const url = await visited({
    parameters: { prompt: "login", acr_values: "own" },
    offlineAccess: true,
    resource: false,
    redirectUri: () => Promise.resolve("http://127.0.0.1:1/"),
  }, { acrValues: "mfa", maxAge: 0 });
  const { state: _s, code_challenge: _c, ...query } = Object.fromEntries(
    url.searchParams,
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
  for (
    const [own, acrValues, maxAge, expected] of [
      [{ max_age: "0", acr_values: "phr" }, "", 60, ["phr", "0"]],
      [{ max_age: "60" }, undefined, 60, [null, "60"]],
      [{ max_age: "300" }, "mfa", 60, ["mfa", "60"]],
      [{ max_age: "soon" }, undefined, 60, [null, "60"]],
      [{ max_age: "300" }, undefined, undefined, [null, "300"]],
    ] as const
  ) {
    const { searchParams } = await visited(
      { parameters: own },
      { acrValues, maxAge },
    );
    const sent = ["acr_values", "max_age"].map((one) => searchParams.get(one));
    assertEquals(sent, [...expected]);
  }
});

Deno.test("codeFlow() prefers the caller's client to that of the session, and credentials to both", async () => {
  const session = {
    client: { ...KNOWN, client_id: "session" },
    scopes: [],
    token: { access_token: "" },
  };
  const clientOf = async (
    options: Partial<ICodeFlowOptions>,
    request: Partial<IAuthorizeRequest>,
  ) => (await visited(options, request)).searchParams.get("client_id");
  const request = { session: untyped(session) };
  assertEquals(await clientOf({}, request), "known");
  assertEquals(await clientOf({ knownClients: [] }, request), "session");
  const client = publicClient("credentials", { issuer: AS });
  assertEquals(await clientOf({}, { ...request, client }), "credentials");
});

Deno.test("codeFlow() registers anew once the client secret of a stored session has expired", async () => {
  using stub = stubFetch({
    [REGISTER]: json({
      client_id: "c1",
      client_secret: "s3cret",
      client_secret_expires_at: 5_000,
    }, { status: 201 }),
    [TOKEN]: token,
  });
  const authorize = codeFlow(REGISTERING);
  let seconds = 1_000;
  const now = () => seconds * 1_000;
  const request = { ...REQUEST, fetch: stub.fetch, now };
  const stored = JSON.stringify(await authorize(request));
  for (const [later, registrations] of [[2_000, 1], [6_000, 2]] as const) {
    seconds = later;
    await authorize({ ...request, session: JSON.parse(stored) });
    const { length } = stub.urls.filter((url) => url === REGISTER);
    assertEquals(length, registrations);
  }
});

Deno.test("codeFlow() does not store the credentials of the caller, but uses them", async () => {
  using stub = stubFetch({ [TOKEN]: token });
  const client = clientSecretBasic("c1", "s3cret", { issuer: AS });
  const authorize = codeFlow(CODE);
  const session = await authorize({ ...REQUEST, client, fetch: stub.fetch });
  assertEquals(session.client, {
    issuer: AS,
    client_id: "c1",
    token_endpoint_auth_method: "client_secret_basic",
  });
  assert(stub.requests[0]!.headers.Authorization);
});

Deno.test("codeFlow() uses a client as JSON, and keeps it in the session for refreshes", async () => {
  using stub = stubFetch({ [TOKEN]: token });
  const client = { issuer: `${AS}/`, client_id: "c1", client_secret: "s3" };
  const authorize = codeFlow({ ...CODE, client });
  assertEquals(authorize.client, client);
  const session = await authorize({ ...REQUEST, fetch: stub.fetch });
  assertEquals(session.client, { ...client, issuer: AS });
  await refreshSession(session, { fetch: stub.fetch });
  assertEquals(
    stub.requests.map(({ headers }) => headers.Authorization),
    Array(2).fill(`Basic ${btoa("c1:s3")}`),
  );
});

Deno.test("flows carry credentials that are not stored, and createAuthorizedFetch() refreshes with them", async () => {
  const client = clientSecretBasic("c1", "s3cret", { issuer: AS });
  const flow = codeFlow({ ...CODE, client });
  for (
    const one of [
      flow,
      deviceFlow({ show() {}, client }),
      clientCredentialsFlow({ client }),
    ]
  ) {
    assertStrictEquals(one.client, client);
  }
  using stub = stubFetch({
    [TOKEN]: token,
    [CONTEXT.resource]: json({}),
  });
  const session = await flow({ ...REQUEST, fetch: stub.fetch });
  assertEquals(session.client.client_secret, undefined);
  session.token.expires_at = 1;
  const api = (authorize: Authorize) =>
    createAuthorizedFetch(CONTEXT.resource, {
      authorize,
      store: memoryStore(session),
      fetch: untyped(stub.fetch),
    });
  await api(flow)(CONTEXT.resource);
  assertEquals(
    stub.requests.at(-2)?.headers.Authorization,
    `Basic ${btoa("c1:s3cret")}`,
  );
  await assertRejectsCode(
    () => api((request) => flow(request))(CONTEXT.resource),
    "unsupported",
    "must have its member client",
  );
});

Deno.test("createAuthorizedFetch() accepts the key of a client metadata document without an issuer, but no assertion made elsewhere", () => {
  const authorize = codeFlow(CODE);
  const document = "https://client.example/metadata.json";
  createAuthorizedFetch(CONTEXT.resource, {
    authorize,
    client: privateKeyJwt(document, PRIVATE_JWK),
  });
  // Its audience is unknown: a server that the resource names could use it elsewhere.
  for (const clientId of [document, "c1"]) {
    const client = clientAssertion(clientId, () => "j1");
    for (
      const create of [
        () => createAuthorizedFetch(CONTEXT.resource, { authorize, client }),
        () => clientCredentialsFlow({ client }),
      ]
    ) {
      assertThrowsCode(create, "invalid_argument", "bound to an issuer");
    }
  }
});

Deno.test("codeFlow() does not send the user away with a client of another issuer, or that lacks its secret", async () => {
  const other = publicClient("c1", { issuer: "https://other.example" });
  const client = {
    ...KNOWN,
    client_secret: "",
    token_endpoint_auth_method: "client_secret_post",
  };
  const lacking = '"client_secret_post" and without a client_secret';
  for (
    const [options, request, code, message] of [
      [{}, { client: other }, "issuer_mismatch", ""],
      [{ client }, {}, "unsupported", lacking],
      [{ knownClients: [client] }, {}, "unsupported", lacking],
    ] as const
  ) {
    const visits: URL[] = [];
    const authorize = codeFlow({
      ...{ ...CODE, visit: user(visits) },
      ...untyped(options),
    });
    const call = () => authorize({ ...REQUEST, ...request });
    await assertRejectsCode(call, code, message);
    assertEquals(visits, []);
  }
});

Deno.test("codeFlow() sends registrationToken to the registration endpoint only, and does not keep it", async () => {
  using stub = stubFetch({
    [REGISTER]: ({ body }) =>
      Response.json({ ...JSON.parse(body!), client_id: "new" }),
    [TOKEN]: token,
  });
  const context = contextOf({ registration_endpoint: REGISTER });
  const session = await codeFlow({
    ...REGISTERING,
    registrationToken: (issuer) => issuer === AS ? "t0ken-initial" : undefined,
  })({ ...REQUEST, context, fetch: stub.fetch });
  assertEquals(
    stub.requests.map(({ url, headers }) => [url, headers.Authorization]),
    [[REGISTER, "Bearer t0ken-initial"], [TOKEN, undefined]],
  );
  const kept = JSON.stringify([session, stub.requests[1]]);
  assert(!kept.includes("t0ken-initial"), kept);
});

Deno.test("flows register for all scopes of the server, if they cover those to request", async () => {
  const all = ["read", "write", "offline_access"];
  const context = contextOf({ scopes_supported: all });
  for (
    const [scopes, expected] of [
      [undefined, all.join(" ")],
      [["write"], all.join(" ")],
      [["other"], undefined],
    ] as const
  ) {
    const common = { ...REGISTERING, scopes };
    for (
      const authorize of [
        codeFlow(common),
        deviceFlow({ ...common, show() {}, delay: () => Promise.resolve() }),
      ]
    ) {
      using stub = stubFetch({
        [REGISTER]: json({ client_id: "c1" }),
        [DEVICE]: device,
        [TOKEN]: token,
      });
      await authorize({ ...REQUEST, context, fetch: stub.fetch });
      const { scope } = JSON.parse(stub.requests[0]!.body!);
      assertEquals(scope, expected);
    }
  }
});

Deno.test("codeFlow() continues without listed PKCE methods if told so", async () => {
  const context = contextOf({ code_challenge_methods_supported: undefined });
  await assertRejectsCode(() => visited({}, { context }), "unsupported");
  await visited({ assumePkce: true }, { context });
});

Deno.test("codeFlow() does not open a URL after an abort", async () => {
  const visits: URL[] = [];
  const controller = new AbortController();
  const authorize = codeFlow({
    knownClients: [KNOWN],
    redirectUri: () => {
      controller.abort("enough");
      return REDIRECT_URI;
    },
    visit: user(visits),
  });
  const { signal } = controller;
  let reason: unknown;
  await authorize({ ...REQUEST, signal }).catch((error) => reason = error);
  assertEquals([reason, visits.length], ["enough", 0]);
});

Deno.test("deviceFlow() shows the code and returns the session", async () => {
  using stub = stubFetch({ [DEVICE]: device, [TOKEN]: token });
  const codes: string[] = [];
  const authorize = deviceFlow({
    knownClients: [{ ...KNOWN, redirect_uris: ["https://app.example/"] }],
    show: ({ user_code }) => void codes.push(user_code),
    offlineAccess: true,
    parameters: { login_hint: "ada" },
    delay: () => Promise.resolve(),
  });
  const session = await authorize({
    ...REQUEST,
    acrValues: "mfa",
    fetch: stub.fetch,
  });
  assertEquals(codes, ["WDJB-MJHT"]);
  const [first, second] = stub.requests.map(({ body }) =>
    Object.fromEntries(new URLSearchParams(body))
  );
  assertEquals(first, {
    resource: CONTEXT.resource,
    scope: "read offline_access",
    login_hint: "ada",
    acr_values: "mfa",
    client_id: "known",
  });
  assertEquals(second, {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: "d1",
    resource: CONTEXT.resource,
    client_id: "known",
  });
  assertEquals(session.scopes, ["read", "offline_access"]);
  assertEquals(session.token.refresh_token, "r1");
  assertEquals(session.omitResource, undefined);
});

Deno.test("flows send the resource indicator that they are given in every request, and keep it beside the resource", async () => {
  using stub = stubFetch({ [DEVICE]: device, [TOKEN]: token });
  const sent = () =>
    stub.requests.map(({ body }) => new URLSearchParams(body).get("resource"));
  const client = { issuer: AS, client_id: "c", client_secret: "s3cret" };
  const common = { client, delay: () => Promise.resolve() };
  for (
    const resource of ["urn:example:inside", new URL("https://inside.example")]
  ) {
    const visits: URL[] = [];
    for (
      const [flow, requests] of [
        [codeFlow({ ...CODE, ...common, visit: user(visits), resource }), 1],
        [deviceFlow({ ...common, show() {}, resource }), 2],
        [clientCredentialsFlow({ client, resource }), 1],
        [
          assertionFlow({ client, getAssertion: () => "assertion", resource }),
          1,
        ],
      ] as const
    ) {
      stub.requests.length = 0;
      const session = await flow({ ...REQUEST, fetch: stub.fetch });
      const indicator = String(resource);
      assertEquals(
        [session.resource, session.resourceIndicator],
        [MCP, indicator],
      );
      assertEquals(sent(), Array(requests).fill(indicator));
      stub.requests.length = 0;
      const refreshed = await refreshSession(
        { ...session, token: { ...session.token, refresh_token: "r1" } },
        { fetch: stub.fetch },
      );
      assertEquals(sent(), [indicator]);
      assertEquals(refreshed.resourceIndicator, indicator);
    }
    assertEquals(
      visits.map((url) => url.searchParams.get("resource")),
      [String(resource)],
    );
  }
});

Deno.test("deviceFlow() leaves the resource out with resource: false", async () => {
  using stub = stubFetch({ [DEVICE]: device, [TOKEN]: token });
  const authorize = deviceFlow({
    knownClients: [KNOWN],
    show: () => {},
    resource: false,
    delay: () => Promise.resolve(),
  });
  const session = await authorize({ ...REQUEST, fetch: stub.fetch });
  assertEquals([session.resource, session.omitResource], [
    CONTEXT.resource,
    true,
  ]);
  for (const { body } of stub.requests) {
    assertEquals(new URLSearchParams(body).has("resource"), false);
  }
});

Deno.test("clientCredentialsFlow() requests a token, and keeps neither secret nor refresh token", async () => {
  using stub = stubFetch({ [TOKEN]: token });
  const authorize = clientCredentialsFlow({
    client: clientSecretBasic("c1", "s3cret", { issuer: AS }),
    scopes: ["own"],
    parameters: { tenant: "t1" },
    resource: false,
  });
  const session = await authorize({
    ...REQUEST,
    requiredScopes: ["write"],
    fetch: stub.fetch,
  });
  assertEquals(
    stub.requests[0]!.body,
    "grant_type=client_credentials&scope=own+write&tenant=t1",
  );
  assertEquals(session.token, { access_token: "a1", token_type: "Bearer" });
  assertEquals(JSON.stringify(session).includes("s3cret"), false);
  assertEquals([session.omitResource, session.scopes], [true, [
    "own",
    "write",
  ]]);
});

Deno.test("clientCredentialsFlow() sends its secret to its own issuer only", async () => {
  using stub = stubFetch({ [TOKEN]: token });
  const issuer = "https://other.example";
  const client = clientSecretBasic("c1", "s3cret", { issuer });
  const authorize = clientCredentialsFlow({ client });
  await assertRejectsCode(
    () => authorize({ ...REQUEST, fetch: stub.fetch }),
    "issuer_mismatch",
  );
  assertEquals(stub.requests, []);
});

Deno.test("clientCredentialsFlow() requests no scopes for users, unless told to", async () => {
  const scopeOf = async (scopes?: string[]) => {
    using stub = stubFetch({ [TOKEN]: token });
    const client = clientSecretBasic("c1", "s3cret", { issuer: AS });
    await clientCredentialsFlow({ client, scopes })({
      ...REQUEST,
      scopes: ["openid", "read", "offline_access"],
      fetch: stub.fetch,
    });
    return new URLSearchParams(stub.requests[0]!.body).get("scope");
  };
  assertEquals(await scopeOf(), "read");
  assertEquals(await scopeOf(["openid"]), "openid");
});

Deno.test("codeFlow() registers anew where a server refuses to store the request of a client that it has forgotten", async () => {
  const par = `${AS}/par`;
  const context = contextOf({
    pushed_authorization_request_endpoint: par,
    require_pushed_authorization_requests: true,
  });
  const session = untyped({
    client: { issuer: AS, client_id: "old" },
    scopes: [],
    token: { access_token: "" },
  });
  for (
    const [status, error, isRepeated] of [
      [403, undefined, true],
      [401, "invalid_client", true],
      [400, "invalid_scope", false],
      [503, "invalid_client", false],
    ] as const
  ) {
    const ids: (string | null)[] = [];
    using stub = stubFetch({
      [TOKEN]: token,
      [REGISTER]: json({ client_id: "new" }),
      [par]: ({ body }) => {
        const id = new URLSearchParams(body).get("client_id");
        ids.push(id);
        return id !== "old"
          ? Response.json({ request_uri: "urn:r:1", expires_in: 60 })
          : error
          ? Response.json({ error }, { status })
          : new Response(null, { status });
      },
    });
    const authorize = codeFlow({
      ...REGISTERING,
      visit: (_url, { pending: { state } }) =>
        Promise.resolve(new URLSearchParams({ code: "c0de", state })),
    });
    const { fetch } = stub;
    const outcome = await authorize({ ...REQUEST, context, session, fetch })
      .then(({ client }) => client.client_id, () => "failed");
    assertEquals(outcome, isRepeated ? "new" : "failed");
    assertEquals(ids, isRepeated ? ["old", "new"] : ["old"]);
  }
});

Deno.test("codeFlow() and deviceFlow() keep in the session that a refresh sends the scopes", async () => {
  const common = {
    client: KNOWN,
    scopes: ["api://c1/call"],
    refreshScope: true,
  };
  for (
    const authorize of [
      codeFlow({ ...CODE, ...common }),
      deviceFlow({ ...common, show() {}, delay: () => Promise.resolve() }),
    ]
  ) {
    using stub = stubFetch({ [DEVICE]: device, [TOKEN]: token });
    const { fetch } = stub;
    const session = await authorize({ ...REQUEST, fetch });
    assertEquals(session.refreshScope, true);
    await refreshSession(session, { fetch });
    const form = new URLSearchParams(stub.requests.at(-1)!.body);
    assertEquals(form.get("refresh_token"), "r1");
    assertEquals(form.get("scope"), "api://c1/call offline_access");
  }
});

Deno.test("codeFlow() and deviceFlow() send tokenParameters in token requests and refreshes, where the library does not set them", async () => {
  const SECRET = "s3cret-tenant-key";
  const common = {
    client: KNOWN,
    refreshRedirectUri: true,
    tokenParameters: {
      tenant: SECRET,
      redirect_uri: "https://other.example/",
      grant_type: "password",
      client_id: "other",
      empty: "",
    },
  };
  for (
    const [authorize, redirectUris] of [
      [codeFlow({ ...CODE, ...common }), [REDIRECT_URI, REDIRECT_URI]],
      [
        codeFlow({ ...CODE, ...common, refreshRedirectUri: false }),
        [REDIRECT_URI, "https://other.example/"],
      ],
      [
        deviceFlow({ ...common, show() {}, delay: () => Promise.resolve() }),
        ["https://other.example/", "https://other.example/"],
      ],
    ] as const
  ) {
    using stub = stubFetch({ [DEVICE]: device, [TOKEN]: token });
    const { fetch } = stub;
    const session = await authorize({ ...REQUEST, fetch });
    await refreshSession(session, { fetch });
    const forms = stub.requests.filter(({ url }) => url === TOKEN).map((
      { body },
    ) => new URLSearchParams(body));
    const values = (name: string) => forms.map((form) => form.getAll(name));
    assertEquals(values("redirect_uri").flat(), [...redirectUris]);
    assertEquals(values("tenant"), [[SECRET], [SECRET]]);
    assertEquals(values("client_id"), [["known"], ["known"]]);
    assertEquals(values("empty"), [[], []]);
    assertEquals(forms[1]!.getAll("grant_type"), ["refresh_token"]);
    const others = stub.requests.filter(({ url }) => url !== TOKEN);
    assert(!JSON.stringify(others).includes(SECRET));
    using refusing = stubFetch({
      [TOKEN]: json({
        error: "invalid_grant",
        error_description: `no tenant ${SECRET}`,
      }, { status: 400 }),
    });
    const error = await assertRejects(
      () => refreshSession(session, { fetch: refusing.fetch }),
      OAuthClientError,
    );
    assert(!`${error.message} ${JSON.stringify(error)}`.includes(SECRET));
  }
});

Deno.test("flows refuse options of the wrong type when they are created", () => {
  for (
    const create of [
      () => codeFlow(untyped({ redirectUri: REDIRECT_URI })),
      () => codeFlow(untyped(undefined)),
      () => deviceFlow(untyped({})),
      () => deviceFlow(untyped({ show() {}, delay: 5 })),
      () => clientCredentialsFlow(untyped({})),
      () => clientCredentialsFlow({ client: clientSecretBasic("c", "s") }),
      () => clientCredentialsFlow(untyped({ client: UNBOUND })),
      () => deviceFlow({ show() {}, client: untyped(UNBOUND) }),
      () => deviceFlow(untyped({ show() {}, knownClients: UNBOUND })),
      () => codeFlow({ ...CODE, knownClients: untyped(UNBOUND) }),
      () => codeFlow({ ...CODE, scopes: untyped("read") }),
      () => codeFlow({ ...CODE, registrationToken: untyped(7) }),
      () => codeFlow({ ...CODE, tokenParameters: untyped({ n: 1 }) }),
      () => deviceFlow({ show() {}, tokenParameters: untyped("a=b") }),
      () => codeFlow({ ...CODE, resource: untyped(true) }),
      () => codeFlow({ ...CODE, resource: "" }),
      () => codeFlow({ ...CODE, resource: "inside" }),
      () => deviceFlow({ show() {}, resource: "https://inside.example/#a" }),
      () => codeFlow({ ...CODE, redirectUri: untyped(undefined) }),
      () => codeFlow({ ...CODE, client: untyped(UNBOUND) }),
      () => codeFlow({ ...CODE, client: clientSecretBasic("c", "s") }),
      () => codeFlow({ ...CODE, client: clientAssertion("c", () => "j") }),
    ]
  ) {
    assertThrowsCode(create, "invalid_argument");
  }
});

Deno.test("codeFlow() says whether the redirect URI has to be in the client metadata document", async () => {
  const clientMetadataUrl = "https://app.example/client.json";
  const context = contextOf({ client_id_metadata_document_supported: true });
  const given: boolean[] = [];
  const redirectUri = ({ isInDocument }: { isInDocument: boolean }) => {
    given.push(isInDocument);
    return REDIRECT_URI;
  };
  const document = { clientMetadataUrl, redirectUri };
  await visited({ ...document, knownClients: [] }, { context });
  await visited({ redirectUri }, { context });
  await visited(document);
  await visited({ ...document, client: KNOWN }, { context });
  assertEquals(given, [true, false, false, false]);
});
