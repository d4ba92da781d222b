/** A remote server must not direct the client to loopback or to unsafe URLs. */

import { assertEquals, assertNotMatch } from "@std/assert";
import {
  buildAuthorizationUrl,
  discoverAuthorizationServer,
  fetchDeviceAuthorization,
  fetchToken,
  publicClient,
  registerClient,
  requestBackchannelAuthentication,
} from "../../../mod.ts";
import {
  asm,
  codes,
  discovered,
  prm,
  undiscovered,
} from "../../support/discover.ts";
import {
  AS,
  assertRejectsCode,
  metadataOf,
  OAUTH,
  OPENID,
  PRM,
} from "../../support/fixtures.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";

const LOCAL = "http://127.0.0.1:8080";

/** URLs that a remote server must not name; tests/unit/core/_url_test.ts has all kinds. */
const REFUSED = [
  LOCAL,
  "https://localhost/x",
  "http://as.example/x",
  "https://user:s3cret@as.example/x",
  "/relative",
];

for (const url of REFUSED) {
  Deno.test(`a remote resource cannot direct the client to ${url}`, async () => {
    const { attempts, urls } = await discovered(
      { [`${PRM}/mcp`]: prm(), [OAUTH]: asm() },
      { challenge: `Bearer resource_metadata="${url}"` },
    );
    assertEquals(urls, [`${PRM}/mcp`, OAUTH]);
    assertEquals(codes(attempts), ["url_refused", undefined, undefined]);
    assertNotMatch(JSON.stringify(attempts), /s3cret/);
    const { code, urls: requested } = await undiscovered({
      [`${PRM}/mcp`]: prm({ authorization_servers: [url] }),
    });
    assertEquals([code, requested], ["url_refused", [`${PRM}/mcp`]]);
  });

  Deno.test(`a remote server cannot name an endpoint at ${url}`, async () => {
    const metadata = metadataOf(AS, {
      token_endpoint: url,
      registration_endpoint: url,
      device_authorization_endpoint: url,
      backchannel_authentication_endpoint: url,
      authorization_endpoint: url,
      code_challenge_methods_supported: ["S256"],
    });
    using stubbed = stubFetch({});
    const { fetch } = stubbed;
    const client = publicClient("c1");
    const calls = [
      () => fetchToken(metadata, new URLSearchParams(), { fetch }),
      () => registerClient(metadata, {}, { fetch }),
      () => fetchDeviceAuthorization(metadata, { fetch, client }),
      () =>
        requestBackchannelAuthentication(metadata, {
          ...{ fetch, client },
          loginHint: "ada",
        }),
      // deno-lint-ignore require-await
      async () =>
        buildAuthorizationUrl(metadata, {
          clientId: "c1",
          redirectUri: LOCAL,
          state: "s",
          codeChallenge: "x",
        }),
    ];
    for (const call of calls) await assertRejectsCode(call, "url_refused");
  });
}

/** Metadata of a resource and of its server, each at this origin. */
function local(resource: string, server: string) {
  return {
    [`${resource}/.well-known/oauth-protected-resource/mcp`]: prm({
      resource: `${resource}/mcp`,
      authorization_servers: [server],
    }),
    [`${server}/.well-known/oauth-authorization-server`]: asm(server),
  };
}

Deno.test("a resource on loopback can refer to loopback and to remote servers", async () => {
  for (const server of [LOCAL, "http://localhost:9", AS]) {
    const found = await discovered(local(LOCAL, server), {}, `${LOCAL}/mcp`);
    assertEquals(found.issuer, server);
  }
  const { issuer } = await discovered({
    [`${LOCAL}/.well-known/oauth-authorization-server`]: asm(LOCAL),
  }, { authorizationServer: LOCAL });
  assertEquals(issuer, LOCAL);
});

Deno.test("a remote server cannot name loopback to a client of a resource on loopback", async () => {
  const { code, attempts } = await undiscovered(
    {
      [`${LOCAL}/.well-known/oauth-protected-resource/mcp`]: prm({
        resource: `${LOCAL}/mcp`,
      }),
      [OAUTH]: asm(AS, { token_endpoint: `${LOCAL}/token` }),
      [OPENID]: asm(AS, { registration_endpoint: `${LOCAL}/token` }),
    },
    {},
    `${LOCAL}/mcp`,
  );
  assertEquals(code, "discovery_failed");
  assertEquals(codes(attempts).slice(1), ["url_refused", "url_refused"]);
});

Deno.test("allowHttp allows http and loopback everywhere", async () => {
  const http = "http://api.example";
  const found = await discovered(
    local(http, LOCAL),
    { allowHttp: true },
    `${http}/mcp`,
  );
  assertEquals(found.serverMetadata.token_endpoint, `${LOCAL}/token`);
  const remote = await discovered({
    [`${PRM}/mcp`]: prm(),
    [OAUTH]: asm(AS, { token_endpoint: "http://as.example/token" }),
  }, { allowHttp: true });
  assertEquals(remote.issuer, AS);
  using stubbed = stubFetch({
    [`${LOCAL}/token`]: json({ access_token: "t" }),
  });
  const metadata = metadataOf(AS, { token_endpoint: `${LOCAL}/token` });
  const options = { fetch: stubbed.fetch, allowHttp: true };
  await fetchToken(metadata, new URLSearchParams(), options);
});

Deno.test("discovery refuses an http URL of the caller that is not on loopback", async () => {
  const target = "http://api.example/mcp";
  for (const options of [{}, { authorizationServer: AS }]) {
    const { code, urls } = await undiscovered({}, options, target);
    assertEquals([code, urls], ["url_refused", []]);
  }
  const call = () => discoverAuthorizationServer(target, stubFetch({}));
  await assertRejectsCode(call, "url_refused");
});

const ENDPOINTS = [
  ...["authorization_endpoint", "token_endpoint", "registration_endpoint"],
  ...["device_authorization_endpoint", "revocation_endpoint"],
  "pushed_authorization_request_endpoint",
  "backchannel_authentication_endpoint",
];

for (const name of ENDPOINTS) {
  Deno.test(`discoverAuthorization() refuses metadata with an unsafe ${name}`, async () => {
    for (const url of [...REFUSED, "ht\ntps://as.example/x"]) {
      const found = await discovered({
        [`${PRM}/mcp`]: prm(),
        [OAUTH]: asm(AS, { [name]: url }),
        [OPENID]: asm(AS, { [name]: `${AS}/safe` }),
      });
      assertEquals(untyped(found.serverMetadata)[name], `${AS}/safe`, url);
      assertNotMatch(JSON.stringify(found.attempts), /s3cret/);
    }
  });
}
