/** What people suffer from on the way to the metadata; the numbers are ROAD.md's. */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  discoverAuthorization,
  fetchAuthorizationServerMetadata,
  fetchResourceMetadata,
  fetchToken,
  findChallenge,
  type IAuthorizationServerMetadata,
  type IDiscoverAuthorizationOptions,
  OAuthClientError,
  parseAuthorizationResponse,
  parseChallenges,
  publicClient,
} from "../../mod.ts";
import { API, AS, MCP, OAUTH, OPENID, PRM } from "../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  never,
  redirect,
  stubFetch,
  text,
} from "../support/stub_fetch.ts";

const PAGE = "<!doctype html><title>Sign in</title>";

/** Discovers with these servers; the result or the error. */
async function discoverAt(
  routes: Record<string, Answer>,
  options: IDiscoverAuthorizationOptions = {},
  target = MCP,
) {
  using stubbed = stubFetch(routes);
  const { fetch } = stubbed;
  const found = await discoverAuthorization(target, { ...options, fetch })
    .catch((error) => error);
  return { found, requests: stubbed.requests, urls: stubbed.urls };
}

const prm = (members: Record<string, unknown> = {}): Answer =>
  json({ resource: MCP, authorization_servers: [AS], ...members });
const asm = (members: Record<string, unknown> = {}): Answer =>
  json({ issuer: AS, token_endpoint: `${AS}/token`, ...members });

Deno.test("discoverAuthorization() concedes the slash of an empty path, and iss is compared with the document's issuer (pain 1)", async () => {
  for (const [named, issuer] of [[AS, `${AS}/`], [`${AS}/`, AS]] as const) {
    const { found } = await discoverAt({
      [`${PRM}/mcp`]: prm({ authorization_servers: [named] }),
      [OAUTH]: asm({ issuer }),
    });
    assertEquals(found.issuer, issuer);
    const { serverMetadata } = found;
    const answer = (iss: string) =>
      parseAuthorizationResponse(
        `http://127.0.0.1/?${new URLSearchParams({
          code: "c",
          state: "s",
          iss,
        })}`,
        { state: "s", serverMetadata },
      );
    assertEquals(answer(issuer).code, "c");
    let refusal: unknown;
    try {
      answer(named);
    } catch (error) {
      refusal = error;
    }
    assertInstanceOf(refusal, OAuthClientError);
    assertEquals(refusal.code, "issuer_mismatch");
  }
});

Deno.test("discoverAuthorization() takes a server that contradicts itself only when told so (pain 1)", async () => {
  const real = "https://cf.as.example";
  const routes = {
    [`${PRM}/mcp`]: prm(),
    [OAUTH]: asm({ issuer: real }),
    [OPENID]: asm({ issuer: real }),
  };
  const strict = await discoverAt(routes);
  assertEquals(strict.found.code, "discovery_failed");
  const trusting = await discoverAt(routes, { trustedIssuers: [real] });
  assertEquals(trusting.found.issuer, real);
});

Deno.test("discoverAuthorization() takes metadata of the origin or of a parent path for an endpoint (pain 2)", async () => {
  for (const resource of [API, `${API}/`, `${API}/v1`, `${API}/v1/`]) {
    const target = `${API}/v1/mcp`;
    const { found } = await discoverAt(
      {
        [`${PRM}/v1/mcp`]: prm({ resource }),
        [OAUTH]: asm(),
      },
      {},
      target,
    );
    assertEquals(found.resource, resource);
  }
});

Deno.test("discoverAuthorization() stops at metadata of a foreign resource (pain 2)", async () => {
  for (
    const resource of ["https://evil.example/mcp", `${API}/mc`, `${API}/x`]
  ) {
    const { found, urls } = await discoverAt({
      [`${PRM}/mcp`]: prm({ resource }),
    });
    assertEquals(found.code, "discovery_failed");
    assertEquals(urls, [`${PRM}/mcp`]);
  }
});

Deno.test("buildAuthorizationUrl() and fetchToken() send the resource without a slash added (pain 3)", async () => {
  using stubbed = stubFetch({ [`${AS}/token`]: json({ access_token: "t" }) });
  for (const resource of [API, `${API}/`, "https://API.example:443/Mcp"]) {
    const { found } = await discoverAt(
      {
        [`${PRM}/Mcp`]: prm({ resource }),
        [OAUTH]: asm({
          authorization_endpoint: `${AS}/authorize`,
          code_challenge_methods_supported: ["S256"],
        }),
      },
      {},
      `${API}/Mcp`,
    );
    const url = buildAuthorizationUrl(found.serverMetadata, {
      clientId: "c1",
      redirectUri: "http://127.0.0.1/",
      state: "s",
      codeChallenge: "x",
      resource: found.resource,
    });
    assertEquals(url.searchParams.get("resource"), resource);
    const body = buildAuthorizationCodeBody({
      code: "c",
      redirectUri: "http://127.0.0.1/",
      codeVerifier: "v",
      resource: found.resource,
    });
    await fetchToken(found.serverMetadata, body, { fetch: stubbed.fetch });
    const sent = new URLSearchParams(stubbed.requests.at(-1)?.body);
    assertEquals(sent.get("resource"), resource);
  }
});

