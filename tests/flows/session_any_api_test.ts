/** Options of the authorized fetch for APIs that publish no metadata. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  deviceFlow,
  type IAuthorizeRequest,
  type ISession,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
  MCP,
  OAUTH,
  PRM,
  unverifiedJwt,
} from "../support/fixtures.ts";
import {
  type IReceived,
  redirection,
  resourceFetch,
  type Respond,
  SESSION,
} from "../support/resource.ts";

const TOKEN = `${AS}/token`;
const FILES = "https://files.example/v1";
const NOW = 1_700_000_000_000;
const BEARER = `Bearer ${SESSION.token.access_token}`;

const authorizations = (received: readonly IReceived[]) =>
  received.map(({ headers }) => headers.get("Authorization"));

/** Returns the session, and records what was requested. */
function signingIn(...sessions: ISession[]) {
  const requests: IAuthorizeRequest[] = [];
  const authorize = (request: IAuthorizeRequest) => {
    requests.push(request);
    return Promise.resolve(sessions.shift() ?? SESSION);
  };
  return { requests, authorize };
}

Deno.test("createAuthorizedFetch() with serverMetadata uses no session of another issuer", async () => {
  const { authorize } = signingIn({ ...SESSION, issuer: "https://b.example" });
  const { api, received } = resourceFetch(undefined, {
    authorize,
    serverMetadata: { issuer: "https://b.example", token_endpoint: TOKEN },
    store: memoryStore(SESSION),
  });
  await api(MCP);
  assertEquals(authorizations(received), [null]);
  await assertRejectsCode(() => api.save(SESSION), "issuer_mismatch");
  assertEquals((await api.authorize()).issuer, "https://b.example");
});

Deno.test("createAuthorizedFetch() checks the endpoints of serverMetadata before a user is asked", () => {
  for (
    const [members, code] of [
      [{}, "unsupported"],
      [{ token_endpoint: "as.example/token" }, "url_refused"],
      [{ token_endpoint: "http://as.example/token" }, "url_refused"],
      [
        { token_endpoint: TOKEN, authorization_endpoint: "/authorize" },
        "url_refused",
      ],
      [{ token_endpoint: TOKEN, issuer: "" }, "invalid_argument"],
    ] as const
  ) {
    const serverMetadata = { issuer: AS, ...members };
    assertThrowsCode(() => resourceFetch(undefined, { serverMetadata }), code);
  }
});

Deno.test("createAuthorizedFetch() refreshes with the client of its flow, whose secret may have been replaced", async () => {
  const client = { ...SESSION.client, client_secret: "new" };
  const post = { token_endpoint_auth_method: "client_secret_post" };
  const authorize = deviceFlow({
    client: { ...client, ...post },
    show: () => Promise.reject(new Error("A user is asked")),
  });
  const kept = { ...client, ...post, client_secret: "old" };
  const token = { ...SESSION.token, expires_at: 1 };
  const { api, received } = resourceFetch(
    ({ url }) =>
      url === TOKEN ? Response.json({ access_token: "t2" }) : undefined,
    { authorize, store: memoryStore({ ...SESSION, client: kept, token }) },
  );
  assertEquals((await api(MCP)).status, 200);
  const form = new URLSearchParams(received[0]!.body);
  assertEquals(form.get("client_secret"), "new");
});

Deno.test("createAuthorizedFetch() sends the token to the URLs of alsoFor, and below them", async () => {
  const { api, received } = resourceFetch(undefined, {
    alsoFor: [FILES, new URL("https://api.example/v2")],
  });
  const expected: [url: string, isCovered: boolean][] = [
    [MCP, true],
    [FILES, true],
    [`${FILES}/a`, true],
    ["https://files.example/v10", false],
    [`${FILES}/..%2fv2`, false],
    ["https://files.example/", false],
    ["http://files.example/v1", false],
    ["https://api.example/v2/x", true],
    ["https://api.example/v3", false],
  ];
  for (const [url] of expected) await api(url);
  assertEquals(
    authorizations(received),
    expected.map(([, isCovered]) => isCovered ? BEARER : null),
  );
});

