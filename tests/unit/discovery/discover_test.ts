/** A challenge leads to one authorization server, by requests in a fixed order. */

import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  discoverAuthorization,
  type DiscoverAuthorizationOptions,
  getDefaultMetadataForUrl,
  OAuthClientError,
} from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import {
  asm,
  codes,
  discover,
  discovered,
  outcomes,
  prm,
  undiscovered,
} from "../../support/discover.ts";
import { API, AS, MCP, OAUTH, OPENID, PRM } from "../../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  minimal,
  never,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const NAMED = "https://meta.example/doc";
const API_OAUTH = `${API}/.well-known/oauth-authorization-server`;
const API_OPENID = `${API}/.well-known/openid-configuration`;
const CHALLENGE = `Bearer resource_metadata="${NAMED}"`;
const PAGE = "<!doctype html><title>App</title>";
const MISSING = text("Missing", 404);
const API_MISSING = { [API_OAUTH]: MISSING, [API_OPENID]: MISSING };

const listing = (authorization_servers: unknown) => ({
  [`${PRM}/mcp`]: prm({ authorization_servers }),
});

/** Routes of which only the last URL has a document. */
function routes(urls: string[], answer: Answer): Record<string, Answer> {
  return Object.fromEntries(
    urls.map((url, n) => [url, n === urls.length - 1 ? answer : MISSING]),
  );
}

const SERVERS: [issuer: string, urls: string[]][] = [
  [AS, [OAUTH, OPENID]],
  [`${AS}/t`, [
    `${OAUTH}/t`,
    `${OPENID}/t`,
    `${AS}/t/.well-known/openid-configuration`,
  ]],
];
const RESOURCES: [challenge: string | undefined, urls: string[]][] = [
  [undefined, [`${PRM}/mcp`, PRM]],
  [CHALLENGE, [NAMED, `${PRM}/mcp`, PRM]],
  [`Bearer resource_metadata="${PRM}/mcp"`, [`${PRM}/mcp`, PRM]],
  [`Bearer resource_metadata="${PRM}"`, [PRM, `${PRM}/mcp`]],
];

for (const [issuer, serverUrls] of SERVERS) {
  for (const [challenge, resourceUrls] of RESOURCES) {
    Deno.test(`discoverAuthorization() requests in order, with ${challenge} and ${issuer}`, async () => {
      for (let r = 1; r <= resourceUrls.length; r++) {
        for (let s = 1; s <= serverUrls.length; s++) {
          const resource = resourceUrls.slice(0, r);
          const server = serverUrls.slice(0, s);
          const found = await discovered({
            ...routes(resource, prm({ authorization_servers: [issuer] })),
            ...routes(server, asm(issuer)),
          }, { challenge });
          assertEquals(found.urls, [...resource, ...server]);
          assertEquals(outcomes(found.attempts), [
            ...resource.map((url, n) => n === r - 1 ? [url] : [url, 404]),
            ...server.map((url, n) => n === s - 1 ? [url] : [url, 404]),
          ]);
          assertEquals(found.issuer, issuer);
          assertEquals(found.serverMetadataUrl, server.at(-1));
          assertEquals(found.serverMetadata.token_endpoint, `${issuer}/token`);
          assertEquals(found.resourceMetadata?.resource, MCP);
          assertEquals(found.source, "resource_metadata");
          assertEquals(found.resource, MCP);
        }
      }
    });
  }
}

Deno.test("discoverAuthorization() keeps its target when the caller changes the URL", async () => {
  const target = new URL(MCP);
  const change = () => {
    target.href = "https://other.example/";
    return json({ resource: MCP, authorization_servers: [AS] });
  };
  const { resource } = await discovered(
    { [`${PRM}/mcp`]: (request) => change()(request), [OAUTH]: asm() },
    {},
    target,
  );
  assertEquals(resource, MCP);
});

Deno.test("discoverAuthorization() accepts a URL, and requests one document for a target without path", async () => {
  for (const target of [API, `${API}/`, new URL(API)]) {
    const { resource, urls } = await discovered(
      { [PRM]: prm({ resource: String(target) }), [OAUTH]: asm() },
      {},
      target,
    );
    assertEquals(urls, [PRM, OAUTH]);
    assertEquals(resource, String(target));
  }
});

