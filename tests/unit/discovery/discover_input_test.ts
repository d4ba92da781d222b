import {
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertNotMatch,
  assertRejects,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import {
  discoverAuthorization,
  type IDiscoverAuthorizationOptions,
  OAuthClientError,
} from "../../../mod.ts";
import {
  API,
  AS,
  assertInvalidArgument,
  MCP,
  OAUTH,
  PRM,
} from "../../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const NAMED = `${API}/meta?a=b`;

/** Discovers with a challenge; the metadata is where the challenge says. */
async function discoverFrom(
  challenge: IDiscoverAuthorizationOptions["challenge"],
  members: Record<string, unknown> = {},
  metadataUrl = NAMED,
) {
  using stubbed = stubFetch({
    [metadataUrl]: json({
      resource: MCP,
      authorization_servers: [AS],
      ...members,
    }),
    [OAUTH]: json({ issuer: AS, scopes_supported: ["offline_access", "all"] }),
  });
  const { fetch } = stubbed;
  const found = await discoverAuthorization(MCP, { fetch, challenge });
  assertEquals(stubbed.urls, [metadataUrl, OAUTH]);
  return found;
}

const HEADERS = [
  `Bearer resource_metadata="${NAMED}"`,
  `bearer RESOURCE_METADATA = "${NAMED}"`,
  `Bearer resource_metadata=${NAMED}`,
  `Bearer resource_metadata=${NAMED}, scope=read`,
  `DPoP algs="ES256", resource_metadata="${NAMED}"`,
  `Negotiate, Bearer resource_metadata="${NAMED}"`,
  `Negotiate YII=, Basic realm="a, Bearer b", Bearer resource_metadata="${NAMED}"`,
  `Bearer error="invalid_token", error_description="a, b=c", resource_metadata="${NAMED}"`,
  `Bearer resource_metadata="${NAMED}", realm="a", realm="b"`,
];

Deno.test("discoverAuthorization() reads the challenge of a Response, of Headers and of a string", async () => {
  for (const header of HEADERS) {
    const headers = new Headers({ "WWW-Authenticate": header });
    const response = new Response(null, { status: 401, headers });
    for (const challenge of [response, headers, header]) {
      const found = await discoverFrom(challenge);
      assertEquals(found.challenge?.params.resource_metadata, NAMED);
    }
  }
});

Deno.test("discoverAuthorization() takes a missing or other challenge for none", async () => {
  const challenges = [
    undefined,
    "",
    'Basic realm="a"',
    'Basic resource_metadata="https://api.example/basic"',
    new Headers(),
    new Response(null, { status: 401 }),
  ];
  for (const challenge of challenges) {
    const found = await discoverFrom(challenge, {}, `${PRM}/mcp`);
    assertFalse("challenge" in found);
  }
});

Deno.test("discoverAuthorization() records an unsafe address of a challenge and goes on", async () => {
  const addresses = [
    "http://api.example/meta",
    "javascript:alert(1)",
    "data:application/json,{}",
    "file:///etc/passwd",
    "https://u:s3cret@api.example/meta",
    "/meta",
  ];
  for (const address of addresses) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [AS] }),
      [OAUTH]: json({ issuer: AS }),
    });
    const challenge = `Bearer resource_metadata="${address}"`;
    const { fetch } = stubbed;
    const found = await discoverAuthorization(MCP, { fetch, challenge });
    assertEquals(
      found.attempts.map(({ url }) => url),
      [address.replace("u:s3cret@", ""), `${PRM}/mcp`, OAUTH],
    );
    const [attempt] = found.attempts;
    assertInstanceOf(attempt?.error, OAuthClientError);
    assertEquals(attempt.error.code, "url_refused");
    assertNotMatch(attempt.error.message, /s3cret/);
  }
});

Deno.test("discoverAuthorization() asks for the scopes of the challenge, else of the resource", async () => {
  const named = (rest: string) => `Bearer resource_metadata="${NAMED}"${rest}`;
  const rows: [challenge: string, supported: unknown, scopes: unknown][] = [
    [named(', scope="read write"'), ["all"], ["read", "write"]],
    [named(', scope="read  read"'), undefined, ["read"]],
    [named(', scope=""'), ["all"], ["all"]],
    [named(""), ["read", "write"], ["read", "write"]],
    [named(""), [], undefined],
    [named(""), undefined, undefined],
    [named(""), null, undefined],
    // What is no text is no scope, and nobody's argument.
    [named(""), [1], undefined],
    [named(""), [null, {}], undefined],
    [named(""), ["read", 1], ["read"]],
    [named(', scope="read"'), [1], ["read"]],
  ];
  for (const [challenge, scopes_supported, scopes] of rows) {
    const found = await discoverFrom(challenge, { scopes_supported });
    assertEquals(found.scopes, untyped(scopes));
    assertEquals("scopes" in found, scopes !== undefined);
  }
});

