/**
 * The OAuth profile of the AT Protocol: pushed requests, DPoP nonces from the first
 * request on, and a client metadata document, from the metadata to a call.
 */
import { assertEquals } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  createDpop,
  discoverAuthorization,
  type Dpop,
  startAuthorization,
} from "../../mod.ts";
import {
  createTestServers,
  type TestServersOptions,
} from "../../lib/testing/mod.ts";
import { startAtprotoServers } from "../servers/atproto_servers.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { pinRejected } from "../support/fixtures.ts";

const CLIENT_ID = "https://app.example/client-metadata.json";
const REDIRECT_URI = "http://127.0.0.1:33418/callback";
const DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

async function openUrl(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  await response.body?.cancel();
  return response.headers.get("Location") ?? "";
}

Deno.test("createAuthorizedFetch() signs in at an AT Protocol server, and refreshes", async () => {
  await using servers = startAtprotoServers({
    clientDocuments: { [CLIENT_ID]: { redirect_uris: [REDIRECT_URI] } },
    did: DID,
  });
  let now = Date.now();
  const api = createAuthorizedFetch(servers.resource, {
    flow: codeFlow({
      clientMetadataUrl: CLIENT_ID,
      redirectUri: REDIRECT_URI,
      scopes: ["atproto"],
      parameters: { login_hint: DID },
      visit: openUrl,
    }),
    dpop: await createDpop(),
    now: () => now,
  });
  const url = `${servers.resource}/xrpc/com.atproto.server.getSession`;
  const path = "/xrpc/com.atproto.server.getSession";
  assertEquals(await (await api(url)).json(), { did: DID });
  assertEquals(servers.requests, [
    `GET ${path} 401`,
    "GET /.well-known/oauth-protected-resource 200",
    "GET /.well-known/oauth-authorization-server 200",
    // Each server has its own nonces, of which the client has none yet.
    "POST /par 400",
    "POST /par 201",
    "GET /authorize 302",
    "POST /token 200",
    `GET ${path} 200`,
  ]);
  const session = (await api.session())!;
  assertEquals(session.client!.client_id, CLIENT_ID);
  assertEquals(session.issuer, servers.issuer);
  assertEquals(session.token.sub, DID);

  servers.requests.length = 0;
  now += 290_000;
  assertEquals(await (await api(url)).json(), { did: DID });
  assertEquals(servers.requests, ["POST /token 200", `GET ${path} 200`]);
});

Deno.test("createAuthorizedFetch() names the option dpop at an AT Protocol server, before the user leaves", async () => {
  await using servers = startAtprotoServers({
    clientDocuments: { [CLIENT_ID]: { redirect_uris: [REDIRECT_URI] } },
    did: DID,
  });
  const api = createAuthorizedFetch(servers.resource, {
    flow: codeFlow({
      clientMetadataUrl: CLIENT_ID,
      redirectUri: REDIRECT_URI,
      scopes: ["atproto"],
      visit: () => Promise.reject(new Error("A user is asked")),
    }),
  });
  await pinRejected(() => api.signIn(), "unsupported");
  // Without the challenge, the server refuses the pushed request.
  const context = await discoverAuthorization(servers.resource);
  const client = { issuer: context.issuer, client_id: CLIENT_ID };
  await pinRejected(() =>
    startAuthorization(context, {
      client: { ...client, token_endpoint_auth_method: "none" },
      redirectUri: REDIRECT_URI,
      scopes: ["atproto"],
    }), "oauth_error");
});

Deno.test("createAuthorizedFetch() and startAuthorization() name dpop where the resource requires it", async () => {
  const metadata = { dpop_bound_access_tokens_required: true };
  const challenge = { status: 401, headers: { "WWW-Authenticate": "DPoP" } };
  const both = { status: 401, headers: { "WWW-Authenticate": "DPoP, Bearer" } };
  const rows: [options: Partial<TestServersOptions>, isRequired: boolean][] = [
    [{ resourceMetadata: metadata }, true],
    [
      { resourceMetadata: { dpop_bound_access_tokens_required: "true" } },
      false,
    ],
    ...[challenge, both].map((init): [TestServersOptions, boolean] => [{
      intercept: ({ endpoint, headers }) =>
        endpoint === "resource" && !headers.has("Authorization")
          ? new Response(null, init)
          : undefined,
    }, init === challenge]),
  ];
  await eachRowInTurn(rows, async ([options, isRequired]) => {
    const servers = createTestServers(options);
    const { resource, fetch, receiver } = servers;
    const authorize = codeFlow(receiver);
    const api = createAuthorizedFetch(resource, { fetch, flow: authorize });
    if (isRequired) await pinRejected(() => api(resource), "unsupported");
    else assertEquals((await api(resource)).status, 200);
    assertEquals(servers.received("registration").length, isRequired ? 0 : 1);
  });
  const { resource, issuer } = createTestServers();
  const context = {
    resource,
    resourceMetadata: { resource, ...metadata },
    serverMetadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      response_types_supported: ["code"],
    },
  };
  const client = { issuer, client_id: "c" };
  const start = (dpop?: Dpop) =>
    startAuthorization(context, {
      client,
      redirectUri: REDIRECT_URI,
      assumePkce: true,
      dpop,
    });
  await pinRejected(() => start(), "unsupported");
  const { url } = await start(await createDpop());
  assertEquals(url.searchParams.has("dpop_jkt"), true);
});