Deno.test("discoverAuthorization() makes no slash for a target without path (pain 3)", async () => {
  for (const target of ["https://API.example", "https://api.example/#x"]) {
    const missing = text("", 404);
    const { found } = await discoverAt(
      {
        [PRM]: missing,
        [`${API}/.well-known/oauth-authorization-server`]: missing,
        [`${API}/.well-known/openid-configuration`]: missing,
      },
      {},
      target,
    );
    assertEquals(found.resource, API);
  }
});

/** Refuses the resource parameter, as Entra does. */
const withoutResource: Answer = ({ body }) =>
  new URLSearchParams(body).has("resource")
    ? Response.json({
      error: "invalid_target",
      error_description: "AADSTS9010010: The resource parameter is not allowed",
    }, { status: 400 })
    : Response.json({ access_token: "t", token_type: "Bearer" });

Deno.test("fetchToken() gets a token where resource is refused, once it is left out (pain 4)", async () => {
  using stubbed = stubFetch({ [`${AS}/token`]: withoutResource });
  const server = {
    issuer: AS,
    token_endpoint: `${AS}/token`,
    response_types_supported: [],
  };
  const ask = (resource: string | false) =>
    fetchToken(
      server,
      buildAuthorizationCodeBody({
        code: "c",
        redirectUri: "http://127.0.0.1/",
        codeVerifier: "v",
        resource,
      }),
      { fetch: stubbed.fetch, client: publicClient("c1") },
    );
  const error = await assertRejects(() => ask(MCP), OAuthClientError);
  assertEquals(error.error, "invalid_target");
  assertStringIncludes(error.error_description ?? "", "AADSTS9010010");
  assertEquals((await ask(false)).access_token, "t");
});

Deno.test("buildAuthorizationUrl() replaces a resource that the endpoint bakes in, or leaves it out (pain 4)", () => {
  const server: IAuthorizationServerMetadata = {
    issuer: AS,
    authorization_endpoint: `${AS}/authorize?resource=baked&resource=in&p=1`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  };
  for (const resource of [MCP, false] as const) {
    const { searchParams } = buildAuthorizationUrl(server, {
      clientId: "c1",
      redirectUri: "http://127.0.0.1/",
      state: "s",
      codeChallenge: "x",
      resource,
    });
    assertEquals(searchParams.getAll("resource"), resource ? [resource] : []);
    assertEquals(searchParams.get("p"), "1");
  }
});

Deno.test("discoverAuthorization() takes whatever fails for the next attempt, and keeps it (pain 5)", async () => {
  const failures: [Answer, status: number | undefined][] = [
    [text("Unauthorized", 401), 401],
    [text("Forbidden", 403), 403],
    [text(PAGE, 404), 404],
    [text("Bad Gateway", 502), 502],
    [text("Unavailable", 503), 503],
    [text(PAGE, 200), 200],
    [redirect("https://login.example/"), 302],
    [failing(new TypeError("Cable cut")), undefined],
  ];
  for (const [answer, status] of failures) {
    const { found } = await discoverAt({
      [`${PRM}/mcp`]: answer,
      [PRM]: prm({ resource: API }),
      [OAUTH]: answer,
      [OPENID]: asm(),
    });
    assertEquals(found.issuer, AS);
    const errors = found.attempts.map((
      { error }: { error?: OAuthClientError },
    ) => error && (error.status ?? "none"));
    const failed = status ?? "none";
    assertEquals(errors, [failed, undefined, failed, undefined]);
  }
});

Deno.test("discoverAuthorization() finds metadata that stands at one place only (pain 5)", async () => {
  const missing = text("", 404);
  const rootOnly = await discoverAt({
    [`${PRM}/mcp`]: missing,
    [PRM]: prm({ resource: API }),
    [OAUTH]: asm(),
  });
  assertEquals(rootOnly.found.resource, API);
  const pathOnly = await discoverAt({
    [`${PRM}/mcp`]: prm(),
    [OAUTH]: asm(),
  });
  assertEquals(pathOnly.found.resource, MCP);
});

