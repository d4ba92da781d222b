/**
 * The authorization code flow with PKCE, by the public functions alone, from
 * a `401` of a protected resource to its `200`, against oidc-provider.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  createPkcePair,
  createState,
  discoverAuthorization,
  fetchToken,
  findChallenge,
  getClaimsFromJWT,
  isTokenExpired,
  mergeScopes,
  missingScopes,
  parseAuthorizationResponse,
  registerClient,
  selectClient,
  selectClientAuthentication,
} from "../../mod.ts";
import {
  discoverFrom,
  REDIRECT_URI,
  registerPublicClient,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { createBrowser } from "../servers/browser.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

for (const path of ["", "/tenant1"]) {
  Deno.test(`discoverAuthorization() leads from a 401 to a 200 at oidc-provider, issuer path "${path}"`, async () => {
    await using server = await startAuthorizationServer({ path });
    await using protectedResource = startProtectedResource({
      authorizationServers: [server.issuer],
      scopes: ["mcp:write", "mcp:read"],
    });
    const { resource } = protectedResource;

    const challenge = await fetch(resource);
    await challenge.body?.cancel();
    const context = await discoverAuthorization(resource, { challenge });
    const { serverMetadata, scopes } = context;
    assertEquals(context.issuer, server.issuer);
    assertEquals(context.source, "resource_metadata");
    assertEquals(context.resource, resource);
    assertEquals(scopes, ["mcp:write", "mcp:read"]);
    const failed = context.attempts.filter(({ error }) => error);
    assertEquals(failed.length, path === "" ? 0 : 2);

    assertEquals(selectClient(serverMetadata, {}), { kind: "register" });
    const registration = await registerClient(serverMetadata, {
      client_name: "Flow test",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    });
    const known = { ...registration, issuer: context.issuer };
    const selection = selectClient(serverMetadata, { knownClients: [known] });
    assert(selection.kind === "known_client");
    const client = selectClientAuthentication(serverMetadata, selection.client);
    assertEquals(client.method, "none");

    const { codeVerifier, codeChallenge } = await createPkcePair();
    const state = createState();
    const url = buildAuthorizationUrl(serverMetadata, {
      clientId: client.clientId,
      redirectUri: REDIRECT_URI,
      state,
      codeChallenge,
      scopes,
      resource: context.resource,
    });
    assertEquals(url.origin + url.pathname, `${server.issuer}/auth`);
    const callback = await createBrowser().authorize(url);
    assertEquals(callback.origin + callback.pathname, REDIRECT_URI);
    assertEquals(callback.searchParams.get("iss"), server.issuer);
    assertEquals(
      serverMetadata.authorization_response_iss_parameter_supported,
      true,
    );

    const { code } = parseAuthorizationResponse(callback, {
      state,
      serverMetadata,
    });
    const token = await fetchToken(
      serverMetadata,
      buildAuthorizationCodeBody({
        code,
        redirectUri: REDIRECT_URI,
        codeVerifier,
        resource: context.resource,
      }),
      { client },
    );
    assertEquals(token.token_type, "Bearer");
    assertEquals(missingScopes(scopes, token.scope), []);
    assertMatch(token.refresh_token ?? "", /./);
    assertEquals(isTokenExpired(token), false);
    const lifetime = token.expires_at! - Date.now() / 1000;
    assert(lifetime > 3590 && lifetime <= 3600);
    const claims = getClaimsFromJWT(token.access_token);
    assertEquals([claims.aud, claims.sub], [resource, "alice"]);

    const answer = await fetch(resource, {
      headers: { Authorization: `Bearer ${token.access_token}` },
    });
    assertEquals(answer.status, 200);
    assertEquals((await answer.json()).claims.sub, "alice");
  });
}

Deno.test("buildAuthorizationUrl() asks for a token of one resource, of no use at another", async () => {
  await using servers = await startFlowServers();
  const { server, context } = servers;
  await using other = startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
  });
  const client = await registerPublicClient(context);
  const browser = createBrowser();
  const token = await signIn(context, { client, browser });
  const otherContext = await discoverFrom(other.resource);
  // The user has signed in at this server already, and only consents.
  const otherToken = await signIn(otherContext, { client, browser });

  for (
    const [{ access_token }, resource, elsewhere] of [
      [token, context.resource, other.resource],
      [otherToken, other.resource, context.resource],
    ] as const
  ) {
    assertEquals(getClaimsFromJWT(access_token).aud, resource);
    assertEquals(await statusFor(resource, { access_token }), 200);
    assertEquals(await statusFor(elsewhere, { access_token }), 401);
  }
});

Deno.test("mergeScopes() leads from a 403 to a 200 by a second sign-in", async () => {
  await using servers = await startFlowServers({}, {
    scopes: ["mcp:read", "mcp:write"],
  });
  const { resource } = servers.context;
  const client = await registerPublicClient(servers.context);
  const browser = createBrowser();
  const token = await signIn(servers.context, {
    client,
    browser,
    scopes: ["mcp:read"],
  });
  const refused = await fetch(resource, {
    headers: { Authorization: `Bearer ${token.access_token}` },
  });
  await refused.body?.cancel();
  assertEquals(refused.status, 403);
  const { error, scope } = findChallenge(refused)?.params ?? {};
  assertEquals(error, "insufficient_scope");
  assertEquals(missingScopes(scope, token.scope), ["mcp:write"]);
  const scopes = mergeScopes(token.scope, scope);
  const wider = await signIn(servers.context, { client, browser, scopes });
  assertEquals(await statusFor(resource, wider), 200);
});
