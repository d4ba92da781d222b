import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  discoverAuthorization,
  getDefaultMetadataForUrl,
  type IDiscoveryAttempt,
  OAuthClientError,
} from "../../../mod.ts";
import { API, AS, MCP, OAUTH, OPENID, PRM } from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  json,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";

const NAMED = "https://meta.example/doc";
const API_OAUTH = `${API}/.well-known/oauth-authorization-server`;
const API_OPENID = `${API}/.well-known/openid-configuration`;
const CHALLENGE = `Bearer resource_metadata="${NAMED}"`;

/** Metadata of the resource. */
function prm(members: Record<string, unknown> = {}): Answer {
  return json({ resource: MCP, authorization_servers: [AS], ...members });
}

/** Metadata of an authorization server. */
function asm(issuer: string, members: Record<string, unknown> = {}): Answer {
  return json({ issuer, token_endpoint: `${issuer}/token`, ...members });
}

/** The addresses with the outcome: a status, a code, or nothing for success. */
function outcomes(attempts: readonly IDiscoveryAttempt[] = []) {
  return attempts.map(({ url, error }) => {
    if (!error) return [url];
    assertInstanceOf(error, OAuthClientError);
    return [url, error.status ?? error.code];
  });
}

/** The addresses up to the one that answers; 404 before it. */
function routes(urls: string[], answer: Answer): Record<string, Answer> {
  const last = urls.length - 1;
  return Object.fromEntries(
    urls.map((url, n) => [url, n === last ? answer : text("Missing", 404)]),
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
    Deno.test(`discoverAuthorization() asks in order, with ${challenge} and ${issuer}`, async () => {
      for (let r = 1; r <= resourceUrls.length; r++) {
        for (let s = 1; s <= serverUrls.length; s++) {
          const resource = resourceUrls.slice(0, r);
          const server = serverUrls.slice(0, s);
          using stubbed = stubFetch({
            ...routes(resource, prm({ authorization_servers: [issuer] })),
            ...routes(server, asm(issuer)),
          });
          const { fetch } = stubbed;
          const found = await discoverAuthorization(MCP, { fetch, challenge });
          assertEquals(stubbed.urls, [...resource, ...server]);
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

Deno.test("discoverAuthorization() asks a target without path for one document", async () => {
  for (const target of [API, `${API}/`]) {
    using stubbed = stubFetch({
      [PRM]: prm({ resource: target }),
      [OAUTH]: asm(AS),
    });
    const found = await discoverAuthorization(target, stubbed);
    assertEquals(stubbed.urls, [PRM, OAUTH]);
    assertEquals(found.resource, target);
  }
});

Deno.test("discoverAuthorization() sends GET and asks for JSON, redirects unfollowed by fetch", async () => {
  using stubbed = stubFetch({ [`${PRM}/mcp`]: prm(), [OAUTH]: asm(AS) });
  await discoverAuthorization(MCP, { fetch: stubbed.fetch });
  assertEquals(stubbed.requests.length, 2);
  for (const { init: { signal, ...init } } of stubbed.requests) {
    assertEquals(init, {
      method: "GET",
      headers: { Accept: "application/json" },
      redirect: "manual",
    });
    assertInstanceOf(signal, AbortSignal);
  }
});

Deno.test("discoverAuthorization() fails when the named server gives no metadata", async () => {
  using stubbed = stubFetch({
    [NAMED]: text("Gone", 410),
    [`${PRM}/mcp`]: prm({ authorization_servers: [`${AS}/t`] }),
    [`${OAUTH}/t`]: text("Missing", 404),
    [`${OPENID}/t`]: failing(new TypeError("Cable cut")),
    [`${AS}/t/.well-known/openid-configuration`]: text("<html>", 200),
  });
  const options = { fetch: stubbed.fetch, challenge: CHALLENGE };
  const error = await assertRejects(
    () => discoverAuthorization(MCP, options),
    OAuthClientError,
  );
  assertEquals(error.code, "discovery_failed");
  for (
    const part of [
      `${AS}/t`,
      MCP,
      `${NAMED} (410)`,
      `${OAUTH}/t (404)`,
      `${OPENID}/t (network_error: Cable cut)`,
      `${AS}/t/.well-known/openid-configuration (invalid_metadata)`,
    ]
  ) {
    assertStringIncludes(error.message, part);
  }
  assertEquals(outcomes(error.attempts), [
    [NAMED, 410],
    [`${PRM}/mcp`],
    [`${OAUTH}/t`, 404],
    [`${OPENID}/t`, "network_error"],
    [`${AS}/t/.well-known/openid-configuration`, 200],
  ]);
});

Deno.test("discoverAuthorization() takes the target's origin for a resource without metadata", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: text("Missing", 404),
    [PRM]: text("Missing", 404),
    [API_OAUTH]: text("Missing", 404),
    [API_OPENID]: asm(API),
  });
  const found = await discoverAuthorization(MCP, stubbed);
  assertEquals(found.source, "fallback");
  assertEquals(found.issuer, API);
  assertEquals(found.serverMetadataUrl, API_OPENID);
  assertEquals(found.serverMetadata.token_endpoint, `${API}/token`);
  assertFalse("resourceMetadata" in found);
  assertEquals(found.resource, MCP);
});

Deno.test("discoverAuthorization() takes the target's origin where the metadata names no server", async () => {
  for (const authorization_servers of [undefined, null, []]) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: prm({ authorization_servers }),
      [API_OAUTH]: asm(API),
    });
    const found = await discoverAuthorization(MCP, stubbed);
    assertEquals(found.source, "fallback");
    assertEquals(found.issuer, API);
    assertEquals(found.resourceMetadata?.resource, MCP);
  }
});

