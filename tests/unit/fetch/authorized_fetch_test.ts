/**
 * An authorized fetch sends the token of a session to the URLs that it covers, and to
 * no others.
 */

import { serverOf } from "../../../lib/session/_parties.ts";
import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  clientCredentialsFlow,
  clientSecretBasic,
  clientSecretPost,
  createAuthorizedFetch,
  createDpop,
  type Flow,
  type FlowRequest,
  memoryStore,
  publicClient,
  type Session,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { replaceGlobals } from "../../support/globals.ts";
import {
  API,
  AS,
  assertRejectsCode,
  assertThrowsCode,
  MCP,
  pinRejected,
  pinThrown,
  PRM,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { shown } from "../../support/shown.ts";
import { untyped } from "../../support/stub_fetch.ts";
import {
  type Received,
  redirection,
  resourceFetch,
  type Respond,
  SESSION as RESOURCE_SESSION,
  unauthorizedAt,
} from "../../support/resource.ts";

const SESSION: Session = {
  ...RESOURCE_SESSION,
  token: { access_token: "a1", token_type: "Bearer", refresh_token: "r1" },
};
const OTHER = "https://other.example";

/** A fetch without a session, whose flow signs in at once; `asked` has its requests. */
function create(
  respond?: Respond,
  options: Partial<AuthorizedFetchOptions> = {},
) {
  const asked: FlowRequest[] = [];
  const world = resourceFetch(respond, {
    store: memoryStore(),
    flow(request) {
      asked.push(request);
      return Promise.resolve(SESSION);
    },
    ...options,
  });
  const isCall = ({ url }: Received) => !url.includes("/.well-known/");
  return {
    ...{ ...world, asked },
    /** The `Authorization` of each request that is not one of a discovery. */
    sent: () =>
      world.received.filter(isCall)
        .map(({ headers }) => headers.get("Authorization")),
  };
}

/** `create()` with a session in its store. */
function withSession(
  session: Session = SESSION,
  respond?: Respond,
  options: Partial<AuthorizedFetchOptions> = {},
) {
  return create(respond, { store: memoryStore(session), ...options });
}

/** Responds with 401, unless the request has this token, or any. */
function requiring(token = ""): Respond {
  return ({ url, headers }) =>
    url === TOKEN_ENDPOINT
      ? Response.json({ access_token: "a2" })
      : url === MCP && !headers.get("Authorization")?.includes(` ${token}`)
      ? new Response(null, { status: 401 })
      : undefined;
}

const unauthorized: Respond = ({ url }) =>
  url === MCP ? new Response(null, { status: 401 }) : undefined;

Deno.test("createAuthorizedFetch() uses a stored session of the resource or of a parent", async () => {
  const rows = [
    [MCP, true],
    [`${MCP}/`, true],
    ["https://api.example", true],
    ["https://api.example/mcp/sub", false],
    ["https://api.example/mc", false],
    ["https://other.example/mcp", false],
    ["https://api.example/mcp?tenant=1", false],
    ["http://api.example/mcp", false],
  ] as const;
  await eachRowInTurn(rows, async ([resource, isUsed]) => {
    const { api, sent } = withSession({ ...SESSION, resource });
    await api(MCP);
    assertEquals(sent(), [isUsed ? "Bearer a1" : null], resource);
    assertEquals(
      (await api.session())?.resource,
      isUsed ? resource : undefined,
    );
  });
});

Deno.test("createAuthorizedFetch() sends the token of a resource with a query to this URL only", async () => {
  const resource = `${MCP}?tenant=1`;
  const sent: (string | null)[] = [];
  const api = createAuthorizedFetch(new URL(resource), {
    flow: () => Promise.resolve(SESSION),
    store: memoryStore({ ...SESSION, resource }),
    fetch(_url, init) {
      sent.push(new Headers(init?.headers).get("Authorization"));
      return Promise.resolve(new Response());
    },
  });
  for (const url of [resource, MCP, `${MCP}?tenant=2`]) await api(url);
  assertEquals(sent, ["Bearer a1", null, null]);
});

Deno.test("createAuthorizedFetch() sends DPoP tokens with a proof and never as Bearer", async () => {
  const dpop = await createDpop();
  const bound = { ...SESSION, dpopThumbprint: dpop.thumbprint };
  const rows = [
    [bound, { dpop }, "DPoP a1"],
    [bound, {}, null],
    [SESSION, { dpop }, null],
  ] as const;
  await eachRowInTurn(rows, async ([session, options, expected]) => {
    const { api, sent } = withSession(session, undefined, options);
    await api(MCP);
    assertEquals(sent(), [expected]);
    assertEquals(await api.session() !== undefined, expected !== null);
  });
});

Deno.test("createAuthorizedFetch() passes what the caller gave to fetch", async () => {
  const given: RequestInit[] = [];
  const { api } = withSession(SESSION, undefined, {
    fetch(_url, init = {}) {
      given.push(init);
      return Promise.resolve(new Response());
    },
  });
  const { signal } = new AbortController();
  const rest = {
    ...{ method: "patch", body: "b", signal },
    ...{ cache: "no-store", keepalive: true } as RequestInit,
  };
  await api(MCP, { ...rest, headers: [["X-Test", "1"]] });
  const [{ headers, ...init } = {}] = given;
  assertEquals(init, { ...rest, redirect: "manual" });
  assertEquals([...new Headers(headers)], [
    ["authorization", "Bearer a1"],
    ["x-test", "1"],
  ]);
  for (const redirect of ["manual", "error"] as const) {
    await api(MCP, { redirect });
    assertEquals(given.at(-1)!.redirect, redirect);
  }
});

Deno.test("createAuthorizedFetch() resolves relative URLs against location", async () => {
  const given: unknown[] = [];
  const { api } = withSession(SESSION, undefined, {
    fetch(url, init) {
      given.push([url, new Headers(init?.headers).get("Authorization")]);
      return Promise.resolve(new Response());
    },
  });
  const location = { href: "https://api.example/page" };
  using _location = replaceGlobals({ location });
  await api("/mcp/a");
  await api("other");
  assertEquals(given, [
    ["https://api.example/mcp/a", "Bearer a1"],
    ["other", null],
  ]);
});

Deno.test("createAuthorizedFetch() refuses a redirect that the runtime hides", async () => {
  const { api, urls } = withSession(SESSION, () => {
    const response = Response.error();
    Object.defineProperty(response, "type", { value: "opaqueredirect" });
    return response;
  });
  await assertRejectsCode(() => api(MCP), "redirect_refused");
  assertEquals(urls.length, 1);
  const response = await api(MCP, { redirect: "manual" });
  assertEquals(response.type, "opaqueredirect");
});

Deno.test("createAuthorizedFetch() gives authorize what it needs", async () => {
  const options = { timeoutMs: 5000, allowUrl: () => true, allowHttp: true };
  const { api, asked } = create(requiring(), options);
  await api(MCP);
  const { context, signal, fetch, ...rest } = asked[0]!;
  assertEquals(context.resource, MCP);
  assertEquals([signal?.aborted, typeof fetch], [false, "function"]);
  assertEquals([rest.scopes, rest.session], [[], undefined]);
  assertEquals(rest.requiredScopes, undefined);
  assertEquals([rest.timeoutMs, rest.allowHttp], [5000, true]);
});

Deno.test("createAuthorizedFetch() gives authorize no session of another issuer", async () => {
  const token = { access_token: "a0", token_type: "Bearer" };
  const foreign = { ...SESSION, issuer: OTHER, token, scopes: ["foreign"] };
  const { api, asked } = withSession(foreign, requiring("a1"));
  assertEquals((await api(MCP)).status, 200);
  assertEquals([asked[0]!.session, asked[0]!.scopes], [undefined, []]);
});

for (
  const [what, error, count, isStream] of [
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
    const refuse = () => new Response("no", { status: 401, headers });
    const { api, urls, asked } = withSession(bound, refuse, { dpop });
    const body = new Blob(["once"]).stream();
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const response = await api(MCP, isStream ? init : {});
    assertEquals(await response.text(), "no");
    assertEquals([urls.length, asked.length], [count, 0]);
  });
}