Deno.test("discoverAuthorization() asks for offline_access where the server lists it and it is wanted", async () => {
  const rows: [offlineAccess: boolean | undefined, scopes: string[]][] = [
    [true, ["read", "offline_access"]],
    [false, ["read"]],
    [undefined, ["read"]],
  ];
  for (const [offlineAccess, scopes] of rows) {
    for (
      const listed of [
        ["offline_access"],
        ["read"],
        undefined,
        // Neither of these is a list that holds it.
        untyped("no_offline_access"),
        untyped({}),
        untyped([["offline_access"]]),
      ]
    ) {
      using stubbed = stubFetch({
        [`${PRM}/mcp`]: json({
          resource: MCP,
          authorization_servers: [AS],
          scopes_supported: ["read"],
        }),
        [OAUTH]: json({ issuer: AS, scopes_supported: listed }),
      });
      const { fetch } = stubbed;
      const found = await discoverAuthorization(MCP, { fetch, offlineAccess });
      const isListed = Array.isArray(listed) &&
        listed.includes("offline_access");
      assertEquals(found.scopes, isListed ? scopes : ["read"]);
    }
  }
});

Deno.test("discoverAuthorization() refuses an http target unless it is loopback or allowed", async () => {
  const rows: [target: string, allowHttp?: boolean][] = [
    ["http://api.example/mcp"],
    ["http://api.example/mcp", false],
    ["http://127.0.0.1.evil.example/mcp"],
  ];
  const asked = () => Promise.reject(new Error("Asked"));
  using global = stub(globalThis, "fetch", asked);
  for (const [target, allowHttp] of rows) {
    const error = await assertRejects(
      () => discoverAuthorization(target, { allowHttp }),
      OAuthClientError,
    );
    assertEquals(error.code, "url_refused");
  }
  assertSpyCalls(global, 0);
});

Deno.test("discoverAuthorization() takes an http target on loopback, or when allowed", async () => {
  const rows: [origin: string, allowHttp?: boolean][] = [
    ["http://127.0.0.1:8080"],
    ["http://localhost:8080"],
    ["http://[::1]:8080"],
    ["http://api.example", true],
  ];
  for (const [origin, allowHttp] of rows) {
    const url = `${origin}/.well-known/oauth-protected-resource/mcp`;
    using stubbed = stubFetch({
      [url]: json({
        resource: `${origin}/mcp`,
        authorization_servers: [origin],
      }),
      [`${origin}/.well-known/oauth-authorization-server`]: json({
        issuer: origin,
        token_endpoint: `${origin}/token`,
      }),
    });
    const { fetch } = stubbed;
    const options = { fetch, allowHttp };
    const found = await discoverAuthorization(`${origin}/mcp`, options);
    assertEquals(found.issuer, origin);
    assertEquals(found.serverMetadata.token_endpoint, `${origin}/token`);
  }
});

Deno.test("discoverAuthorization() looks the global fetch up at each call", async () => {
  for (const issuer of [AS, `${AS}/`]) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [issuer] }),
      [OAUTH]: json({ issuer }),
    });
    using global = stub(globalThis, "fetch", stubbed.globalFetch);
    assertEquals((await discoverAuthorization(MCP)).issuer, issuer);
    assertSpyCalls(global, 2);
  }
});