Deno.test("discoverAuthorization() assumes the endpoints of 2025-03-26 where nothing is published", async () => {
  for (const status of [401, 403, 404, 405]) {
    const answer = text("No", status);
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: answer,
      [PRM]: answer,
      [API_OAUTH]: answer,
      [API_OPENID]: answer,
    });
    const found = await discoverAuthorization(MCP, stubbed);
    assertEquals(found.source, "fallback");
    assertEquals(found.issuer, API);
    assertEquals(found.serverMetadata, {
      ...getDefaultMetadataForUrl(new URL(API)),
      issuer: API,
      code_challenge_methods_supported: ["S256"],
    });
    assertEquals(found.serverMetadata.token_endpoint, `${API}/token`);
    assertFalse("serverMetadataUrl" in found);
    assertEquals(
      outcomes(found.attempts),
      [`${PRM}/mcp`, PRM, API_OAUTH, API_OPENID].map((url) => [url, status]),
    );
  }
});

Deno.test("discoverAuthorization() assumes nothing of a server that is down", async () => {
  const rows: [Answer, outcome: unknown][] = [
    [failing(new TypeError("Cable cut")), "network_error"],
    [text("Bad Gateway", 502), 502],
    [text("Unavailable", 503), 503],
  ];
  for (const [answer, outcome] of rows) {
    const urls = [`${PRM}/mcp`, PRM, API_OAUTH, API_OPENID];
    using stubbed = stubFetch(
      Object.fromEntries(urls.map((url) => [url, answer])),
    );
    const error = await assertRejects(
      () => discoverAuthorization(MCP, stubbed),
      OAuthClientError,
    );
    assertEquals(error.code, "discovery_failed");
    assertEquals(outcomes(error.attempts), urls.map((url) => [url, outcome]));
    for (const url of urls) {
      assertStringIncludes(error.message, `${url} (${outcome}`);
    }
  }
});