Deno.test("createAuthorizedFetch().signIn() makes sure that there is a session", async () => {
  const { api, asked, sent } = create();
  assertEquals(await api.session(), undefined);
  assertEquals(await api.signIn(), SESSION);
  assertEquals(await api.signIn(), SESSION);
  assertEquals(await api.session(), SESSION);
  // One request for the challenge, without a token.
  assertEquals([asked.length, sent()], [1, [null]]);
});

Deno.test("createAuthorizedFetch().signIn() returns a new session with the token that was refused", async () => {
  const { api, asked } = create(unauthorized);
  assertEquals((await api(MCP)).status, 401);
  assertEquals(await api.signIn(), SESSION);
  assertEquals(asked.length, 2);
});

Deno.test("createAuthorizedFetch() keeps a client whose credentials only its flow has", async () => {
  const method = "private_key_jwt" as const;
  const client = { ...SESSION.client!, token_endpoint_auth_method: method };
  const { refresh_token: _, ...token } = SESSION.token;
  const session = { ...SESSION, client, token };
  const { api, asked } = withSession(session, unauthorized);
  await api(MCP);
  assertEquals(asked.map(({ session }) => session?.client), [client]);
});

/** `fetch` throws for it, and quotes it. */
const UNUSABLE = { ...SESSION.token, access_token: "s3cret\ns3cret" };