Deno.test("discoverAuthorization() names an argument that is of no use", async () => {
  const rows: [args: unknown[], name: string][] = [
    [[], "targetResource"],
    [[null], "targetResource"],
    [[7], "targetResource"],
    [[""], "targetResource"],
    [["api.example"], "targetResource"],
    [["/mcp"], "targetResource"],
    [["ftp://api.example/mcp"], "targetResource"],
    [["https://:s3cret@api.example/mcp"], "targetResource"],
    [[new URL(MCP)], "targetResource"],
    [[MCP, "x"], "options"],
    [[MCP, { fetch: {} }], "options.fetch"],
    [[MCP, { signal: {} }], "options.signal"],
    [[MCP, { trustedIssuers: AS }], "trustedIssuers"],
    [[MCP, { trustedIssuers: [7] }], "trustedIssuers"],
    [[MCP, { additionalHeaders: new Headers() }], "headers"],
  ];
  const answer = json({ resource: MCP, authorization_servers: [AS] });
  for (const [[target, options], name] of rows) {
    using stubbed = stubFetch({ [`${PRM}/mcp`]: answer });
    const given = typeof options === "object"
      ? { fetch: stubbed.fetch, ...options }
      : options ?? { fetch: stubbed.fetch };
    const error = await assertInvalidArgument(
      () => untyped(discoverAuthorization)(target, given),
      name,
    );
    assertNotMatch(error.message, /s3cret/);
  }
});

const NO: Answer = text("Missing", 404);
const API_OAUTH = `${API}/.well-known/oauth-authorization-server`;
const API_OPENID = `${API}/.well-known/openid-configuration`;

const UNUSABLE: [name: string, Answer, part: string][] = [
  [
    "whose metadata is of another issuer",
    json({ issuer: "https://other.example" }),
    "is of the issuer",
  ],
  [
    "whose metadata has an unsafe endpoint",
    json({ issuer: API, token_endpoint: "http://evil.example/t" }),
    "invalid_metadata: The token_endpoint is not used",
  ],
  [
    "whose metadata has no issuer",
    json({ token_endpoint: `${API}/token` }),
    "must have an issuer",
  ],
  ["that answers 503", text("", 503), "503"],
  ["that does not answer", failing(new TypeError("Cable cut")), "Cable cut"],
];

for (const [name, answer, part] of UNUSABLE) {
  Deno.test(`discoverAuthorization() assumes no endpoints of a server ${name}`, async () => {
    // One address that tells of no metadata does not speak for the other.
    for (const [first, second] of [[answer, NO], [NO, answer]]) {
      using stubbed = stubFetch({
        [`${PRM}/mcp`]: NO,
        [PRM]: NO,
        [API_OAUTH]: first!,
        [API_OPENID]: second!,
      });
      const error = await assertRejects(
        () => discoverAuthorization(MCP, stubbed),
        OAuthClientError,
        part,
      );
      assertEquals(error.code, "discovery_failed");
      assertEquals(error.attempts?.length, 4);
    }
  });
}

Deno.test("discoverAuthorization() refuses a resource that is no text", async () => {
  for (const resource of [[MCP], { href: MCP }, 7, true]) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: json({ resource, authorization_servers: [AS] }),
    });
    const error = await assertRejects(
      () => discoverAuthorization(MCP, stubbed),
      OAuthClientError,
      JSON.stringify(resource),
    );
    assertEquals(error.code, "discovery_failed");
    assertEquals(stubbed.urls, [`${PRM}/mcp`]);
  }
});

Deno.test("discoverAuthorization() falls to no other server when the list is of the wrong kind", async () => {
  for (
    const authorization_servers of [{ 0: AS }, {}, 7, true, [7], [AS, null]]
  ) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers }),
    });
    const error = await assertRejects(
      () => discoverAuthorization(MCP, stubbed),
      OAuthClientError,
      "does not list its authorization servers as texts",
    );
    assertEquals(error.code, "discovery_failed");
    assertEquals(stubbed.urls, [`${PRM}/mcp`]);
  }
});

Deno.test("discoverAuthorization() takes a text for a list of one server", async () => {
  const members = { authorization_servers: AS };
  const found = await discoverFrom(undefined, members, `${PRM}/mcp`);
  assertEquals([found.issuer, found.source], [AS, "resource_metadata"]);
});

Deno.test("discoverAuthorization() bears with headers of the caller's fetch that are a plain object", async () => {
  const headers = untyped({ location: "/elsewhere" });
  const broken = { status: 302, headers, statusText: "" };
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [API] }),
    [API_OAUTH]: () => untyped(broken),
    [API_OPENID]: () => untyped(broken),
  });
  const error = await assertRejects(
    () => discoverAuthorization(MCP, stubbed),
    OAuthClientError,
    `${API_OPENID} (302)`,
  );
  assertEquals(error.code, "discovery_failed");
});