Deno.test("discoverAuthorization() falls to no other origin when the named server is silent (pain 5)", async () => {
  const { found, urls } = await discoverAt({
    [`${PRM}/mcp`]: prm(),
    [OAUTH]: text("", 404),
    [OPENID]: text("", 404),
  });
  assertInstanceOf(found, OAuthClientError);
  assertEquals(found.code, "discovery_failed");
  assertEquals(urls, [`${PRM}/mcp`, OAUTH, OPENID]);
  assertEquals(found.attempts?.map(({ url }) => url), urls);
});

Deno.test("discoverAuthorization() takes an abort for the end, not for the next attempt (pain 5)", async () => {
  const reason = new Error("User closed the window");
  const controller = new AbortController();
  const { found, urls } = await discoverAt({
    [`${PRM}/mcp`]: () => {
      controller.abort(reason);
      return never();
    },
  }, { signal: controller.signal });
  assertStrictEquals(found, reason);
  assertEquals(urls, [`${PRM}/mcp`]);
});

Deno.test("discoverAuthorization() goes past pages that come with 200 (pain 6)", async () => {
  const { found } = await discoverAt({
    [`${PRM}/mcp`]: text(PAGE, 200),
    [PRM]: prm({ resource: API }),
    [OAUTH]: text(PAGE, 200),
    [OPENID]: asm(),
  });
  assertEquals([found.resource, found.serverMetadataUrl], [API, OPENID]);
});

Deno.test("fetchResourceMetadata() and fetchAuthorizationServerMetadata() go past pages that come with 200 (pain 6)", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: text(PAGE, 200),
    [PRM]: json({ resource: API }),
    [OAUTH]: text(PAGE, 200),
    [OPENID]: asm(),
  });
  const resource = await fetchResourceMetadata(MCP, undefined, stubbed);
  assertEquals([resource.discoveryUrl, resource.errors.length], [PRM, 1]);
  const server = await fetchAuthorizationServerMetadata(AS, stubbed);
  assertEquals([server.discoveryUrl, server.errors.length], [OPENID, 1]);
});

Deno.test("discoverAuthorization() takes null members for absent ones (pain 6)", async () => {
  const { found } = await discoverAt({
    [`${PRM}/mcp`]: prm({ scopes_supported: null, jwks_uri: null }),
    [OAUTH]: asm({
      registration_endpoint: null,
      code_challenge_methods_supported: null,
      x_kept: { a: null },
    }),
  });
  assertEquals(found.serverMetadata, {
    issuer: AS,
    token_endpoint: `${AS}/token`,
    x_kept: { a: null },
  });
  assertEquals("scopes" in found, false);
});

const HEADERS: [header: string, params: Record<string, string>][] = [
  ["Negotiate, Bearer scope=a", { scope: "a" }],
  ["Negotiate oRQwEqADCgEA==, Bearer scope=a", { scope: "a" }],
  ['Basic realm="Bearer scope=x", Bearer scope="a"', { scope: "a" }],
  ['Bearer scope = "a" , error\t=\tx', { scope: "a", error: "x" }],
  ['BEARER Scope="a"', { scope: "a" }],
  ['Bearer scope="a", scope="b"', { scope: "a" }],
  ['Bearer error_description="say \\"a, b=c\\"", scope=a', {
    error_description: 'say "a, b=c"',
    scope: "a",
  }],
  ['Bearer x_resource_metadata="https://x.example", scope=a', {
    x_resource_metadata: "https://x.example",
    scope: "a",
  }],
  ["Bearer resource_metadata=https://api.example/m?a=b&c=d, scope=a", {
    resource_metadata: "https://api.example/m?a=b&c=d",
    scope: "a",
  }],
];

for (const [header, params] of HEADERS) {
  Deno.test(`findChallenge() reads ${header} (pain 7)`, () => {
    const headers = new Headers({ "WWW-Authenticate": header });
    assertEquals(findChallenge(headers)?.params, params);
  });
}

Deno.test("findChallenge() finds DPoP wherever it stands, and no other scheme (pain 7)", () => {
  const found = findChallenge('Basic realm="a", dpop algs="ES256"');
  assertEquals(found, { scheme: "dpop", params: { algs: "ES256" } });
  assertEquals(findChallenge('Basic realm="a", BearerX scope="a"'), undefined);
});

Deno.test("parseChallenges() reports a parameter that comes twice (pain 7)", () => {
  let refusal: unknown;
  try {
    parseChallenges('Bearer scope="a", scope="b"');
  } catch (error) {
    refusal = error;
  }
  assertInstanceOf(refusal, OAuthClientError);
  assertEquals(refusal.code, "invalid_challenge");
  assert(refusal.message.includes("scope"));
});
