import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  clientCredentialsFlow,
  clientSecretBasic,
  clientSecretPost,
  codeFlow,
  createAuthorizedFetch,
  createDpop,
  type IAuthorizeRequest,
  type ICodeFlowOptions,
  type ISession,
  memoryStore,
  OAuthClientError,
  publicClient,
} from "../../../mod.ts";
import {
  API,
  AS,
  assertRejectsCode,
  assertThrowsCode,
  MCP,
  OAUTH,
  PRM,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { shown } from "../../support/shown.ts";
import { untyped } from "../../support/stub_fetch.ts";
import {
  resourceFetch,
  type Respond,
  SESSION as RESOURCE_SESSION,
} from "../../support/resource.ts";

const SESSION: ISession = {
  ...RESOURCE_SESSION,
  token: { access_token: "a1", token_type: "Bearer", refresh_token: "r1" },
};
const OTHER = "https://other.example";
const DOCUMENTS: Record<string, unknown> = {
  [`${PRM}/mcp`]: { resource: MCP, authorization_servers: [AS] },
  [OAUTH]: {
    ...SESSION.serverMetadata,
    revocation_endpoint: `${AS}/revoke`,
  },
};

interface ICall {
  url: string;
  init: RequestInit;
  authorization: string | null;
}

/** A fetch whose requests are answered here: those to the resource by `answer`. */
function create(
  answer: (call: ICall) => Response = () => new Response(),
  options: Partial<Parameters<typeof createAuthorizedFetch>[1]> = {},
  resource: string | URL = MCP,
) {
  const calls: ICall[] = [];
  const asked: IAuthorizeRequest[] = [];
  const api = createAuthorizedFetch(resource, {
    authorize: (request) => {
      asked.push(request);
      return Promise.resolve(SESSION);
    },
    fetch: (input, init = {}) => {
      const url = input instanceof Request ? input.url : String(input);
      if (DOCUMENTS[url]) return Promise.resolve(Response.json(DOCUMENTS[url]));
      const headers = input instanceof Request ? input.headers : init.headers;
      const authorization = new Headers(headers).get("Authorization");
      calls.push({ url, init, authorization });
      return Promise.resolve(answer(calls.at(-1)!));
    },
    ...options,
  });
  return { api, calls, asked };
}

Deno.test("createAuthorizedFetch() uses a stored session of the resource or of a parent", async () => {
  for (
    const [resource, isUsed] of [
      [MCP, true],
      [`${MCP}/`, true],
      ["https://api.example", true],
      ["https://api.example/mcp/sub", false],
      ["https://api.example/mc", false],
      ["https://other.example/mcp", false],
      ["https://api.example/mcp?tenant=1", false],
      ["http://api.example/mcp", false],
    ] as const
  ) {
    const store = memoryStore({ ...SESSION, resource });
    const { api, calls } = create(undefined, { store });
    await api(MCP);
    assertEquals(
      calls[0]!.authorization,
      isUsed ? "Bearer a1" : null,
      resource,
    );
  }
});

Deno.test("createAuthorizedFetch() sends the token of a resource with a query to this URL only", async () => {
  const resource = `${MCP}?tenant=1`;
  const store = memoryStore({ ...SESSION, resource });
  const { api, calls } = create(undefined, { store }, new URL(resource));
  for (const url of [resource, MCP, `${MCP}?tenant=2`]) {
    await api(url);
  }
  const sent = calls.map(({ authorization }) => authorization);
  assertEquals(sent, ["Bearer a1", null, null]);
});

Deno.test("createAuthorizedFetch() sends DPoP tokens with a proof and never as Bearer", async () => {
  const dpop = await createDpop();
  const bound = { ...SESSION, dpopThumbprint: dpop.thumbprint };
  const { api, calls } = create(undefined, { store: memoryStore(bound), dpop });
  await api(MCP);
  assertEquals(calls[0]!.authorization, "DPoP a1");
  const plain = create(undefined, { store: memoryStore(bound) });
  await plain.api(MCP);
  assertEquals(plain.calls[0]!.authorization, null);
  const unbound = create(undefined, { store: memoryStore(SESSION), dpop });
  await unbound.api(MCP);
  assertEquals(unbound.calls[0]!.authorization, null);
});

Deno.test("createAuthorizedFetch() passes what the caller gave to fetch", async () => {
  const { api, calls } = create(undefined, { store: memoryStore(SESSION) });
  const { signal } = new AbortController();
  const init = {
    method: "patch",
    body: "b",
    headers: [["X-Test", "1"]],
    signal,
    cache: "no-store",
    keepalive: true,
  } as RequestInit & { keepalive: boolean };
  await api(MCP, init);
  const { headers, ...rest } = calls[0]!.init;
  const { headers: _, ...given } = init;
  assertEquals(rest, { ...given, redirect: "manual" });
  assertEquals([...new Headers(headers)], [
    ["authorization", "Bearer a1"],
    ["x-test", "1"],
  ]);
  for (const redirect of ["manual", "error"] as const) {
    await api(MCP, { redirect });
    assertEquals(calls.at(-1)!.init.redirect, redirect);
  }
});

Deno.test("createAuthorizedFetch() resolves relative URLs against location", async () => {
  const { api, calls } = create(undefined, { store: memoryStore(SESSION) });
  const names = Object.getOwnPropertyDescriptor(globalThis, "location");
  const location = { href: "https://api.example/page" };
  Object.defineProperty(globalThis, "location", {
    value: location,
    configurable: true,
  });
  try {
    await api("/mcp/a");
    await api("other");
  } finally {
    if (names) Object.defineProperty(globalThis, "location", names);
    else delete (globalThis as { location?: unknown }).location;
  }
  assertEquals(calls.map(({ url, authorization }) => [url, authorization]), [
    ["https://api.example/mcp/a", "Bearer a1"],
    ["other", null],
  ]);
});

Deno.test("createAuthorizedFetch() refuses a redirect that the runtime hides", async () => {
  const { api, calls } = create(() => {
    const response = Response.error();
    Object.defineProperty(response, "type", { value: "opaqueredirect" });
    return response;
  }, { store: memoryStore(SESSION) });
  const error = await assertRejects(() => api(MCP), OAuthClientError);
  assertEquals([error.code, calls.length], ["redirect_refused", 1]);
  const response = await api(MCP, { redirect: "manual" });
  assertEquals(response.type, "opaqueredirect");
});

Deno.test("createAuthorizedFetch() gives authorize what it needs", async () => {
  const { api, asked } = create(
    ({ authorization }) =>
      new Response(null, { status: authorization ? 200 : 401 }),
    { timeoutMs: 5000, allowUrl: () => true, allowHttp: true },
  );
  await api(MCP);
  const { context, signal, fetch, scopes, session, ...rest } = asked[0]!;
  assertEquals(context.resource, MCP);
  assertEquals([signal?.aborted, typeof fetch], [false, "function"]);
  assertEquals([scopes, session, rest.requiredScopes], [
    [],
    undefined,
    undefined,
  ]);
  assertEquals([rest.timeoutMs, rest.allowHttp], [5000, true]);
});

Deno.test("createAuthorizedFetch() sends no header fields of its options to the token endpoint, and ends no refresh by their signal", async () => {
  const shared = {
    headers: { "X-Api-Key": "resource only" },
    signal: AbortSignal.abort(),
  };
  const { api, calls } = create(
    ({ url, authorization }) =>
      url === `${AS}/token`
        ? Response.json({ access_token: "a2" })
        : new Response(null, {
          status: authorization === "Bearer a2" ? 200 : 401,
        }),
    { store: memoryStore(SESSION), ...shared },
  );
  assertEquals((await api(MCP)).status, 200);
  const refresh = calls.find(({ url }) => url === `${AS}/token`);
  assertEquals(new Headers(refresh!.init.headers).get("X-Api-Key"), null);
});

Deno.test("createAuthorizedFetch() gives authorize no session of another issuer", async () => {
  const store = memoryStore({
    ...SESSION,
    issuer: OTHER,
    token: { access_token: "a0", token_type: "Bearer" },
    scopes: ["foreign"],
  });
  const { api, asked } = create(
    ({ authorization }) =>
      new Response(null, { status: authorization === "Bearer a1" ? 200 : 401 }),
    { store },
  );
  assertEquals((await api(MCP)).status, 200);
  assertEquals([asked[0]!.session, asked[0]!.scopes], [undefined, []]);
});

for (
  const [what, error, sent, isStream] of [
    ["a 401 with use_dpop_nonce", "use_dpop_nonce", 2],
    ["a 401 with invalid_dpop_proof", "invalid_dpop_proof", 1],
    ["the 401 of a stream, which it sends once", "use_dpop_nonce", 1, true],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() returns ${what}, which no token would help`, async () => {
    const dpop = await createDpop();
    const bound = { ...SESSION, dpopThumbprint: dpop.thumbprint };
    const headers = {
      "WWW-Authenticate": `Bearer, DPoP error="${error}"`,
      "DPoP-Nonce": "n",
    };
    const { api, calls, asked } = create(
      () => new Response("no", { status: 401, headers }),
      { dpop, store: memoryStore(bound) },
    );
    const body = new Blob(["once"]).stream();
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const response = await api(MCP, isStream ? init : {});
    assertEquals(await response.text(), "no");
    assertEquals([calls.length, asked.length], [sent, 0]);
  });
}

Deno.test("createAuthorizedFetch().authorize() makes sure that there is a session", async () => {
  const { api, asked, calls } = create();
  assertEquals(await api.session(), undefined);
  assertEquals(await api.authorize(), SESSION);
  assertEquals(await api.authorize(), SESSION);
  assertEquals(await api.session(), SESSION);
  // One request for the challenge, without a token.
  assertEquals(asked.length, 1);
  assertEquals(calls.map((one) => one.authorization), [null]);
});

Deno.test("createAuthorizedFetch().authorize() returns a new session with the token that was refused", async () => {
  const { api, asked } = create(() => new Response(null, { status: 401 }));
  assertEquals((await api(MCP)).status, 401);
  assertEquals(await api.authorize(), SESSION);
  assertEquals(asked.length, 2);
});

Deno.test("createAuthorizedFetch() keeps a client whose credentials only its flow has", async () => {
  const client = {
    ...SESSION.client,
    token_endpoint_auth_method: "private_key_jwt",
  } as const;
  const { refresh_token: _, ...token } = SESSION.token;
  const store = memoryStore({ ...SESSION, client, token });
  const { api, asked } = create(
    () => new Response(null, { status: 401 }),
    { store },
  );
  await api(MCP);
  assertEquals(asked.map(({ session }) => session?.client), [client]);
});

/** `fetch` throws for it, and quotes it. */
const UNUSABLE = { ...SESSION.token, access_token: "s3cret\ns3cret" };

Deno.test("createAuthorizedFetch() refreshes a stored token that no header field can hold", async () => {
  const { api, calls } = create(
    ({ url, authorization }) =>
      url === TOKEN_ENDPOINT
        ? Response.json({ access_token: "a2" })
        : new Response(null, { status: authorization ? 200 : 401 }),
    { store: memoryStore({ ...SESSION, token: UNUSABLE }) },
  );
  assertEquals((await api(MCP)).status, 200);
  const sent = calls.map(({ authorization }) => authorization);
  assertEquals(sent, [null, null, "Bearer a2"]);
});

Deno.test("createAuthorizedFetch() uses a session whose refresh token is null as one without", async () => {
  const token = { ...SESSION.token, refresh_token: untyped(null) };
  const { api, calls } = create(undefined, {
    store: memoryStore({ ...SESSION, token }),
    onEvent() {},
  });
  assertEquals((await api(MCP)).status, 200);
  assertEquals(calls.map(({ authorization }) => authorization), ["Bearer a1"]);
});

for (
  const [what, change, code, isSaved] of [
    ["of no token", { token: undefined }, "invalid_argument"],
    ["that no header field can hold", { token: UNUSABLE }, "invalid_argument"],
    ["bound to a key", { dpopThumbprint: "key" }, "invalid_argument"],
    ["for another resource", { resource: OTHER }, "identifier_mismatch"],
    ["for a parent of it", { resource: API }, "identifier_mismatch", true],
    ["of another issuer", { issuer: OTHER }, "issuer_mismatch", true],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() refuses a session ${what} from authorize${isSaved ? "" : " and save()"}`, async () => {
    const session = untyped({ ...SESSION, ...change });
    const authorize = () => Promise.resolve(session);
    const { api, calls } = create(undefined, { authorize });
    const error = await assertRejectsCode(() => api.authorize(), code);
    assert(!shown(error).includes("s3cret"), error.message);
    assertEquals(await api.session(), undefined);
    assertEquals(calls.map(({ authorization }) => authorization), [null]);
    const saved = await api.save(session).then(() => true, (error) => error);
    assertEquals(isSaved ? saved : saved.code, isSaved ?? code);
    assert(!shown(saved).includes("s3cret"), saved.message);
    assertEquals(await api.session(), isSaved && session);
    const nothing = () => api.save(untyped(undefined));
    await assertRejectsCode(nothing, "invalid_argument");
  });
}

Deno.test("createAuthorizedFetch().revoke() deletes the session before it revokes", async () => {
  const serverMetadata = {
    ...SESSION.serverMetadata,
    revocation_endpoint: `${AS}/revoke`,
  };
  const store = memoryStore({ ...SESSION, serverMetadata });
  const kept: unknown[] = [];
  const { api, calls } = create(({ url }) => {
    if (url.endsWith("/revoke")) store.load().then((one) => kept.push(one));
    return new Response();
  }, { store });
  assertEquals(await api.revoke(), true);
  assertEquals(await api.revoke(), false);
  assertEquals(calls.map(({ url }) => url), [
    `${AS}/revoke`,
    `${AS}/revoke`,
  ]);
  assertEquals(kept, [undefined, undefined]);

  // A server without a revocation endpoint.
  await api.save(SESSION);
  assertEquals(await api.revoke(), false);
  assertEquals(await api.session(), undefined);
});

/** A response of another fetch. */
function refusalOf(url: string): Response {
  const challenge = 'Bearer resource_metadata="https://evil.example/metadata"';
  const headers = { "WWW-Authenticate": challenge };
  const response = new Response(null, { status: 401, headers });
  Object.defineProperty(response, "url", { value: url, configurable: true });
  return response;
}

Deno.test("createAuthorizedFetch().renew() renews after a response of another fetch", async () => {
  const { api, asked } = create(
    () => Response.json({ access_token: "a2" }),
    { store: memoryStore(SESSION) },
  );
  const { token } = await api.renew(refusalOf(`${MCP}/sub`));
  assertEquals([token.access_token, asked.length], ["a2", 0]);
});

Deno.test("createAuthorizedFetch().renew() uses no challenge of another server", async () => {
  let target = "https://evil.example/file";
  const { api, calls, asked } = create(({ url }) =>
    url.startsWith(MCP)
      ? new Response(null, { status: 302, headers: { Location: target } })
      : refusalOf(target)
  );
  const redirected = await api(MCP);
  // A redirect that leads back to the resource was selected by the other server.
  Object.defineProperty(redirected, "url", { value: MCP });
  target = "https://api.example/other";
  const outside = await api(MCP);
  calls.length = 0;
  for (
    const response of [
      redirected,
      outside,
      refusalOf("https://evil.example/mcp"),
      refusalOf("https://api.example/other"),
      refusalOf(""),
    ]
  ) {
    await assertRejectsCode(
      () => api.renew(response),
      "invalid_argument",
      "response must be of the resource",
    );
  }
  assertEquals([calls.length, asked.length], [0, 0]);
});

/** The response of a resource that requires these scopes. */
function insufficientScope(scope: string): Response {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  const headers = { "WWW-Authenticate": challenge };
  return new Response("no", { status: 403, headers });
}

Deno.test("createAuthorizedFetch() returns a 403 that would lead to more than 100 scopes or 4,096 characters", async () => {
  const scopes = (count: number) =>
    Array.from({ length: count }, (_, n) => `s${n}`).join(" ");
  for (
    const [scope, renewals] of [
      [scopes(99), 1],
      [scopes(100), 0],
      ["x".repeat(4096 - "read ".length), 1],
      ["x".repeat(4097 - "read ".length), 0],
    ] as const
  ) {
    const { api, asked } = create(
      () => insufficientScope(scope),
      { store: memoryStore(SESSION) },
    );
    const response = await api(MCP);
    assertEquals([response.status, await response.text()], [403, "no"]);
    assertEquals(asked.length, renewals);
  }
});

Deno.test("createAuthorizedFetch() limits the scopes of each step-up, not those of two at the same time", async () => {
  const scopes = (url: string) =>
    Array.from({ length: 60 }, (_, n) => `${url.at(-1)}${n}`);
  let count = 1;
  const granted = new Map<string | null, string[]>();
  const { api } = create(({ url, authorization }) => {
    const has = granted.get(authorization)?.includes(scopes(url)[0]!);
    return has ? new Response("yes") : insufficientScope(scopes(url).join(" "));
  }, {
    store: memoryStore(SESSION),
    authorize: ({ scopes }) => {
      const access_token = `a${++count}`;
      granted.set(`Bearer ${access_token}`, scopes);
      const token = { access_token, token_type: "Bearer" };
      return Promise.resolve({ ...SESSION, token, scopes });
    },
  });
  const calls = ["a", "b"].map((path) => api(`${MCP}/${path}`));
  const texts = (await Promise.all(calls)).map((one) => one.text());
  assertEquals(await Promise.all(texts), ["yes", "yes"]);
  assertEquals((await api.session())!.scopes.length, 121);
});

/** A fetch whose resource lists scopes, and the scopes that its user grants. */
function listing(
  supported: () => string[],
  respond: Respond,
  stored?: ISession,
) {
  const requested: string[][] = [];
  const { api } = resourceFetch(
    (received) =>
      received.url === `${PRM}/mcp`
        ? Response.json({
          resource: MCP,
          authorization_servers: [AS],
          scopes_supported: supported(),
        })
        : respond(received),
    {
      store: memoryStore(stored),
      authorize({ scopes }) {
        const access_token = `a${requested.push(scopes) + 1}`;
        const token = { ...SESSION.token, access_token };
        return Promise.resolve({ ...SESSION, scopes, token });
      },
    },
  );
  return { api, requested };
}

Deno.test("createAuthorizedFetch() adds no scopes of the metadata to those of a challenge", async () => {
  let documents = 0;
  const supported = () =>
    Array.from({ length: 60 }, (_, n) => `m${documents}-${n}`);
  const { api, requested } = listing(supported, ({ url }) => {
    if (url !== MCP) return undefined;
    const { headers } = insufficientScope(`s${documents++}`);
    headers.append(
      "WWW-Authenticate",
      `Bearer resource_metadata="${PRM}/mcp"`,
    );
    return new Response("no", { status: 403, headers });
  }, SESSION);
  assertEquals(await (await api(MCP)).text(), "no");
  assertEquals(requested.map(({ length }) => length), [2, 3, 4]);
});

Deno.test("createAuthorizedFetch() requests all scopes of the metadata in the first sign-in", async () => {
  const scopes = Array.from({ length: 150 }, (_, n) => `s${n}`);
  const { api, requested } = listing(
    () => scopes,
    ({ url, headers }) =>
      url === MCP && !headers.has("Authorization")
        ? new Response(null, { status: 401 })
        : undefined,
  );
  assertEquals((await api(MCP)).status, 200);
  assertEquals(requested, [scopes]);
});

Deno.test("createAuthorizedFetch() returns the 403 after a step-up whose token lacks a required scope", async () => {
  for (
    const [granted, renewals] of [["read", 1], ["", 1], ["read s1", 3]] as const
  ) {
    let count = 0;
    const { api } = create(() => insufficientScope(`s${count + 1}`), {
      store: memoryStore(SESSION),
      authorize: ({ scopes }) => {
        const token = {
          access_token: `a${++count + 1}`,
          token_type: "Bearer",
          scope: count === 1 ? granted : scopes.join(" "),
        };
        return Promise.resolve({ ...SESSION, token, scopes });
      },
    });
    const response = await api(MCP);
    assertEquals([response.status, await response.text()], [403, "no"]);
    assertEquals(count, renewals);
  }
});

Deno.test("createAuthorizedFetch() looks up the global fetch at each call", async () => {
  const api = createAuthorizedFetch(MCP, {
    authorize: () => Promise.resolve(SESSION),
    store: memoryStore(SESSION),
  });
  const { fetch } = globalThis;
  globalThis.fetch = () => Promise.resolve(new Response("stub"));
  try {
    assertEquals(await (await api(MCP)).text(), "stub");
    assertEquals(await (await api("https://x.example")).text(), "stub");
  } finally {
    globalThis.fetch = fetch;
  }
});

Deno.test("createAuthorizedFetch() tries the next server of a list that a named client belongs to, if there is one", async () => {
  const [second, third] = ["https://second.example", "https://third.example"];
  const named = (issuer: string) => ({ issuer, client_id: "c1" });
  const up = (issuer: string) => ({ ...DOCUMENTS[OAUTH] as object, issuer });
  const rows: [Partial<ICodeFlowOptions>, string | undefined][] = [
    [{}, second],
    [{ client: named(third) }, third],
    [{ client: publicClient("c1") }, second],
    [{ knownClients: [named(OTHER), named(third)] }, third],
    [{ knownClients: [named(OTHER)] }, second],
    // It belongs to the first, which does not respond.
    [{ client: named(AS) }, undefined],
    [{ knownClients: [named(AS), named(second)] }, second],
  ];
  for (const [options, expected] of rows) {
    const issuers: string[] = [];
    const { api } = resourceFetch(({ url }) => {
      const { origin } = new URL(url);
      return url === MCP
        ? new Response(null, { status: 401 })
        : origin === AS
        ? new Response(null, { status: 503 })
        : origin === API
        ? Response.json({
          resource: MCP,
          authorization_servers: [AS, second, third],
        })
        : Response.json(up(origin));
    }, {
      store: memoryStore(),
      authorize: codeFlow({
        ...options,
        visit: () => Promise.reject(new Error("No user")),
        redirectUri({ issuer }) {
          issuers.push(issuer);
          throw new Error("No receiver");
        },
      }),
    });
    await assertRejects(() => api(MCP));
    assertEquals(issuers, expected ? [expected] : [], JSON.stringify(options));
  }
});

Deno.test("createAuthorizedFetch() refuses arguments of the wrong type", () => {
  const authorize = () => Promise.resolve(SESSION);
  for (
    const [resource, options] of [
      ["mcp", { authorize }],
      [MCP, undefined],
      [MCP, { authorize: {} }],
      [MCP, { authorize, onEvent: {} }],
      [MCP, { authorize, bearer: "refresh_token" }],
      [MCP, { authorize, skewSeconds: -1 }],
      [MCP, { authorize, alsoFor: MCP }],
      [MCP, { authorize, alsoFor: ["/other"] }],
      [MCP, { authorize, store: "session.json" }],
      [MCP, { authorize, store: { load: authorize } }],
      [MCP, { authorize, store: null }],
      [MCP, { authorize, fetch: {} }],
      [MCP, { authorize, allowUrl: true }],
      [MCP, { authorize, now: 1 }],
      [MCP, { authorize, dpop: true }],
      [MCP, { authorize, dpop: {} }],
      [MCP, { authorize, dpop: null }],
      [MCP, { authorize, userAgent: 1 }],
      [MCP, { authorize, serverMetadata: "https://as.example" }],
      [MCP, { authorize, trustedIssuers: ["https://as.example"] }],
      [MCP, { authorize, trustedResources: [MCP] }],
      [MCP, { authorize, additionalHeaders: new Headers({ "X-A": "b" }) }],
    ] as const
  ) {
    assertThrowsCode(
      () => createAuthorizedFetch(resource, untyped(options)),
      "invalid_argument",
    );
  }
});

Deno.test("createAuthorizedFetch() copies the options of the discovery", async () => {
  const asked: string[] = [];
  const serverMetadata = { ...SESSION.serverMetadata };
  const sameOriginHeaders: Record<string, string> = { "X-Tenant": "a" };
  const options = {
    ...{ serverMetadata, sameOriginHeaders },
    store: memoryStore(),
    authorize(request: IAuthorizeRequest) {
      asked.push(request.context.serverMetadata.token_endpoint ?? "");
      return Promise.resolve(SESSION);
    },
    fetch: () => Promise.resolve(new Response("ok")),
  };
  const api = createAuthorizedFetch(MCP, options);
  serverMetadata.token_endpoint = "https://evil.example/token";
  options.serverMetadata = { ...serverMetadata };
  await api.authorize();
  assertEquals(asked, [SESSION.serverMetadata.token_endpoint]);
});

Deno.test("createAuthorizedFetch() signs in at the server of its client, whatever issuer a stored session has", async () => {
  const token = { ...SESSION.token, expires_at: 1 };
  const store = memoryStore({
    ...SESSION,
    issuer: OTHER,
    serverMetadata: { issuer: OTHER, token_endpoint: `${OTHER}/token` },
    client: { ...SESSION.client, issuer: OTHER },
    token,
  });
  const client = clientSecretPost("c1", "s3cret-of-c1", { issuer: AS });
  const { api, urls } = resourceFetch(
    ({ url }) =>
      url === TOKEN_ENDPOINT
        ? Response.json({ access_token: "a2", expires_in: 60 })
        : undefined,
    { store, authorize: clientCredentialsFlow({ client }) },
  );
  assertEquals((await api(MCP)).status, 200);
  assertEquals((await store.load())!.issuer, AS);
  assert(!urls.some((url) => url.startsWith(OTHER)));
});

Deno.test("createAuthorizedFetch() accepts credentials only if they name their issuer", () => {
  for (
    const client of [
      clientSecretBasic("c", "s3cret"),
      { ...publicClient("c"), method: "private_key_jwt" },
      untyped("secret"),
    ]
  ) {
    assertThrowsCode(
      () => create(undefined, { client }),
      "invalid_argument",
      "client must be",
    );
  }
  const { issuer } = SESSION;
  create(undefined, { client: clientSecretBasic("c", "s3cret", { issuer }) });
  create(undefined, { client: publicClient("c") });
});