Deno.test("createAuthorizedFetch() refreshes a stored token that no header field can hold", async () => {
  const session = { ...SESSION, token: UNUSABLE };
  const { api, sent } = withSession(session, requiring());
  assertEquals((await api(MCP)).status, 200);
  assertEquals(sent(), [null, null, "Bearer a2"]);
});

Deno.test("createAuthorizedFetch() uses a session whose refresh token is null as one without", async () => {
  const token = { ...SESSION.token, refresh_token: untyped(null) };
  const options = { onEvent() {} };
  const { api, sent } = withSession({ ...SESSION, token }, undefined, options);
  assertEquals((await api(MCP)).status, 200);
  assertEquals(sent(), ["Bearer a1"]);
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
    const { api, sent } = create(undefined, { flow: authorize });
    const error = await assertRejectsCode(() => api.signIn(), code);
    assert(!shown(error).includes("s3cret"), error.message);
    assertEquals(await api.session(), undefined);
    assertEquals(sent(), [null]);
    const saved = await api.save(session).then(() => true, (error) => error);
    assertEquals(isSaved ? saved : saved.code, isSaved ?? code);
    assert(!shown(saved).includes("s3cret"), saved.message);
    assertEquals(await api.session(), isSaved && session);
    const nothing = () => api.save(untyped(undefined));
    await assertRejectsCode(nothing, "invalid_argument");
  });
}

Deno.test("createAuthorizedFetch().revoke() deletes the session before it revokes", async () => {
  const revocation_endpoint = `${AS}/revoke`;
  const serverMetadata = { ...SESSION.server, revocation_endpoint };
  const store = memoryStore({ ...SESSION, server: serverMetadata });
  const kept: unknown[] = [];
  const { api, urls } = create(({ url }) => {
    if (url === revocation_endpoint) store.load().then((one) => kept.push(one));
    return undefined;
  }, { store });
  assertEquals(await api.revoke(), true);
  assertEquals(await api.revoke(), false);
  assertEquals(urls, [revocation_endpoint, revocation_endpoint]);
  assertEquals(kept, [undefined, undefined]);

  // A server without a revocation endpoint.
  await api.save(SESSION);
  assertEquals(await api.revoke(), false);
  assertEquals(await api.session(), undefined);
});

