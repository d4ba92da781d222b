import {
  assertEquals,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import { discoverAuthorizationServer, OAuthClientError } from "../../../mod.ts";
import { IDP } from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  json,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

const OAUTH = `${IDP}/.well-known/oauth-authorization-server`;
const OPENID = `${IDP}/.well-known/openid-configuration`;

/** Searches at these servers; what came of it, and what was asked. */
async function find(
  routes: Record<string, Answer>,
  options: Parameters<typeof discoverAuthorizationServer>[1] = {},
  issuer = IDP,
) {
  using stubbed = stubFetch(routes);
  const { fetch, requests } = stubbed;
  const found = await discoverAuthorizationServer(issuer, {
    fetch,
    ...options,
  }).catch((error) => error);
  return { found, requests, urls: stubbed.urls };
}

Deno.test("discoverAuthorizationServer() gives the first document that is the issuer's", async () => {
  const { found, urls } = await find({
    [OAUTH]: json({ issuer: "https://other.example" }),
    [OPENID]: json({ issuer: `${IDP}/`, jwks_uri: null }),
  });
  const { attempts, ...rest } = found;
  assertEquals(rest, {
    issuer: `${IDP}/`,
    serverMetadata: { issuer: `${IDP}/` },
    serverMetadataUrl: OPENID,
  });
  assertEquals(attempts.map(({ url }: { url: string }) => url), urls);
  assertEquals(urls, [OAUTH, OPENID]);
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

Deno.test("discoverAuthorizationServer() takes another issuer only when it is trusted", async () => {
  const answer = json({ issuer: "https://other.example" });
  const routes = { [OAUTH]: answer, [OPENID]: answer };
  const trustedIssuers = ["https://other.example"];
  assertEquals((await find(routes)).found.code, "discovery_failed");
  const { found } = await find(routes, { trustedIssuers });
  assertEquals(found.issuer, "https://other.example");
});

Deno.test("discoverAuthorizationServer() sends additionalHeaders and asks for JSON", async () => {
  const { requests } = await find({ [OAUTH]: json({ issuer: IDP }) }, {
    additionalHeaders: { "X-Trace": "1", accept: "text/html" },
  });
  assertEquals(requests[0]?.headers, {
    Accept: "application/json",
    "X-Trace": "1",
  });
});

Deno.test("discoverAuthorizationServer() ends with the reason of an abort", async () => {
  const { answer, signal, reason } = aborted();
  const { found } = await find({ [OAUTH]: answer }, { signal });
  assertStrictEquals(found, reason);
});

Deno.test("discoverAuthorizationServer() refuses an issuer that is of no use, before any request", async () => {
  const rows: [issuer: unknown, code: string][] = [
    [null, "invalid_argument"],
    ["", "invalid_argument"],
    ["idp.example", "invalid_argument"],
    ["file:///idp", "invalid_argument"],
    ["https://u:p@idp.example", "invalid_argument"],
    ["http://idp.example", "url_refused"],
  ];
  for (const [issuer, code] of rows) {
    const { found, urls } = await find({}, {}, untyped(issuer));
    assertInstanceOf(found, OAuthClientError);
    assertEquals(String(found.code), code);
    assertEquals(urls, []);
  }
});
