import { assertEquals, assertRejects } from "@std/assert";
import {
  discoverAuthorization,
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
} from "../../../mod.ts";
import {
  type Answer,
  json,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";

const API = "https://api.example";
const PRM = `${API}/.well-known/oauth-protected-resource`;
const AS = "https://as.example/t";
const URLS = [
  "https://as.example/.well-known/oauth-authorization-server/t",
  "https://as.example/.well-known/openid-configuration/t",
  "https://as.example/t/.well-known/openid-configuration",
];
const SERVER = json({ issuer: AS });

/** Routes to the servers, of which only this address has metadata. */
function routes(found: string | undefined): Record<string, Answer> {
  return {
    [PRM]: json({ resource: API, authorization_servers: [AS] }),
    ...Object.fromEntries(
      URLS.map((url) => [url, url === found ? SERVER : text("", 404)]),
    ),
  };
}

type Fetch = ReturnType<typeof stubFetch>["fetch"];
const CALLS: [
  name: string,
  call: (fetch: Fetch, preferred?: string) => Promise<string | undefined>,
][] = [
  [
    "fetchAuthorizationServerMetadata",
    async (fetch, preferredUrl) =>
      (await fetchAuthorizationServerMetadata(AS, { fetch, preferredUrl }))
        .discoveryUrl,
  ],
  [
    "discoverAuthorizationServer",
    async (fetch, preferredServerMetadataUrl) =>
      (await discoverAuthorizationServer(AS, {
        fetch,
        preferredServerMetadataUrl,
      })).serverMetadataUrl,
  ],
  [
    "discoverAuthorization",
    async (fetch, preferredServerMetadataUrl) =>
      (await discoverAuthorization(API, { fetch, preferredServerMetadataUrl }))
        .serverMetadataUrl,
  ],
];

for (const [name, call] of CALLS) {
  /** What is asked of the server, given where its metadata stands. */
  const ask = async (found: string | undefined, preferred?: string) => {
    using server = stubFetch(routes(found));
    const url = await call(server.fetch, preferred).catch(() => undefined);
    return { url, urls: server.urls.filter((url) => url !== PRM) };
  };

  Deno.test(`${name}() asks the preferred address first, and alone`, async () => {
    for (const preferred of URLS) {
      const { url, urls } = await ask(preferred, preferred);
      assertEquals([url, urls], [preferred, [preferred]]);
    }
  });

  Deno.test(`${name}() asks the others in order after a preferred address that fails`, async () => {
    for (const preferred of URLS) {
      const others = URLS.filter((url) => url !== preferred);
      for (const [n, found] of others.entries()) {
        const { url, urls } = await ask(found, preferred);
        assertEquals(url, found);
        assertEquals(urls, [preferred, ...others.slice(0, n + 1)]);
      }
      const { urls } = await ask(undefined, preferred);
      assertEquals(urls, [preferred, ...others]);
    }
  });

  Deno.test(`${name}() asks no preferred address that is not in question`, async () => {
    const rows = [
      undefined,
      "",
      "https://evil.example/.well-known/oauth-authorization-server/t",
      "https://as.example/.well-known/oauth-authorization-server",
      `${URLS[1]}/`,
      `${URLS[1]}?x`,
      "http://as.example/.well-known/openid-configuration/t",
    ];
    for (const preferred of rows) {
      const { url, urls } = await ask(URLS[2], preferred);
      assertEquals([url, urls], [URLS[2], URLS]);
    }
  });
}

Deno.test("a second discoverAuthorization() makes one request to the server", async () => {
  using server = stubFetch(routes(URLS[2]));
  const { fetch } = server;
  const first = await discoverAuthorization(API, { fetch });
  assertEquals(server.urls, [PRM, ...URLS]);
  await discoverAuthorization(API, {
    fetch,
    preferredServerMetadataUrl: first.serverMetadataUrl,
  });
  assertEquals(server.urls.slice(4), [PRM, URLS[2]]);
});

Deno.test("a preferred address is judged like any other", async () => {
  using server = stubFetch({
    ...routes(undefined),
    [URLS[1]!]: json({ issuer: "https://evil.example" }),
  });
  const { fetch } = server;
  const preferredServerMetadataUrl = URLS[1];
  await assertRejects(() =>
    discoverAuthorizationServer(AS, { fetch, preferredServerMetadataUrl })
  );
  assertEquals(server.urls.length, 3);
});
