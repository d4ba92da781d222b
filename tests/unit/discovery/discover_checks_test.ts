import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertNotMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  discoverAuthorization,
  type IDiscoverAuthorizationOptions,
  OAuthClientError,
} from "../../../mod.ts";
import { API, AS, MCP, OAUTH, OPENID, PRM } from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

/** What becomes of a target whose metadata names this resource. */
async function discoverWith(
  target: string,
  resource: string,
  options: IDiscoverAuthorizationOptions = {},
) {
  const { pathname, search } = new URL(target);
  const url = PRM + (pathname === "/" ? "" : pathname) + search;
  using stubbed = stubFetch({
    [url]: json({ resource, authorization_servers: [AS] }),
    [OAUTH]: json({ issuer: AS }),
  });
  const { fetch } = stubbed;
  const found = await discoverAuthorization(target, { ...options, fetch })
    .catch((error) => error);
  return { found, url, urls: stubbed.urls };
}

const TARGETS: [target: string, resource: string, "exact" | "parent" | ""][] = [
  [MCP, MCP, "exact"],
  [API, `${API}/`, "exact"],
  [`${API}/`, API, "exact"],
  [MCP, "https://API.example:443/mcp", "exact"],
  [`${MCP}?a=1`, `${MCP}?a=1`, "exact"],
  [MCP, API, "parent"],
  [MCP, `${API}/`, "parent"],
  [`${MCP}/`, MCP, "parent"],
  [`${MCP}/v1`, MCP, "parent"],
  [`${MCP}/v1`, `${MCP}/`, "parent"],
  [`${MCP}?a=1`, API, "parent"],
  [`${MCP}?a=1`, MCP, "parent"],
  [`${MCP}/v1?a=1`, MCP, "parent"],
  [MCP, `${API}/mc`, ""],
  [MCP, `${MCP}/v1`, ""],
  [MCP, `${MCP}p`, ""],
  [MCP, `${API}/MCP`, ""],
  [`${MCP}/v1`, `${MCP}?a=1`, ""],
  [MCP, "http://api.example/mcp", ""],
  [MCP, "https://api.example:8443/mcp", ""],
  [MCP, "https://evil.example/mcp", ""],
  [MCP, "https://api.example.evil.example/mcp", ""],
  [MCP, "https://user@api.example/mcp", ""],
  [MCP, "https://api.example@evil.example/mcp", ""],
  [MCP, "/mcp", ""],
  [MCP, "no address", ""],
];

for (const [target, resource, kind] of TARGETS) {
  for (const resourceMatch of [undefined, "parent", "exact"] as const) {
    const isTaken = kind === "exact" ||
      (kind === "parent" && resourceMatch !== "exact");
    const does = isTaken ? "takes" : "refuses";
    Deno.test(`discoverAuthorization() ${does} ${resource} for ${target}, match ${resourceMatch}`, async () => {
      const result = await discoverWith(target, resource, { resourceMatch });
      const { found, url, urls } = result;
      if (isTaken) {
        assertEquals(found.resource, resource);
        assertEquals(urls, [url, OAUTH]);
        return;
      }
      assertInstanceOf(found, OAuthClientError);
      assertEquals(found.code, "discovery_failed");
      assertEquals(urls, [url]);
      assertEquals(found.attempts?.map(({ url }) => url), [url]);
      const [attempt] = found.attempts ?? [];
      assertInstanceOf(attempt?.error, OAuthClientError);
      assertEquals(attempt.error.code, "identifier_mismatch");
      // Credentials are not shown.
      const shown = JSON.stringify(
        resource.replace(/\/\/.*@/, "//[redacted]@"),
      );
      assertStringIncludes(attempt.error.message, shown);
      assertStringIncludes(found.message, target);
      assertStringIncludes(found.message, shown);
    });
  }
}

Deno.test("discoverAuthorization() gives the resource byte for byte", async () => {
  for (
    const resource of [
      API,
      `${API}/`,
      "https://API.example/mcp",
      "https://api.example:443/mcp",
      "https://api.example/./mcp",
    ]
  ) {
    const { found } = await discoverWith(MCP, resource);
    assertEquals(found.resource, resource);
  }
});

