import { assertEquals, assertInstanceOf } from "@std/assert";
import {
  discoverAuthorization,
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
  OAuthClientError,
} from "../../../mod.ts";
import { asm, prm } from "../../support/discover.ts";
import { API, AS, IDP, PRM } from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const OAUTH = `${IDP}/.well-known/oauth-authorization-server`;
const OPENID = `${IDP}/.well-known/openid-configuration`;

/** Discovers at these servers: the result or the error, and what was requested. */
async function find(
  routes: Record<string, Answer>,
  options: Parameters<typeof discoverAuthorizationServer>[1] = {},
  issuer: string | URL = IDP,
) {
  using stubbed = stubFetch(routes);
  const { fetch, requests } = stubbed;
  const found = await discoverAuthorizationServer(issuer, {
    fetch,
    ...options,
  }).catch((error) => error);
  return { found, requests, urls: stubbed.urls };
}

Deno.test("discoverAuthorizationServer() returns the first metadata of the issuer", async () => {
  for (const issuer of [IDP, new URL(IDP)]) {
    const { found, urls } = await find(
      {
        [OAUTH]: asm("https://other.example"),
        [OPENID]: json({ issuer: `${IDP}/`, jwks_uri: null }),
      },
      {},
      issuer,
    );
    const { attempts, ...rest } = found;
    assertEquals(rest, {
      issuer: `${IDP}/`,
      serverMetadata: { issuer: `${IDP}/` },
      serverMetadataUrl: OPENID,
    });
    assertEquals(attempts.map(({ url }: { url: string }) => url), urls);
    assertEquals(urls, [OAUTH, OPENID]);
  }
});

Deno.test("discoverAuthorizationServer() assumes nothing where nothing is published", async () => {
  for (const status of [401, 404, 503]) {
    const answer = text("", status);
    const { found } = await find({ [OAUTH]: answer, [OPENID]: answer });
    assertInstanceOf(found, OAuthClientError);
    assertEquals(found.code, "discovery_failed");
    assertEquals(
      found.message,
      `No metadata of the authorization server ${IDP}. Tried: ` +
        `${OAUTH} (${status}), ${OPENID} (${status})`,
    );
  }
});

Deno.test("discoverAuthorizationServer() rejects an unusable issuer before any request", async () => {
  const rows: [issuer: unknown, code: string][] = [
    ...[null, "", "idp.example", "file:///idp", "https://u:p@idp.example"]
      .map((issuer): [unknown, string] => [issuer, "invalid_argument"]),
    ["http://idp.example", "url_refused"],
  ];
  for (const [issuer, code] of rows) {
    const { found, urls } = await find({}, {}, untyped(issuer));
    assertInstanceOf(found, OAuthClientError);
    assertEquals([String(found.code), urls], [code, []]);
  }
});

const TENANT = `${AS}/t`;
const URLS = [
  "https://as.example/.well-known/oauth-authorization-server/t",
  "https://as.example/.well-known/openid-configuration/t",
  "https://as.example/t/.well-known/openid-configuration",
];

type Options = Parameters<typeof discoverAuthorizationServer>[1];
const CALLS: [
  name: string,
  call: (options: Options) => Promise<string | undefined>,
][] = [
  [
    "fetchAuthorizationServerMetadata",
    async (options) =>
      (await fetchAuthorizationServerMetadata(TENANT, options)).discoveryUrl,
  ],
  [
    "discoverAuthorizationServer",
    async (options) =>
      (await discoverAuthorizationServer(TENANT, options)).serverMetadataUrl,
  ],
  [
    "discoverAuthorization",
    async (options) =>
      (await discoverAuthorization(API, options)).serverMetadataUrl,
  ],
];

for (const [name, call] of CALLS) {
  Deno.test(`${name}() requests preferredServerMetadataUrl first if it is a possible URL`, async () => {
    const unlisted = [
      undefined,
      "",
      "https://evil.example/.well-known/oauth-authorization-server/t",
      `${URLS[1]}/`,
      `${URLS[1]}?x`,
    ];
    for (const preferred of [...URLS, ...unlisted]) {
      const isListed = URLS.includes(preferred ?? "");
      const order = isListed
        ? [preferred!, ...URLS.filter((url) => url !== preferred)]
        : URLS;
      for (const [n, published] of order.entries()) {
        using server = stubFetch({
          [PRM]: prm({ resource: API, authorization_servers: [TENANT] }),
          ...Object.fromEntries(URLS.map((url) => [
            url,
            url === published ? asm(TENANT) : text("", 404),
          ])),
        });
        const { fetch } = server;
        const url = await call({
          fetch,
          preferredServerMetadataUrl: preferred,
        });
        assertEquals(url, published);
        const urls = server.urls.filter((url) => url !== PRM);
        assertEquals(urls, order.slice(0, n + 1));
      }
    }
  });
}