Deno.test("discoverAuthorization() sends the headers of the resource and of the server apart", async () => {
  const { requests } = await discover({
    [NAMED]: MISSING,
    [`${PRM}/mcp`]: prm(),
    [OAUTH]: asm(),
  }, {
    challenge: CHALLENGE,
    resourceMetadataHeaders: { "X-Resource": "1" },
    serverMetadataHeaders: { "X-Server": "2", Accept: "text/plain" },
  });
  const Accept = "application/json";
  assertEquals(requests.map(({ url, headers }) => [url, headers]), [
    [NAMED, { Accept }],
    [`${PRM}/mcp`, { Accept, "X-Resource": "1" }],
    [OAUTH, { Accept, "X-Server": "2" }],
  ]);
  for (const { init } of requests) {
    assertEquals([init.method, init.redirect], ["GET", "manual"]);
    assertInstanceOf(init.signal, AbortSignal);
  }
});

Deno.test("discoverAuthorization() fails if the named server has no metadata, and reports each outcome", async () => {
  const cut = new TypeError("Cable cut");
  const openId = `${AS}/t/.well-known/openid-configuration`;
  const { error, code, attempts } = await undiscovered({
    [NAMED]: text("Gone", 410),
    [`${PRM}/mcp`]: prm({ authorization_servers: [`${AS}/t`] }),
    [`${OAUTH}/t`]: MISSING,
    [`${OPENID}/t`]: failing(cut),
    [openId]: text(PAGE, 200),
  }, { challenge: CHALLENGE });
  assertEquals(code, "discovery_failed");
  pinMessage(error);
  assertEquals(outcomes(attempts), [
    [NAMED, 410],
    [`${PRM}/mcp`],
    [`${OAUTH}/t`, 404],
    [`${OPENID}/t`, "network_error"],
    [openId, 200],
  ]);
  assertStrictEquals((attempts[3]?.error as Error).cause, cut);
});

Deno.test("discoverAuthorization() falls back to the target's origin without metadata of the resource", async () => {
  const found = await discovered({
    [`${PRM}/mcp`]: MISSING,
    [PRM]: MISSING,
    [API_OAUTH]: MISSING,
    [API_OPENID]: asm(API),
  });
  assertEquals([found.source, found.issuer], ["fallback", API]);
  assertEquals(found.serverMetadataUrl, API_OPENID);
  assertFalse("resourceMetadata" in found);
  assertEquals(found.resource, MCP);
  for (const authorization_servers of [undefined, null, []]) {
    const routes = { ...listing(authorization_servers), [API_OAUTH]: asm(API) };
    const found = await discovered(routes);
    assertEquals([found.source, found.issuer], ["fallback", API]);
    assertEquals(found.resourceMetadata?.resource, MCP);
  }
});

Deno.test("discoverAuthorization() assumes the endpoints of MCP 2025-03-26 where nothing is published", async () => {
  const urls = [`${PRM}/mcp`, PRM, API_OAUTH, API_OPENID];
  const answers = [400, 401, 403, 404].map((status) => text("No", status));
  // A caller's fetch whose response has no body to read.
  const notJson = () =>
    minimal({ json: () => Promise.reject(new SyntaxError("Not JSON")) });
  for (const answer of [...answers, text(PAGE, 200), json(null), notJson]) {
    const found = await discovered(
      Object.fromEntries(urls.map((url) => [url, answer])),
    );
    assertEquals([found.source, found.issuer], ["fallback", API]);
    assertEquals(found.serverMetadata, {
      ...getDefaultMetadataForUrl(API),
      issuer: API,
      code_challenge_methods_supported: ["S256"],
    });
    assertFalse("serverMetadataUrl" in found);
    assertEquals(found.attempts.map(({ url }) => url), urls);
  }
});

Deno.test("discoverAuthorization() assumes no endpoints where any challenge named metadata", async () => {
  const urls = [NAMED, `${PRM}/mcp`, PRM, API_OAUTH, API_OPENID];
  const { code } = await undiscovered(
    Object.fromEntries(urls.map((url) => [url, MISSING])),
    { challenge: `DPoP algs="ES256", ${CHALLENGE}` },
  );
  assertEquals(code, "discovery_failed");
});

Deno.test("discoverAuthorization() assumes no endpoints where the resource publishes metadata", async () => {
  for (const authorization_servers of [undefined, null, []]) {
    const routes = { ...listing(authorization_servers), ...API_MISSING };
    const { code, urls } = await undiscovered(routes);
    assertEquals(code, "discovery_failed");
    assertEquals(urls, [`${PRM}/mcp`, API_OAUTH, API_OPENID]);
  }
});