Deno.test("createAuthorizedFetch() keeps the token in redirects among its URLs, until one leads out", async () => {
  // Another origin has no header fields of the caller either.
  const exits: [exit: string, isOtherOrigin: boolean][] = [
    ["https://out.example/", true],
    ["https://api.example/other", true],
    ["https://files.example/v2", false],
    [`${FILES}/..%2fx`, false],
  ];
  for (const [exit, isOtherOrigin] of exits) {
    const hops = [`${MCP}/1`, `${FILES}/2`, exit, `${MCP}/3`];
    const left = [...hops];
    const { api, received } = resourceFetch(() => {
      const next = left.shift();
      return next ? redirection(next) : undefined;
    }, { alsoFor: [FILES] });
    await api(FILES, { headers: { "X-Own": "1" } });
    assertEquals(received.map(({ url }) => url), [FILES, ...hops]);
    const sent = [BEARER, BEARER, BEARER, null, null];
    assertEquals(authorizations(received), sent, exit);
    const own = received.slice(2).map(({ headers }) => headers.get("X-Own"));
    assertEquals(own, ["1", isOtherOrigin ? null : "1", null], exit);
  }
});

Deno.test("createAuthorizedFetch() sends a POST again where a redirect leads to a URL of alsoFor", async () => {
  const { api, received } = resourceFetch(
    ({ url }) => url === MCP ? redirection(`${FILES}/1`) : undefined,
    { alsoFor: [FILES] },
  );
  await api(MCP, { method: "POST", body: "hello" });
  assertEquals(received.map(({ body }) => body), ["hello", "hello"]);
  assertEquals(authorizations(received), [BEARER, BEARER]);
});

Deno.test("createAuthorizedFetch() uses the scope of a challenge of alsoFor, and not its metadata", async () => {
  for (
    const [status, error, sent] of [
      // The request to the token endpoint checks the registration.
      [401, "invalid_token", [TOKEN, FILES]],
      [403, "insufficient_scope", [FILES]],
    ] as const
  ) {
    const { requests, authorize } = signingIn({
      ...SESSION,
      token: { access_token: "t2", token_type: "Bearer" },
    });
    const challenge = `Bearer error="${error}", scope="files", ` +
      'resource_metadata="https://evil.example/doc"';
    const headers = { "WWW-Authenticate": challenge };
    const { refresh_token: _, ...token } = SESSION.token;
    const store = memoryStore({ ...SESSION, token });
    const { api, urls } = resourceFetch(
      (one) =>
        one.url === FILES && one.headers.get("Authorization") !== "Bearer t2"
          ? new Response(null, { status, headers })
          : undefined,
      { authorize, alsoFor: [FILES], store },
    );
    assertEquals((await api(FILES)).status, 200);
    assertEquals(urls, [FILES, MCP, `${PRM}/mcp`, OAUTH, ...sent]);
    assertEquals(requests[0]!.requiredScopes, ["read", "files"]);
  }
});

Deno.test("renew() accepts a response of alsoFor, and no other", async () => {
  const { authorize } = signingIn();
  const { api } = resourceFetch(undefined, { authorize, alsoFor: [FILES] });
  const refused = (url: string) =>
    Object.defineProperty(new Response(null, { status: 401 }), "url", {
      value: url,
    });
  await assertRejectsCode(
    () => api.renew(refused("https://files.example/")),
    "invalid_argument",
  );
  assert(await api.renew(refused(`${FILES}/a`)));
});

Deno.test("createAuthorizedFetch() with tokenRequired obtains a session before the call", async () => {
  const { requests, authorize } = signingIn();
  const options = { authorize, store: memoryStore() };
  const missing: Respond = ({ url, headers }) =>
    url === MCP && !headers.has("Authorization")
      ? new Response(null, { status: 404 })
      : undefined;
  const without = resourceFetch(missing, options);
  assertEquals((await without.api(MCP)).status, 404);
  assertEquals(requests.length, 0);
  const { api } = resourceFetch(missing, { ...options, tokenRequired: true });
  assertEquals((await api(MCP)).status, 200);
  assertEquals((await api(MCP)).status, 200);
  assertEquals(requests.length, 1);
  const nobody = resourceFetch(missing, {
    authorize: undefined,
    store: memoryStore(),
    tokenRequired: true,
  });
  assertEquals((await nobody.api(MCP)).status, 404);
});