/** A response of another fetch. */
const refusalOf = (url: string) =>
  unauthorizedAt(url, 'resource_metadata="https://evil.example/metadata"');

Deno.test("createAuthorizedFetch().renew() renews after a response of another fetch", async () => {
  const { api, asked } = withSession(SESSION, requiring());
  const { token } = await api.renew(refusalOf(`${MCP}/sub`));
  assertEquals([token.access_token, asked.length], ["a2", 0]);
});

Deno.test("createAuthorizedFetch().renew() uses no challenge of another server", async () => {
  let target = "https://evil.example/file";
  const { api, urls, asked } = create(({ url }) =>
    url.startsWith(MCP) ? redirection(target, 302) : refusalOf(target)
  );
  const redirected = await api(MCP);
  // A redirect that leads back to the resource was selected by the other server.
  Object.defineProperty(redirected, "url", { value: MCP });
  target = "https://api.example/other";
  const responses = [
    redirected,
    await api(MCP),
    refusalOf("https://evil.example/mcp"),
    refusalOf("https://api.example/other"),
    refusalOf(""),
  ];
  urls.length = 0;
  for (const response of responses) {
    await pinRejected(() => api.renew(response), "invalid_argument");
  }
  assertEquals([urls.length, asked.length], [0, 0]);
});

function insufficientScope(scope: string): Response {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  const headers = { "WWW-Authenticate": challenge };
  return new Response("no", { status: 403, headers });
}