Deno.test("discoverAuthorization() sends the target's canonical address without metadata", async () => {
  const rows: [target: string, resource: string][] = [
    ["https://API.example", API],
    ["https://api.example/", API],
    ["https://api.example:443/mcp", MCP],
    ["https://api.example/mcp#part", MCP],
    ["https://api.example/mcp/", `${MCP}/`],
    ["https://api.example/Mcp?a=B", `${API}/Mcp?a=B`],
    ["https://api.example:8443/mcp", "https://api.example:8443/mcp"],
  ];
  for (const [target, resource] of rows) {
    const found = await discoverAuthorization(target, {
      fetch: () => Promise.resolve(new Response("Missing", { status: 404 })),
    });
    assertEquals(found.resource, resource);
  }
});

Deno.test("discoverAuthorization() lets the caller choose among the servers", async () => {
  const second = "https://second.example";
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: prm({ authorization_servers: [AS, second] }),
    [`${second}/.well-known/oauth-authorization-server`]: asm(second),
  });
  const offered: string[][] = [];
  const found = await discoverAuthorization(MCP, {
    fetch: stubbed.fetch,
    selectAuthorizationServer(servers) {
      offered.push([...servers]);
      return servers[1]!;
    },
  });
  assertEquals(offered, [[AS, second]]);
  assertEquals(found.issuer, second);
});

Deno.test("discoverAuthorization() lets nobody choose where none is named", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: prm({ authorization_servers: [] }),
    [API_OAUTH]: asm(API),
  });
  let calls = 0;
  const { issuer } = await discoverAuthorization(MCP, {
    fetch: stubbed.fetch,
    selectAuthorizationServer: () => String(calls++),
  });
  assertEquals([issuer, calls], [API, 0]);
});

Deno.test("discoverAuthorization() keeps the resource's headers and the server's apart", async () => {
  using stubbed = stubFetch({
    [NAMED]: text("Missing", 404),
    [`${PRM}/mcp`]: prm(),
    [OAUTH]: asm(AS),
  });
  await discoverAuthorization(MCP, {
    fetch: stubbed.fetch,
    challenge: CHALLENGE,
    sameOriginHeaders: { "X-Resource": "1" },
    additionalHeaders: { "X-Server": "2", Accept: "text/plain" },
  });
  const Accept = "application/json";
  assertEquals(stubbed.requests.map(({ url, headers }) => [url, headers]), [
    [NAMED, { Accept }],
    [`${PRM}/mcp`, { Accept, "X-Resource": "1" }],
    [OAUTH, { Accept, "X-Server": "2" }],
  ]);
});

Deno.test("discoverAuthorization() ends with the reason of an abort", async () => {
  for (const where of [`${PRM}/mcp`, OAUTH]) {
    const { answer, signal, reason } = aborted();
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: prm(),
      [OAUTH]: asm(AS),
      [where]: answer,
    });
    const options = { fetch: stubbed.fetch, signal };
    // The second call finds the signal aborted already.
    for (let call = 0; call < 2; call++) {
      const failure = await assertRejects(() =>
        discoverAuthorization(MCP, options)
      );
      assertStrictEquals(failure, reason);
      assertEquals(stubbed.urls.at(-1), where);
      assertEquals(stubbed.urls.length, where === OAUTH ? 2 : 1);
    }
  }
});

Deno.test("discoverAuthorization() ends when fetch itself aborts the last request", async () => {
  for (const where of [PRM, API_OPENID]) {
    const controller = new AbortController();
    const asked: string[] = [];
    const failure = await assertRejects(() =>
      discoverAuthorization(API, {
        signal: controller.signal,
        fetch(url) {
          asked.push(url);
          if (url === where) controller.abort("enough");
          return Promise.resolve(new Response("", { status: 404 }));
        },
      })
    );
    assertEquals([failure, asked.at(-1)], ["enough", where]);
  }
});

Deno.test("discoverAuthorization() keeps the errors of failed attempts by identity of their cause", async () => {
  const cut = new TypeError("Cable cut");
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: failing(cut),
    [PRM]: prm({ resource: API }),
    [OAUTH]: asm(AS),
  });
  const { attempts } = await discoverAuthorization(MCP, stubbed);
  const error = attempts[0]?.error;
  assertInstanceOf(error, OAuthClientError);
  assert(error.cause === cut);
});