// What does not say that nothing is published.
const UNCLEAR: [name: string, Answer][] = [
  ["500", text("Broken", 500)],
  ["408", text("Too slow", 408)],
  ["425", text("Too early", 425)],
  ["429", text("Later", 429)],
  ["a lost connection", failing(new TypeError("Cable cut"))],
  ["a json() that rejects", () => minimal({})],
  ["too large a body", text(" ".repeat(2_000_000), 200)],
  ["a redirect elsewhere", redirect("https://x.example/")],
  ["201", text("Made", 201)],
  ["302 without a Location", text("Moved", 302)],
];
const UNUSABLE: typeof UNCLEAR = [
  ["another issuer", asm("https://other.example")],
  ["an unsafe endpoint", asm(API, { token_endpoint: "http://evil.example/t" })],
  ["no issuer", json({ token_endpoint: `${API}/t` })],
];

for (const [name, answer] of [...UNCLEAR, ...UNUSABLE]) {
  Deno.test(`discoverAuthorization() assumes no endpoints after ${name}`, async () => {
    // One URL that publishes nothing says nothing about the others.
    const places = UNCLEAR.some(([one]) => one === name)
      ? [`${PRM}/mcp`, API_OAUTH, API_OPENID]
      : [API_OAUTH, API_OPENID];
    for (const place of places) {
      const { error, code, attempts } = await undiscovered({
        [`${PRM}/mcp`]: MISSING,
        [PRM]: MISSING,
        ...API_MISSING,
        [place]: answer,
      });
      assertEquals([code, attempts.length], ["discovery_failed", 4]);
      assertStringIncludes(error.message, `${place} (`);
      const [, outcome = ""] = error.message.split(`${API_OPENID} (`);
      if (place === API_OPENID) pinMessage(outcome);
    }
  });
}

Deno.test("discoverAuthorization() tries the first server of a list only, and says what selects another", async () => {
  const second = "https://second.example";
  const hint = "set authorizationServer";
  const broken = text("Broken", 502);
  const lost = failing(new TypeError("Cable cut"));
  const rows: [string[], Answer, hasHint: boolean][] = [
    [[AS, second], broken, true],
    [[AS, second], lost, true],
    [[AS, second], () => never(), false],
    // Nothing suggests that the server is down.
    [[AS, second], MISSING, false],
    [[AS], broken, false],
  ];
  await eachRowInTurn(
    rows,
    async ([authorization_servers, answer, hasHint]) => {
      const { result, urls } = await discover({
        ...listing(authorization_servers),
        [OAUTH]: answer,
        [OPENID]: answer,
        [`${second}/.well-known/oauth-authorization-server`]: asm(second),
      }, { timeoutMs: 20 });
      const { code, message } = result as OAuthClientError;
      const isLate = code === "timeout";
      assertEquals(
        urls,
        [`${PRM}/mcp`, OAUTH, OPENID].slice(0, isLate ? 2 : 3),
      );
      assert(isLate || code === "discovery_failed", code);
      assertEquals(message.includes(hint), hasHint, message);
    },
  );
});

Deno.test("discoverAuthorization() uses authorizationServer in place of the resource's metadata", async () => {
  for (const authorizationServer of [AS, new URL(`${AS}/`)]) {
    const { urls, attempts: _, ...found } = await discovered(
      { [OAUTH]: asm() },
      { authorizationServer, challenge: `${CHALLENGE}, scope="read"` },
    );
    assertEquals(urls, [OAUTH]);
    assertEquals([found.source, found.resource], ["option", MCP]);
    assertEquals(found.scopes, ["read"]);
  }
  // Nothing is assumed of a server that was named.
  const { code } = await undiscovered(
    { [OAUTH]: MISSING, [OPENID]: MISSING },
    { authorizationServer: AS },
  );
  assertEquals(code, "discovery_failed");
});

Deno.test("discoverAuthorization() ignores a missing challenge and other schemes", async () => {
  const challenges: DiscoverAuthorizationOptions["challenge"][] = [
    undefined,
    "",
    `Basic resource_metadata="${NAMED}"`,
    new Headers(),
    // A browser hides the header field without Access-Control-Expose-Headers.
    { headers: { get: () => null } },
  ];
  for (const challenge of challenges) {
    const found = await discovered(
      { [`${PRM}/mcp`]: prm(), [OAUTH]: asm() },
      { challenge },
    );
    assertFalse("challenge" in found);
  }
});

