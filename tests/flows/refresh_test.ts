/** Refreshing a token at oidc-provider, which rotates refresh tokens. */
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import {
  createSingleFlight,
  getClaimsFromJWT,
  isTokenExpired,
  type IToken,
  missingScopes,
  OAuthClientError,
  refreshToken,
} from "../../mod.ts";
import {
  registerPublicClient,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";

async function assertInvalidGrant(refresh: () => Promise<unknown>) {
  const failure = await assertRejects(refresh, OAuthClientError);
  assertEquals(failure.code, "oauth_error");
  assertEquals([failure.error, failure.status], ["invalid_grant", 400]);
}

Deno.test("refreshToken() gets a new pair of tokens, and the old one is void", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata, resource } = servers.context;
  const client = await registerPublicClient(servers.context);
  const token = await signIn(servers.context, { client });
  const later = token.expires_at! * 1000;
  assert(isTokenExpired(token, { now: () => later }));

  const fresh = await refreshToken(serverMetadata, token, { client });
  assertNotEquals(fresh.access_token, token.access_token);
  assertNotEquals(fresh.refresh_token, token.refresh_token);
  assertEquals(fresh.scope, token.scope);
  assertEquals(getClaimsFromJWT(fresh.access_token).aud, resource);
  assertEquals(await statusFor(resource, fresh), 200);

  await assertInvalidGrant(() =>
    refreshToken(serverMetadata, token, { client })
  );
  // RFC 9700, 4.14.2: a second use makes the server revoke the whole family.
  await assertInvalidGrant(() =>
    refreshToken(serverMetadata, fresh, { client })
  );
});

Deno.test("refreshToken() can narrow the scopes, and never widen them", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata, resource } = servers.context;
  const client = await registerPublicClient(servers.context);
  const token = await signIn(servers.context, {
    client,
    scopes: ["mcp:read", "mcp:write"],
  });
  const narrow = await refreshToken(serverMetadata, token, {
    client,
    resource,
    scopes: ["mcp:read"],
  });
  assertEquals(missingScopes(token.scope, narrow.scope), ["mcp:write"]);
  assertEquals(getClaimsFromJWT(narrow.access_token).scope, "mcp:read");
  const failure = await assertRejects(
    () =>
      refreshToken(serverMetadata, narrow, {
        client,
        scopes: ["mcp:read", "openid"],
      }),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_scope");
});

Deno.test("createSingleFlight() refreshes once for callers at the same time", async () => {
  await using servers = await startFlowServers();
  const { server, context } = servers;
  const { serverMetadata, resource, issuer } = context;
  const client = await registerPublicClient(context);
  const token = await signIn(context, { client });
  server.requests.length = 0;
  const singleFlight = createSingleFlight<IToken>();
  const refresh = () =>
    singleFlight(issuer, () => refreshToken(serverMetadata, token, { client }));
  const [first, second] = await Promise.all([refresh(), refresh()]);
  assertEquals(first, second);
  assertEquals(server.requests, ["POST /token"]);
  assertEquals(await statusFor(resource, first), 200);
});