/** What becomes of a server, named so, that calls itself `issuer`. */
async function discoverIssuer(
  named: string,
  issuer: unknown,
  trustedIssuers?: string[],
) {
  const answer = json({ issuer, token_endpoint: `${AS}/token` });
  const path = new URL(named).pathname.replace(/\/$/, "");
  const append = `${AS}${path}/.well-known/openid-configuration`;
  const routes: Record<string, Answer> = {
    [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [named] }),
    [OAUTH + path]: answer,
    [OPENID + path]: answer,
    [append]: answer,
  };
  using stubbed = stubFetch(routes);
  const { fetch } = stubbed;
  return await discoverAuthorization(MCP, { fetch, trustedIssuers })
    .catch((error) => error);
}

const ISSUERS: [named: string, issuer: string, trusted?: string[]][] = [
  [AS, AS],
  [AS, `${AS}/`],
  [`${AS}/`, AS],
  [`${AS}/`, `${AS}/`],
  [`${AS}/t`, `${AS}/t`],
  [AS, "https://other.example", ["https://x.example", "https://other.example"]],
  [`${AS}/t`, `${AS}/t/`, [`${AS}/t/`]],
];

for (const [named, issuer, trusted] of ISSUERS) {
  Deno.test(`discoverAuthorization() takes ${issuer} for ${named}, trusting ${trusted}`, async () => {
    const found = await discoverIssuer(named, issuer, trusted);
    assertEquals(found.issuer, issuer);
    assertEquals(found.serverMetadata.issuer, issuer);
  });
}

const FOREIGN_ISSUERS: [named: string, issuer: unknown, trusted?: string[]][] =
  [
    [`${AS}/t`, `${AS}/t/`],
    [`${AS}/t/`, `${AS}/t`],
    [AS, "https://AS.example"],
    [AS, "https://as.example:443"],
    [AS, "http://as.example"],
    [AS, `${AS}/t`],
    [`${AS}/t`, AS],
    [AS, `${AS}//`],
    [AS, `${AS}/?`],
    [AS, "https://other.example"],
    [AS, "https://other.example", ["https://other.example/"]],
    [AS, "https://other.example", []],
    [AS, ["https://as.example"]],
  ];

for (const [named, issuer, trusted] of FOREIGN_ISSUERS) {
  Deno.test(`discoverAuthorization() refuses ${issuer} for ${named}, trusting ${trusted}`, async () => {
    const error = await discoverIssuer(named, issuer, trusted);
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.code, "discovery_failed");
    const [, ...attempts] = error.attempts ?? [];
    assert(attempts.length >= 2);
    for (const { error } of attempts) {
      assertInstanceOf(error, OAuthClientError);
      assertEquals(error.status, 200);
    }
  });
}

Deno.test("discoverAuthorization() goes on after a document of another issuer", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [AS] }),
    [OAUTH]: json({ issuer: "https://other.example" }),
    [OPENID]: json({ issuer: AS }),
  });
  const found = await discoverAuthorization(MCP, stubbed);
  assertEquals(found.serverMetadataUrl, OPENID);
  const { error } = found.attempts[1]!;
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.code, "identifier_mismatch");
  assertStringIncludes(error.message, "https://other.example");
});

const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "device_authorization_endpoint",
];
const UNSAFE = [
  "javascript:alert(1)//https://",
  "data:text/html,x",
  "file:///etc/passwd",
  "http://as.example/x",
  "http://127.0.0.1.evil.example/x",
  "http://localhost.evil.example/x",
  "https://user:s3cret@as.example/x",
  "https://as.example/\u0000x",
  "https://as.example/a b",
  "ht\ntps://as.example/x",
  " https://as.example/x",
  "/relative",
  7,
];

