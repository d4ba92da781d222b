/**
 * Cross-app access: an identity provider signs the user in and makes an ID-JAG,
 * another server takes it. And workloads, which bring an assertion of their own.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  buildJwtBearerBody,
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  discoverAuthorizationServer,
  fetchIdJag,
  fetchToken,
  getClaimsFromJWT,
  type IFetchIdJagOptions,
  OAuthClientError,
  redeemIdJag,
} from "../../mod.ts";
import {
  discoverFrom,
  REDIRECT_URI,
  signIn,
  statusFor,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import {
  createSigner,
  startIdentityProvider,
  startRedeemingServer,
  type TrustedSigners,
} from "../servers/cross_app_access.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

function newClient(id: string) {
  return { id, secret: crypto.randomUUID(), redirectUri: REDIRECT_URI };
}

/** The company's identity provider, somebody's server, and its resource. */
async function startCrossApp({ dpop = false } = {}) {
  await using started = new AsyncDisposableStack();
  const [atIdp, atServer] = [newClient("app-at-idp"), newClient("app-at-as")];
  const clientIds = new Map<string, string>();
  const trusted: TrustedSigners = new Map();
  const idp = started.use(await startIdentityProvider(atIdp, clientIds));
  const server = started.use(await startRedeemingServer(atServer, trusted));
  const protectedResource = started.use(startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
    dpop,
  }));
  clientIds.set(server.issuer, atServer.id);
  trusted.set(idp.issuer, { signer: idp.signer, typ: "oauth-id-jag+jwt" });
  const context = await discoverFrom(protectedResource.resource);
  const idpContext = await discoverAuthorizationServer(idp.issuer);
  const running = started.move();
  return {
    idp,
    server,
    trusted,
    context,
    idpContext,
    idpClient: clientSecretBasic(atIdp.id, atIdp.secret, {
      issuer: idp.issuer,
    }),
    client: clientSecretPost(atServer.id, atServer.secret, {
      issuer: server.issuer,
    }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type CrossApp = Awaited<ReturnType<typeof startCrossApp>>;

/** What an ID-JAG is asked for with, after the user has signed in. */
async function prepareIdJag(
  { idpContext, idpClient, context }: CrossApp,
): Promise<IFetchIdJagOptions> {
  const { id_token = "" } = await signIn(idpContext, {
    client: idpClient,
    browser: createBrowser({ login: "ada" }),
    scopes: ["openid"],
  });
  return {
    client: idpClient,
    subjectToken: id_token,
    audience: context.issuer,
    resource: context.resource,
    scopes: context.scopes,
  };
}

Deno.test("fetchIdJag() and redeemIdJag() lead from an ID token to a 200", async () => {
  await using servers = await startCrossApp();
  const { idpContext, context, client, idp, server } = servers;
  const { resource, scopes, serverMetadata } = context;
  const options = await prepareIdJag(servers);
  const idJag = await fetchIdJag(idpContext.serverMetadata, {
    ...options,
    resourceClientId: client.clientId,
  });
  assertEquals(idJag.audience, server.issuer);
  assertEquals(idJag.scope, "mcp:read");
  const { claims } = idJag;
  assertEquals(claims.iss, idp.issuer);
  assertEquals([claims.sub, claims.client_id], ["ada", client.clientId]);
  assertEquals([claims.aud, claims.resource], [server.issuer, resource]);

  const redeem = () =>
    redeemIdJag(serverMetadata, idJag, { client, resource, scopes });
  const token = await redeem();
  assertEquals(token.token_type, "Bearer");
  assertEquals(token.refresh_token, undefined);
  const granted = getClaimsFromJWT(token.access_token);
  assertEquals([granted.sub, granted.aud], ["ada", resource]);
  assertEquals(granted.iss, server.issuer);
  assertEquals(await statusFor(resource, token), 200);
  // Until it has expired it stands in for a refresh token.
  const again = await redeem();
  assertEquals(await statusFor(resource, again), 200);
});

Deno.test("fetchIdJag() and redeemIdJag() keep to the key of the caller", async () => {
  await using servers = await startCrossApp({ dpop: true });
  const { idpContext, context, client } = servers;
  const { resource, scopes, serverMetadata } = context;
  const dpop = await createDpop();
  const options = await prepareIdJag(servers);
  const idp = idpContext.serverMetadata;
  const idJag = await fetchIdJag(idp, { ...options, dpop });
  const token = await redeemIdJag(serverMetadata, idJag, {
    client,
    dpop,
    resource,
    scopes,
  });
  assertEquals(token.token_type, "DPoP");
  const { access_token: accessToken } = token;
  const headers = await dpop.createHeaders({
    method: "GET",
    url: resource,
    accessToken,
  });
  const response = await fetch(resource, { headers });
  await response.body?.cancel();
  assertEquals(response.status, 200);

  const failure = await assertRejects(
    () => redeemIdJag(serverMetadata, idJag, { client, resource, scopes }),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_grant");
  servers.idp.claims = { cnf: undefined };
  const unbound = await assertRejects(
    () => fetchIdJag(idp, { ...options, dpop }),
    OAuthClientError,
  );
  assertEquals(unbound.code, "invalid_id_jag");
});

Deno.test("fetchIdJag() tells what the identity provider asks of the user", async () => {
  await using servers = await startCrossApp();
  const { idp, idpContext } = servers;
  const options = await prepareIdJag(servers);
  idp.answer = {
    error: "insufficient_user_authentication",
    max_age: 60,
    acr_values: "phishing-resistant",
  };
  const failure = await assertRejects(
    () => fetchIdJag(idpContext.serverMetadata, options),
    OAuthClientError,
  );
  assertEquals(failure.code, "oauth_error");
  assertEquals(failure.errorResponse, idp.answer);
  assert(!JSON.stringify(failure).includes(options.subjectToken));
});

Deno.test("fetchIdJag() tells that the identity provider refuses", async () => {
  await using servers = await startCrossApp();
  const { serverMetadata } = servers.idpContext;
  const options = await prepareIdJag(servers);
  const refused = async (changes: Partial<IFetchIdJagOptions>) =>
    (await assertRejects(
      () => fetchIdJag(serverMetadata, { ...options, ...changes }),
      OAuthClientError,
    )).error;
  const audience = "https://as.example";
  assertEquals(await refused({ audience }), "invalid_target");
  const subjectToken = `${options.subjectToken.slice(0, -9)}AAAAAAAAA`;
  assertEquals(await refused({ subjectToken }), "invalid_grant");
  const subjectTokenType = "urn:ietf:params:oauth:token-type:saml2";
  assertEquals(await refused({ subjectTokenType }), "invalid_request");
  const client = clientSecretBasic(options.client!.clientId, "another");
  assertEquals(await refused({ client }), "invalid_client");
});

const wrongAnswers: [
  what: string,
  claims: Record<string, unknown>,
  answer: Record<string, unknown>,
][] = [
  ["another audience", { aud: "https://as.example" }, {}],
  ["another client", { client_id: "somebody" }, {}],
  ["another resource", { resource: "https://api.example/" }, {}],
  ["no subject", { sub: "" }, {}],
  ["an end in the past", { exp: 1 }, {}],
  ["another token type", {}, { token_type: "Bearer" }],
  ["another issued token type", {}, { issued_token_type: "urn:other" }],
];

for (const [what, claims, answer] of wrongAnswers) {
  Deno.test(`fetchIdJag() refuses an ID-JAG with ${what}`, async () => {
    await using servers = await startCrossApp();
    const { idp, idpContext, client } = servers;
    Object.assign(idp, { claims, answer });
    const options = await prepareIdJag(servers);
    const failure = await assertRejects(
      () =>
        fetchIdJag(idpContext.serverMetadata, {
          ...options,
          resourceClientId: client.clientId,
        }),
      OAuthClientError,
    );
    assertEquals(failure.code, "invalid_id_jag");
  });
}

Deno.test("redeemIdJag() sends an ID-JAG to nobody else", async () => {
  await using servers = await startCrossApp();
  const { idpContext, context, client, idpClient, server } = servers;
  const options = await prepareIdJag(servers);
  const idJag = await fetchIdJag(idpContext.serverMetadata, options);
  server.requests.length = 0;
  servers.idp.requests.length = 0;
  const late = () => idJag.expires_at * 1000;
  const stranger = clientSecretPost("somebody", "s3cret");
  for (
    const [code, metadata, redeemOptions] of [
      ["issuer_mismatch", idpContext.serverMetadata, { client: idpClient }],
      ["invalid_id_jag", context.serverMetadata, { client: stranger }],
      ["invalid_id_jag", context.serverMetadata, { client, now: late }],
    ] as const
  ) {
    const failure = await assertRejects(
      () => redeemIdJag(metadata, idJag, redeemOptions),
      OAuthClientError,
    );
    assertEquals(failure.code, code);
    assert(!JSON.stringify(failure).includes(idJag.assertion));
  }
  assertEquals([server.requests, servers.idp.requests], [[], []]);
});

Deno.test("redeemIdJag() tells that the server no longer trusts the provider", async () => {
  await using servers = await startCrossApp();
  const { idpContext, context, client, trusted } = servers;
  const options = await prepareIdJag(servers);
  const idJag = await fetchIdJag(idpContext.serverMetadata, options);
  trusted.clear();
  const failure = await assertRejects(
    () => redeemIdJag(context.serverMetadata, idJag, { client }),
    OAuthClientError,
  );
  assertEquals([failure.code, failure.error], [
    "oauth_error",
    "invalid_grant",
  ]);
});

Deno.test("buildJwtBearerBody() leads from a workload's identity to a 200", async () => {
  await using servers = await startCrossApp();
  const { context, client, server, trusted } = servers;
  const { resource, scopes, serverMetadata } = context;
  const platform = await createSigner("https://platform.example");
  trusted.set(platform.issuer, { signer: platform, typ: "JWT" });
  const sub = "spiffe://platform.example/agent";
  const sign = (aud: string) => platform.sign("JWT", { sub, aud });
  const body = async (aud: string) =>
    buildJwtBearerBody({ assertion: await sign(aud), resource, scopes });

  const token = await fetchToken(serverMetadata, await body(server.issuer), {
    client,
  });
  assertEquals(getClaimsFromJWT(token.access_token).sub, sub);
  assertEquals(await statusFor(resource, token), 200);

  const wrong = await body("https://as.example");
  const failure = await assertRejects(
    () => fetchToken(serverMetadata, wrong, { client }),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_grant");
  assert(!failure.message.includes(wrong.get("assertion")!));
});
