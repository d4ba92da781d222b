/**
 * Cross-app access: an identity provider issues an ID-JAG, which another server
 * accepts for a token.
 */
import { assertEquals } from "@std/assert";
import { fetchIdJag, getClaimsFromJWT, redeemIdJag } from "../../mod.ts";
import { statusFor } from "../servers/_flow.ts";
import { startCrossApp } from "../servers/cross_app_access.ts";

Deno.test("a client gets from an ID token to a 200 with an ID-JAG", async () => {
  await using servers = await startCrossApp();
  const { idpMetadata, idpClient, context, client, idp, server } = servers;
  const { resource, scopes, serverMetadata } = context;
  const idJag = await fetchIdJag(idpMetadata, {
    client: idpClient,
    subjectToken: await servers.signInAtIdp("ada"),
    audience: context.issuer,
    resourceClientId: client.clientId,
    resource,
    scopes,
  });
  assertEquals([idJag.audience, idJag.scope], [server.issuer, "mcp:read"]);
  const { claims } = idJag;
  assertEquals([claims.iss, claims.aud], [idp.issuer, server.issuer]);
  assertEquals([claims.sub, claims.client_id], ["ada", client.clientId]);

  // Until it expires, the ID-JAG can be used again like a refresh token.
  for (const _ of [1, 2]) {
    const options = { client, resource, scopes };
    const token = await redeemIdJag(serverMetadata, idJag, options);
    assertEquals(token.refresh_token, undefined);
    const { sub, iss } = getClaimsFromJWT(token.access_token);
    assertEquals([sub, iss], ["ada", server.issuer]);
    assertEquals(await statusFor(resource, token), 200);
  }
});