Deno.test("createAuthorizedFetch() with bearer id_token sends the ID token until its exp", async () => {
  const exp = NOW / 1000 + 300;
  const claims = { iss: AS, aud: "c1", sub: "u", iat: exp - 300, exp };
  const first = unverifiedJwt(claims);
  const second = unverifiedJwt({ ...claims, iat: exp, exp: exp + 300 });
  const session = {
    ...SESSION,
    token: { ...SESSION.token, expires_at: exp + 86_400, id_token: first },
  };
  const { requests, authorize } = signingIn(session, session);
  let now = NOW;
  let refreshed: string | undefined = second;
  const { api, received } = resourceFetch(
    ({ url, body }) =>
      url === TOKEN && body.includes("refresh_token")
        ? Response.json({ access_token: "a", id_token: refreshed })
        : undefined,
    {
      authorize,
      bearer: "id_token",
      tokenRequired: true,
      now: () => now,
      store: memoryStore(),
    },
  );
  const call = async () => {
    received.length = 0;
    await api(MCP);
    return authorizations(received).at(-1);
  };
  assertEquals(await call(), `Bearer ${first}`);
  assertEquals(requests[0]!.requiresIdToken, true);
  // 30 seconds before its end; the access token is valid for a day.
  now = (exp - 30) * 1000;
  assertEquals(await call(), `Bearer ${second}`);
  // A refresh that returns none is of no use once the ID token has expired.
  refreshed = undefined;
  now = (exp + 271) * 1000;
  assertEquals(await call(), `Bearer ${second}`);
  assertEquals(requests.length, 1);
  now = (exp + 300) * 1000;
  await call();
  assertEquals(requests.length, 2);
});

Deno.test("createAuthorizedFetch() with bearer id_token refuses a session without one, and dpop", async () => {
  const { api } = resourceFetch(undefined, { bearer: "id_token" });
  await assertRejectsCode(() => api.save(SESSION), "invalid_argument");
  // Without exp it is used until it is refused.
  const id_token = "opaque";
  const token = { ...SESSION.token, id_token, expires_at: 1 };
  const opaque = resourceFetch(undefined, {
    bearer: "id_token",
    store: memoryStore({ ...SESSION, token }),
  });
  await opaque.api(MCP);
  assertEquals(authorizations(opaque.received), ["Bearer opaque"]);
});

Deno.test("createAuthorizedFetch() renews a token skewSeconds before its expiry", async () => {
  for (
    const [skewSeconds, left, lifetime, isRenewed] of [
      [undefined, 30, 3600, true],
      [undefined, 31, 3600, false],
      [120, 120, 3600, true],
      [120, 121, 3600, false],
      [0, 1, 3600, false],
      [120, 15, 60, true],
      [120, 16, 60, false],
    ] as const
  ) {
    const token = {
      ...SESSION.token,
      expires_in: lifetime,
      expires_at: NOW / 1000 + left,
    };
    const { api, urls } = resourceFetch(
      ({ url }) =>
        url === TOKEN ? Response.json({ access_token: "t2" }) : undefined,
      {
        skewSeconds,
        now: () => NOW,
        store: memoryStore({ ...SESSION, token }),
      },
    );
    await api(MCP);
    assertEquals(
      urls,
      isRenewed ? [TOKEN, MCP] : [MCP],
      `${skewSeconds} ${left}`,
    );
  }
});

Deno.test("createAuthorizedFetch() sends its userAgent for metadata and to the authorization server", async () => {
  const { authorize } = signingIn();
  const { api, received } = resourceFetch(
    ({ url }) =>
      url === TOKEN
        ? Response.json({ error: "invalid_grant" }, { status: 400 })
        : url === MCP
        ? new Response(null, { status: 401 })
        : undefined,
    { authorize, userAgent: "my-program/1.0" },
  );
  await api(MCP, { headers: { "User-Agent": "own" } });
  const agents = received.map((
    { url, headers },
  ) => [url, headers.get("User-Agent")]);
  assertEquals(agents, [
    [MCP, "own"],
    [TOKEN, "my-program/1.0"],
    [`${PRM}/mcp`, "my-program/1.0"],
    [OAUTH, "my-program/1.0"],
    [TOKEN, "my-program/1.0"],
    [MCP, "own"],
  ]);
});

Deno.test("createAuthorizedFetch() with bearer id_token refreshes an expired one whose iat is later", async () => {
  const expired = unverifiedJwt({ exp: NOW / 1000 - 1, iat: NOW });
  const token = { ...SESSION.token, id_token: expired };
  const { api, urls } = resourceFetch(() => undefined, {
    ...{ authorize: undefined, bearer: "id_token", now: () => NOW },
    store: memoryStore({ ...SESSION, token }),
  });
  await assertRejects(() => api(MCP), OAuthClientError);
  assertEquals(urls, [TOKEN]);
});
