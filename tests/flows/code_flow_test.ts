/** The authorization code flow with PKCE at oidc-provider. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  createPkcePair,
  createState,
  discoverAuthorization,
  fetchToken,
  getClaimsFromJWT,
  type IAuthorizationContext,
  isTokenExpired,
  missingScopes,
  parseAuthorizationResponse,
  registerClient,
  selectClient,
} from "../../mod.ts";
import {
  REDIRECT_URI,
  registerPublicClient,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { createBrowser } from "../servers/browser.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";
import { assertThrowsCode } from "../support/fixtures.ts";

Deno.test("a client gets from a 401 to a 200 with registration, PKCE and a code", async () => {
  await using server = await startAuthorizationServer({ path: "/tenant1" });
  await using protectedResource = startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:write", "mcp:read"],
  });
  const { resource } = protectedResource;

  const challenge = await fetch(resource);
  await challenge.body?.cancel();
  const context = await discoverAuthorization(resource, { challenge });
  const { serverMetadata, scopes, issuer } = context;
  assertEquals([issuer, context.resource], [server.issuer, resource]);
  assertEquals(context.source, "resource_metadata");
  assertEquals(scopes, ["mcp:write", "mcp:read"]);
  // oidc-provider publishes its metadata after the path of the issuer only.
  const failed = context.attempts.filter(({ error }) => error);
  assertEquals(failed.length, 2);

  assertEquals(selectClient(serverMetadata, {}), { kind: "register" });
  const registration = await registerClient(serverMetadata, {
    client_name: "Flow test",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  });
  const knownClients = [{ ...registration, issuer }];
  const selection = selectClient(serverMetadata, { knownClients });
  assert(selection.kind === "known_client");
  const { client } = selection;
  assertEquals(client.token_endpoint_auth_method, "none");

  const { codeVerifier, codeChallenge } = await createPkcePair();
  const state = createState();
  const redirectUri = REDIRECT_URI;
  const url = buildAuthorizationUrl(serverMetadata, {
    clientId: client.client_id,
    redirectUri,
    state,
    codeChallenge,
    scopes,
    resource,
  });
  assertEquals(url.origin + url.pathname, `${server.issuer}/auth`);
  const callback = await createBrowser().authorize(url);
  assertEquals(callback.searchParams.get("iss"), server.issuer);
  const expected = { state, serverMetadata };
  const { code } = parseAuthorizationResponse(callback, expected);
  const token = await fetchToken(
    serverMetadata,
    buildAuthorizationCodeBody({ code, redirectUri, codeVerifier, resource }),
    { client },
  );
  assertEquals(token.token_type, "Bearer");
  assertEquals(missingScopes(scopes, token.scope), []);
  assertMatch(token.refresh_token ?? "", /./);
  assertEquals(isTokenExpired(token), false);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals([claims.aud, claims.sub], [resource, "alice"]);
  assertEquals(await statusFor(resource, token), 200);
});

/** Returns an authorization request, and what its response must contain. */
async function prepareRequest(context: IAuthorizationContext) {
  const { serverMetadata, scopes, resource } = context;
  const { client_id: clientId } = await registerPublicClient(context);
  const { codeChallenge } = await createPkcePair();
  const state = createState();
  const url = buildAuthorizationUrl(serverMetadata, {
    clientId,
    redirectUri: REDIRECT_URI,
    state,
    codeChallenge,
    scopes,
    resource,
  });
  return { url, expected: { state, serverMetadata } };
}

Deno.test("a client rejects the response of another server (RFC 9207)", async () => {
  await using servers = await startFlowServers();
  await using attacker = await startFlowServers();
  const { url, expected: { state } } = await prepareRequest(attacker.context);
  const { serverMetadata } = servers.context;
  for (const deny of [false, true]) {
    const callback = await createBrowser({ deny }).authorize(url);
    assertEquals(callback.searchParams.has("error"), deny);
    // The client expects a response of the first server.
    const failure = assertThrowsCode(
      () => parseAuthorizationResponse(callback, { state, serverMetadata }),
      "issuer_mismatch",
    );
    assertEquals(failure.error, undefined);
  }
});