/** So many scopes whose names begin like this. */
function scopesOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${name}${n}`);
}

Deno.test("createAuthorizedFetch() returns a 403 that would lead to more than 100 scopes or 4,096 characters", async () => {
  const rows = [
    [scopesOf("s", 99).join(" "), 1],
    [scopesOf("s", 100).join(" "), 0],
    ["x".repeat(4096 - "read ".length), 1],
    ["x".repeat(4097 - "read ".length), 0],
  ] as const;
  await eachRowInTurn(rows, async ([scope, renewals]) => {
    const { api, asked } = withSession(
      SESSION,
      ({ url }) => url === MCP ? insufficientScope(scope) : undefined,
    );
    const response = await api(MCP);
    assertEquals([response.status, await response.text()], [403, "no"]);
    assertEquals(asked.length, renewals);
  });
});

/** A flow whose tokens have the requested scopes, or this scope, and its requests. */
function granting(
  scope: (scopes: string[]) => string | undefined = () => undefined,
) {
  const requested: string[][] = [];
  const authorize: Flow = ({ scopes }) => {
    const access_token = `a${requested.push(scopes) + 1}`;
    const granted = scope(scopes);
    const token = {
      ...{ access_token, token_type: "Bearer" },
      ...(granted !== undefined && { scope: granted }),
    };
    return Promise.resolve({ ...SESSION, token, scopes });
  };
  return { requested, authorize };
}

Deno.test("createAuthorizedFetch() limits the scopes of step-ups at the same time", async () => {
  const { requested, authorize } = granting();
  const { api } = withSession(SESSION, ({ url, headers }) => {
    if (!url.startsWith(MCP)) return undefined;
    const [scope, ...rest] = scopesOf(url.at(-1)!, 60);
    const token = headers.get("Authorization")?.replace("Bearer a", "");
    return requested[Number(token) - 2]?.includes(scope!)
      ? new Response("yes")
      : insufficientScope([scope, ...rest].join(" "));
  }, { flow: authorize });
  const calls = ["a", "b"].map((path) => api(`${MCP}/${path}`));
  const texts = (await Promise.all(calls)).map((one) => one.text());
  assertEquals(await Promise.all(texts), ["yes", "no"]);
  assertEquals((await api.session())!.scopes.length, 61);
  assertEquals(requested.length, 1);
});

Deno.test("createAuthorizedFetch() requests the scopes of a 401 only if they are few enough with those of the session", async () => {
  const [few, many] = [scopesOf("s", 99), scopesOf("s", 100)];
  const long = "x".repeat(4097);
  const rows: [scope: string, stored: boolean, requested: string[]][] = [
    [few.join(" "), true, ["read", ...few]],
    [many.join(" "), true, ["read"]],
    [many.join(" "), false, many],
    [[...many, "more"].join(" "), false, ["listed"]],
    [long, true, ["read"]],
    [long, false, ["listed"]],
  ];
  await eachRowInTurn(rows, async ([scope, isStored, expected]) => {
    const { refresh_token: _, ...token } = SESSION.token;
    const { api, asked } = create(
      ({ url }) =>
        url === `${PRM}/mcp`
          ? listing(["listed"])
          : url === MCP
          ? unauthorizedAt(MCP, `scope="${scope}"`)
          : undefined,
      { store: memoryStore(isStored ? { ...SESSION, token } : undefined) },
    );
    await api(MCP);
    assertEquals(asked.map(({ scopes }) => scopes), [expected]);
  });
});

function listing(scopes_supported: string[]): Response {
  const authorization_servers = [AS];
  return Response.json({
    resource: MCP,
    authorization_servers,
    scopes_supported,
  });
}

Deno.test("createAuthorizedFetch() adds no scopes of the metadata to those of a challenge", async () => {
  let documents = 0;
  const { requested, authorize } = granting();
  const { api } = withSession(SESSION, ({ url }) => {
    if (url === `${PRM}/mcp`) return listing(scopesOf(`m${documents}-`, 60));
    if (url !== MCP) return undefined;
    const named = `Bearer resource_metadata="${PRM}/mcp"`;
    const refusal = insufficientScope(`s${documents++}`);
    refusal.headers.append("WWW-Authenticate", named);
    return refusal;
  }, { flow: authorize });
  assertEquals(await (await api(MCP)).text(), "no");
  assertEquals(requested.map(({ length }) => length), [2, 3, 4]);
});

Deno.test("createAuthorizedFetch() requests all scopes of the metadata in the first sign-in", async () => {
  const scopes = scopesOf("s", 150);
  const { api, asked } = create((received) =>
    received.url === `${PRM}/mcp` ? listing(scopes) : requiring()(received)
  );
  assertEquals((await api(MCP)).status, 200);
  assertEquals(asked.map(({ scopes }) => scopes), [scopes]);
});

Deno.test("createAuthorizedFetch() returns the 403 after a step-up whose token lacks a required scope", async () => {
  await eachRowInTurn(
    [["read", 1], ["", 1], ["read s1", 3]] as const,
    async ([first, renewals]) => {
      const { requested, authorize } = granting((scopes) =>
        requested.length === 1 ? first : scopes.join(" ")
      );
      const { api } = withSession(
        SESSION,
        ({ url }) =>
          url === MCP
            ? insufficientScope(`s${requested.length + 1}`)
            : undefined,
        { flow: authorize },
      );
      const response = await api(MCP);
      assertEquals([response.status, await response.text()], [403, "no"]);
      assertEquals(requested.length, renewals);
    },
  );
});

Deno.test("createAuthorizedFetch() looks up the global fetch at each call", async () => {
  const api = createAuthorizedFetch(MCP, {
    flow: () => Promise.resolve(SESSION),
    store: memoryStore(SESSION),
  });
  const fetch = () => Promise.resolve(new Response("stub"));
  using _fetch = replaceGlobals({ fetch });
  for (const url of [MCP, "https://x.example"]) {
    assertEquals(await (await api(url)).text(), "stub");
  }
});

Deno.test("createAuthorizedFetch() refuses arguments of the wrong type", () => {
  const authorize = () => Promise.resolve(SESSION);
  const rows: [resource: string, options: unknown][] = [
    ["mcp", { flow: authorize }],
    [MCP, undefined],
    ...[
      { flow: {} },
      { onEvent: {} },
      { bearer: "refresh_token" },
      { skewSeconds: -1 },
      { alsoFor: MCP },
      { alsoFor: ["/other"] },
      { store: "session.json" },
      { store: { load: authorize } },
      { store: null },
      { fetch: {} },
      { allowUrl: true },
      { now: 1 },
      { dpop: true },
      { dpop: {} },
      { dpop: null },
      { userAgent: 1 },
      { serverMetadata: "https://as.example" },
      { trustedIssuers: ["https://as.example"] },
      { additionalHeaders: new Headers({ "X-A": "b" }) },
    ].map((wrong): [string, unknown] => [MCP, { flow: authorize, ...wrong }]),
  ];
  for (const [resource, options] of rows) {
    const call = () => createAuthorizedFetch(resource, untyped(options));
    assertThrowsCode(call, "invalid_argument");
  }
});

Deno.test("createAuthorizedFetch() with tokenRequired assumes endpoints only where a challenge says that the API has a server", async () => {
  const rows: [
    challenge: string,
    tokenRequired: boolean,
    isAssumed: boolean,
  ][] = [
    ["Bearer", true, true],
    ['Basic realm="x"', true, false],
    ["", true, false],
    // An MCP server by revision 2025-03-26.
    ["", false, true],
  ];
  await eachRowInTurn(rows, async ([challenge, tokenRequired, isAssumed]) => {
    const { api, asked } = create(({ url, headers }) => {
      const isPublished = url === MCP && headers.has("Authorization");
      return isPublished ? undefined : new Response(null, {
        status: url === MCP ? 401 : 404,
        headers: challenge ? { "WWW-Authenticate": challenge } : {},
      });
    }, {
      tokenRequired,
      flow(request) {
        asked.push(request);
        return Promise.resolve({ ...SESSION, issuer: API });
      },
    });
    if (isAssumed) assertEquals((await api(MCP)).status, 200, challenge);
    else await assertRejectsCode(() => api(MCP), "discovery_failed");
    assertEquals(
      asked.map(({ context }) => context.serverMetadata.authorization_endpoint),
      isAssumed ? [`${API}/authorize`] : [],
    );
  });
});

Deno.test("createAuthorizedFetch() copies the options of the discovery", async () => {
  const asked: unknown[] = [];
  const serverMetadata = { ...serverOf(SESSION) };
  const options = {
    serverMetadata,
    flow({ context }: FlowRequest) {
      asked.push(context.serverMetadata.token_endpoint);
      return Promise.resolve(SESSION);
    },
    fetch: () => Promise.resolve(new Response("ok")),
  };
  const api = createAuthorizedFetch(MCP, options);
  serverMetadata.token_endpoint = "https://evil.example/token";
  options.serverMetadata = { ...serverMetadata };
  await api.signIn();
  assertEquals(asked, [TOKEN_ENDPOINT]);
});

Deno.test("createAuthorizedFetch() signs in at the server of its client, whatever issuer a stored session has", async () => {
  const client = clientSecretPost("c1", "s3cret-of-c1", { issuer: AS });
  const { api, urls } = withSession(
    {
      ...SESSION,
      issuer: OTHER,
      server: { token_endpoint: `${OTHER}/token` },
      token: { ...SESSION.token, expires_at: 1 },
    },
    requiring("a2"),
    { flow: clientCredentialsFlow({ client }) },
  );
  assertEquals((await api(MCP)).status, 200);
  assertEquals((await api.session())!.issuer, AS);
  assert(!urls.some((url) => url.startsWith(OTHER)));
});

Deno.test("createAuthorizedFetch() accepts credentials only if they name their issuer", () => {
  const wrong = [
    clientSecretBasic("c", "s3cret"),
    { ...publicClient("c"), method: "private_key_jwt" },
    untyped("secret"),
  ];
  for (const client of wrong) {
    const call = () => create(undefined, { client });
    pinThrown(call, "invalid_argument");
  }
  const client = clientSecretBasic("c", "s3cret", { issuer: AS });
  create(undefined, { client });
  create(undefined, { client: publicClient("c") });
});
