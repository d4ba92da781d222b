/**
 * What a pushed authorization request (RFC 9126) carries at oidc-provider, beside that
 * which the steps of `tests/interop` show.
 */
import { assert, assertEquals } from "@std/assert";
import { createRemoteJWKSet, jwtVerify } from "jose";
import {
  checkIdToken,
  codeFlow,
  createAuthorizedFetch,
  getClaimsFromJWT,
} from "../../mod.ts";
import { REDIRECT_URI, startFlowServers, statusFor } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";

Deno.test("codeFlow() pushes authorization details, which a refresh keeps, and checks the ID token", async () => {
  const authorizationDetails = [{
    type: "mcp_tool",
    actions: ["call"],
    identifier: 'search "\u00fc"',
  }];
  await using servers = await startFlowServers({
    requirePar: true,
    detailTypes: ["mcp_tool"],
  });
  const { resource, serverMetadata } = servers.context;
  const visits: URL[] = [];
  let now = Date.now();
  const api = createAuthorizedFetch(resource, {
    now: () => now,
    flow: codeFlow({
      clientMetadata: {
        client_name: "Flow test",
        // The server requires it for clients that request details (RFC 9396, section 10).
        authorization_details_types: ["mcp_tool"],
      },
      redirectUri: REDIRECT_URI,
      visit(url) {
        visits.push(url);
        return createBrowser().authorize(url);
      },
      scopes: ["openid", "offline_access", "mcp:read"],
      authorizationDetails,
    }),
  });
  const { token, client } = await api.signIn();
  assertEquals(
    visits.map(({ searchParams }) => [...searchParams.keys()]),
    [["client_id", "request_uri"]],
  );
  assertEquals(token.authorization_details, authorizationDetails);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals(claims.authorization_details, authorizationDetails);

  // As in the example of checkIdToken().
  const keys = createRemoteJWKSet(new URL(serverMetadata.jwks_uri!));
  const audience = client!.client_id;
  const { payload } = await jwtVerify(token.id_token!, keys, { audience });
  const checked = await checkIdToken(token.id_token!, {
    issuer: serverMetadata.issuer,
    clientId: audience,
    accessToken: token.access_token,
  });
  assertEquals<unknown>(checked, payload);

  now += 3_590_000;
  const { token: fresh } = await api.signIn();
  assert(fresh.access_token !== token.access_token);
  assertEquals(fresh.authorization_details, authorizationDetails);
  assertEquals(await statusFor(resource, fresh), 200);
  assertEquals(visits.length, 1);
});
