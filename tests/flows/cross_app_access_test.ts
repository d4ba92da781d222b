/**
 * Cross-app access: an identity provider issues an ID-JAG, which another server
 * accepts for a token. Also workloads, which have an assertion of their own.
 */
import { assertEquals, assertRejects } from "@std/assert";
import {
  buildJwtBearerBody,
  createDpop,
  fetchIdJag,
  fetchToken,
  getClaimsFromJWT,
  OAuthClientError,
  redeemIdJag,
} from "../../mod.ts";
import { callWithProof, statusFor } from "../servers/_flow.ts";
import { createSigner, startCrossApp } from "../servers/cross_app_access.ts";

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

Deno.test("a client binds an ID-JAG and its token to a key", async () => {
  await using servers = await startCrossApp({ dpop: true });
  const { idpMetadata, idpClient, context, client } = servers;
  const { resource, scopes, serverMetadata } = context;
  const dpop = await createDpop();
  const idJag = await fetchIdJag(idpMetadata, {
    client: idpClient,
    dpop,
    subjectToken: await servers.signInAtIdp("ada"),
    audience: context.issuer,
    resource,
    scopes,
  });
  const options = { client, resource, scopes };
  const token = await redeemIdJag(serverMetadata, idJag, { ...options, dpop });
  assertEquals(token.token_type, "DPoP");
  const { status } = await callWithProof(dpop, resource, token.access_token);
  assertEquals(status, 200);

  const failure = await assertRejects(
    () => redeemIdJag(serverMetadata, idJag, options),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_grant");
});

Deno.test("a workload gets from the assertion of its platform to a 200", async () => {
  await using servers = await startCrossApp();
  const { context, client, server, trusted } = servers;
  const { resource, scopes, serverMetadata } = context;
  const platform = await createSigner("https://platform.example");
  trusted.set(platform.issuer, { signer: platform, typ: "JWT" });
  const sub = "spiffe://platform.example/agent";
  const fetchTokenFor = async (aud: string) => {
    const assertion = await platform.sign("JWT", { sub, aud });
    const body = buildJwtBearerBody({ assertion, resource, scopes });
    return await fetchToken(serverMetadata, body, { client });
  };
  const token = await fetchTokenFor(server.issuer);
  assertEquals(getClaimsFromJWT(token.access_token).sub, sub);
  assertEquals(await statusFor(resource, token), 200);

  const failure = await assertRejects(
    () => fetchTokenFor("https://as.example"),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_grant");
});
