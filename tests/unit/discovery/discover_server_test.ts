/**
 * A named issuer is found by its own metadata, and nothing is assumed in place of it.
 */

import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import {
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
  OAuthClientError,
} from "../../../mod.ts";
import { asm } from "../../support/discover.ts";
import { AS, IDP } from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

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
    pinMessage(found);
  }
});

Deno.test("discoverAuthorizationServer() rejects an unusable issuer before any request", async () => {
  const rows: [issuer: unknown, code: string][] = [
    ...[null, "", "idp.example", "file:///idp", "https://u:p@idp.example"]
      .map((issuer): [unknown, string] => [issuer, "invalid_argument"]),
    ["http://idp.example", "url_refused"],
  ];
  await eachRowInTurn(rows, async ([issuer, code]) => {
    const { found, urls } = await find({}, {}, untyped(issuer));
    assertInstanceOf(found, OAuthClientError);
    assertEquals([String(found.code), urls], [code, []]);
  });
});

const TENANT = `${AS}/t`;
const URLS = [
  "https://as.example/.well-known/oauth-authorization-server/t",
  "https://as.example/.well-known/openid-configuration/t",
  "https://as.example/t/.well-known/openid-configuration",
];

Deno.test("fetchAuthorizationServerMetadata() requests preferredServerMetadataUrl first if it is a possible URL", async () => {
  const [a, b, c] = URLS as [string, string, string];
  const evil = "https://evil.example/.well-known/oauth-authorization-server";
  const rows: [preferred: string | undefined, order: string[]][] = [
    ...[undefined, "", `${evil}/t`, `${b}/`, `${b}?x`, a].map((
      preferred,
    ): typeof rows[0] => [preferred, URLS]),
    [b, [b, a, c]],
    [c, [c, a, b]],
  ];
  await eachRowInTurn(rows, async ([preferredServerMetadataUrl, order]) => {
    using server = stubFetch(
      Object.fromEntries(URLS.map((url) => [url, text("", 404)])),
    );
    const { fetch } = server;
    const options = { fetch, preferredServerMetadataUrl };
    await assertRejects(() =>
      fetchAuthorizationServerMetadata(TENANT, options)
    );
    assertEquals(server.urls, order);
  });
});