// Every Bearer or DPoP challenge of a response counts (RFC 9110, section 11.6.1).
for (
  const [challenge, scheme, scopes] of [
    [`DPoP algs="ES256", ${CHALLENGE}`, "Bearer"],
    [
      `Bearer scope="a", DPoP resource_metadata="${NAMED}", scope="b"`,
      ...["DPoP", "b"],
    ],
    [`Basic realm="x", ${CHALLENGE}, DPoP resource_metadata="x"`, "Bearer"],
    ['DPoP algs="ES256", scope="a", Bearer scope="b"', "DPoP", "a"],
  ]
) {
  Deno.test(`discoverAuthorization() uses the challenge of ${scheme} in ${challenge}`, async () => {
    const url = challenge!.includes(NAMED) ? NAMED : `${PRM}/mcp`;
    const found = await discovered({ [url]: prm(), [OAUTH]: asm() }, {
      challenge,
    });
    assertEquals([found.challenge?.scheme, found.scopes?.join()], [
      scheme,
      scopes,
    ]);
  });
}

Deno.test("discoverAuthorization() requests the scopes of the challenge, else of the resource", async () => {
  const rows: [
    challenge: string,
    supported: unknown,
    offline: boolean | undefined,
    scopes: string[] | undefined,
  ][] = [
    ['Bearer scope="read write"', ["all"], undefined, ["read", "write"]],
    ['Bearer scope=""', ["all"], undefined, ["all"]],
    ["Bearer", ["read", "write"], false, ["read", "write"]],
    ["Bearer", ["read"], true, ["read", "offline_access"]],
    ["Bearer", [], undefined, undefined],
    ["Bearer", null, undefined, undefined],
    ["Bearer", "read", undefined, undefined],
    ["Bearer", {}, undefined, undefined],
    ["Bearer", [1, {}], undefined, undefined],
    ["Bearer", ["read", 1], undefined, ["read"]],
  ];
  await eachRowInTurn(
    rows,
    async ([challenge, scopes_supported, offlineAccess, scopes]) => {
      const found = await discovered({
        [`${PRM}/mcp`]: prm({ scopes_supported }),
        [OAUTH]: asm(AS, { scopes_supported: ["offline_access", "all"] }),
      }, { challenge, offlineAccess });
      assertEquals(found.scopes, scopes);
      assertEquals("scopes" in found, scopes !== undefined);
    },
  );
});

Deno.test("discoverAuthorization() ends with the reason of an abort that looks like a failed attempt", async () => {
  const controller = new AbortController();
  const reason = new OAuthClientError("network_error", "Enough");
  const { result, urls } = await discover({
    [`${PRM}/mcp`]: () => {
      controller.abort(reason);
      return Promise.reject(reason);
    },
  }, { signal: controller.signal });
  assertStrictEquals(result, reason);
  assertEquals(urls, [`${PRM}/mcp`]);
});

testInvalidArguments(discoverAuthorization, [
  ...[undefined, 7, "", "api.example", "/mcp", "ftp://api.example/mcp"]
    .map((target): [string, unknown] => ["targetResource", target]),
  ["targetResource", "https://:s3cret@api.example/mcp"],
  ["options", MCP, "x"],
  ["authorizationServer", MCP, { authorizationServer: "as.example" }],
  ["headers", MCP, { resourceMetadataHeaders: new Headers() }],
  // A known server beside a named one, or without issuer.
  ["authorizationServer", MCP, {
    serverMetadata: { issuer: AS },
    authorizationServer: AS,
  }],
  ["serverMetadata.issuer", MCP, { serverMetadata: { issuer: "" } }],
  ["serverMetadata.issuer", MCP, { serverMetadata: {} }],
]);

Deno.test("discoverAuthorization() drops members that are null, and URLs that are not http or https", async () => {
  const resource = {
    resource: MCP,
    authorization_servers: [AS],
    resource_documentation: "https://api.example/docs",
    x_more: { deep: null },
  };
  const server = {
    issuer: AS,
    token_endpoint: `${AS}/token`,
    jwks_uri: "http://as.example/jwks",
    introspection_endpoint: `${AS}/introspect`,
    registration_endpoint: "",
    x_more: [1],
  };
  const found = await discovered({
    [`${PRM}/mcp`]: json({
      ...resource,
      scopes_supported: null,
      resource_policy_uri: "javascript:alert(1)",
    }),
    [OAUTH]: json({
      ...server,
      code_challenge_methods_supported: null,
      op_policy_uri: "javascript:alert(1)",
      op_tos_uri: "data:text/html,x",
      service_documentation: " javascript:alert(1)",
      userinfo_endpoint: "nowhere",
    }),
  });
  const { registration_endpoint: _, ...kept } = server;
  assertEquals(found.resourceMetadata, resource);
  assertEquals(found.serverMetadata, untyped(kept));
});