for (const name of ENDPOINTS) {
  Deno.test(`discoverAuthorization() refuses a document with an unsafe ${name}`, async () => {
    for (const address of UNSAFE) {
      using stubbed = stubFetch({
        [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [AS] }),
        [OAUTH]: json({ issuer: AS, [name]: address }),
        [OPENID]: json({ issuer: AS, [name]: `${AS}/safe` }),
      });
      const found = await discoverAuthorization(MCP, stubbed);
      assertEquals(untyped(found.serverMetadata)[name], `${AS}/safe`);
      const { error } = found.attempts[1]!;
      assertInstanceOf(error, OAuthClientError);
      assertEquals(error.code, "invalid_metadata");
      const cause = error.cause as Error;
      assertNotMatch(cause.message, /s3cret/);
    }
  });

  Deno.test(`discoverAuthorization() takes an http ${name} on loopback, or when allowed`, async () => {
    const rows: [address: string, allowHttp?: boolean][] = [
      ["http://127.0.0.1:8080/x"],
      ["http://localhost/x"],
      ["http://[::1]:1/x"],
      ["http://as.example/x", true],
    ];
    for (const [address, allowHttp] of rows) {
      using stubbed = stubFetch({
        [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [AS] }),
        [OAUTH]: json({ issuer: AS, [name]: address }),
      });
      const { fetch } = stubbed;
      const found = await discoverAuthorization(MCP, { fetch, allowHttp });
      assertEquals(untyped(found.serverMetadata)[name], address);
    }
  });
}

Deno.test("discoverAuthorization() takes an empty endpoint for an absent one", async () => {
  for (const name of ENDPOINTS) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [AS] }),
      [OAUTH]: json({ issuer: AS, [name]: "" }),
    });
    const found = await discoverAuthorization(MCP, stubbed);
    assertEquals(found.serverMetadataUrl, OAUTH, name);
  }
});

Deno.test("discoverAuthorization() drops members that are null and keeps unknown ones", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({
      resource: MCP,
      authorization_servers: [AS],
      scopes_supported: null,
      resource_name: null,
      x_more: { deep: null },
    }),
    [OAUTH]: json({
      issuer: AS,
      registration_endpoint: null,
      jwks_uri: null,
      x_more: [1],
    }),
  });
  const found = await discoverAuthorization(MCP, stubbed);
  assertEquals(
    found.resourceMetadata,
    untyped({
      resource: MCP,
      authorization_servers: [AS],
      x_more: { deep: null },
    }),
  );
  assertEquals(found.serverMetadata, untyped({ issuer: AS, x_more: [1] }));
  assertFalse("scopes" in found);
});

Deno.test("discoverAuthorization() takes a page or other JSON for no document", async () => {
  const page = "<!doctype html><title>App</title>";
  for (const body of [page, "", "null", "[]", "7", '"x"', "{}"]) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: text(body, 200),
      [PRM]: json({ resource: API, authorization_servers: [AS] }),
      [OAUTH]: text(body, 200),
      [OPENID]: json({ issuer: AS }),
    });
    const found = await discoverAuthorization(MCP, stubbed);
    assertEquals(found.source, "resource_metadata");
    assertEquals(found.serverMetadataUrl, OPENID);
    for (const n of [0, 2]) {
      const { error } = found.attempts[n]!;
      assertInstanceOf(error, OAuthClientError);
      assertEquals([error.code, error.status], ["invalid_metadata", 200]);
    }
  }
});

Deno.test("discoverAuthorization() refuses a named server that is not https", async () => {
  for (const server of ["http://as.example", "ftp://as.example", "x", ""]) {
    using stubbed = stubFetch({
      [`${PRM}/mcp`]: json({ resource: MCP, authorization_servers: [server] }),
    });
    const error = await assertRejects(
      () => discoverAuthorization(MCP, stubbed),
      OAuthClientError,
    );
    assertEquals(error.code, "url_refused");
    assertEquals(stubbed.urls, [`${PRM}/mcp`]);
  }
});

Deno.test("discoverAuthorization() refuses a redirect to another origin", async () => {
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: redirect("https://evil.example/meta"),
    [PRM]: redirect("/moved"),
    [`${API}/moved`]: json({ resource: API, authorization_servers: [AS] }),
    [OAUTH]: json({ issuer: AS }),
  });
  const { attempts } = await discoverAuthorization(MCP, stubbed);
  assertEquals(attempts.map(({ url }) => url), [`${PRM}/mcp`, PRM, OAUTH]);
  assertEquals((attempts[0]?.error as OAuthClientError).status, 302);
});