Deno.test("discoverAuthorization() returns no control or bidi characters to show", async () => {
  const { resourceMetadata, serverMetadata } = await discovered({
    [`${PRM}/mcp`]: prm({
      resource_name: "Bank\u001b[2J\u202e",
      resource_documentation: "https://x.example/\u001b]0;pwn\u0007",
      resource_policy_uri: ["javascript:alert(1)"],
    }),
    [OAUTH]: asm(AS, {
      x_name: "A\u0085\u2066\n Bank",
      op_tos_uri: 7,
      service_documentation: "https://x.example/\u202ecod",
      userinfo_endpoint: ["https://x.example/"],
    }),
  });
  assertEquals(resourceMetadata, {
    resource: `${API}/mcp`,
    resource_name: "Bank[2J",
    authorization_servers: [AS],
  });
  const kept: Record<string, unknown> = { ...serverMetadata };
  assertEquals(kept, {
    issuer: AS,
    token_endpoint: `${AS}/token`,
    x_name: "A  Bank",
  });
});

Deno.test("discoverAuthorization() continues after metadata whose resource is no string", async () => {
  for (const resource of [undefined, null, "", 0, [MCP], {}]) {
    const { attempts } = await discovered({
      // The server that it lists is not requested.
      [`${PRM}/mcp`]: prm({ resource, authorization_servers: [API] }),
      [PRM]: prm({ resource: API }),
      [OAUTH]: asm(),
    });
    assertEquals(codes(attempts), ["invalid_metadata", undefined, undefined]);
    const { cause } = attempts[0]!.error as { cause?: Error };
    assertInstanceOf(cause, Error);
    pinMessage(cause);
  }
});

Deno.test("discoverAuthorization() accepts a server as a string, and no other list", async () => {
  const found = await discovered({
    [`${PRM}/mcp`]: prm({ authorization_servers: AS }),
    [OAUTH]: asm(),
  });
  assertEquals([found.issuer, found.source], [AS, "resource_metadata"]);
  for (const wrong of [{ 0: AS }, {}, 0, 7, true, [7], [null], [AS, null]]) {
    const { error, code, urls } = await undiscovered(listing(wrong));
    assertEquals(code, "discovery_failed");
    pinMessage(error);
    assertEquals(urls, [`${PRM}/mcp`]);
  }
});

Deno.test("discoverAuthorization() requests nothing for a server that the caller knows", async () => {
  using server = stubFetch({});
  const { fetch } = server;
  const serverMetadata = {
    issuer: AS,
    authorization_endpoint: `${AS}/authorize`,
    token_endpoint: `${AS}/token`,
  };
  const challenge =
    'Bearer scope="read", resource_metadata="https://evil.example/"';
  const options = { serverMetadata, challenge, fetch };
  const context = await discoverAuthorization(MCP, options);
  assertEquals(server.requests.length, 0);
  assertEquals([context.issuer, context.source], [AS, "option"]);
  assertEquals(context.scopes, ["read"]);
  // PKCE is assumed, as a manual rarely says so.
  assertEquals(context.serverMetadata, {
    ...serverMetadata,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  });
  const methods = { code_challenge_methods_supported: ["plain"] };
  const plain = await discoverAuthorization(MCP, {
    serverMetadata: { ...serverMetadata, ...methods },
    fetch,
  });
  const { code_challenge_methods_supported } = plain.serverMetadata;
  assertEquals(code_challenge_methods_supported, ["plain"]);
});

Deno.test("discoverAuthorization() says once why all attempts failed, and lists them", async () => {
  const notFound = (host: string) => {
    const unknown = new Error(`getaddrinfo ENOTFOUND ${host}`);
    const cause = Object.assign(unknown, { code: "ENOTFOUND" });
    return failing(new TypeError("fetch failed", { cause }));
  };
  const cut = failing(new TypeError("Cable cut"));
  const { host } = new URL(AS);
  const of = (answer: Answer) => ({ [OAUTH]: answer, [OPENID]: answer });
  const ofApi = { [API_OAUTH]: notFound("x"), [API_OPENID]: notFound("x") };
  const known = { [`${PRM}/mcp`]: prm() };
  const rows: Record<string, Answer>[] = [
    { ...known, ...of(notFound(host)) },
    { ...known, ...of(cut) },
    { [`${PRM}/mcp`]: MISSING, [PRM]: MISSING, ...ofApi },
    { ...known, [OAUTH]: MISSING, [OPENID]: notFound(host) },
  ];
  await eachRowInTurn(rows, async (routes) => {
    const { error, attempts } = await undiscovered(routes);
    assert(pinMessage(error).message.length < 400, error.message);
    // Each URL has its own error.
    assert(attempts.filter(({ error }) => error).length >= 2);
  });
});
