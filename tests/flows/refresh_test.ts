/** Refreshing a token at oidc-provider, which rotates refresh tokens. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { isTokenExpired, refreshToken } from "../../mod.ts";
import {
  registerPublicClient,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { assertRejectsCode } from "../support/fixtures.ts";

Deno.test("a client refreshes an expired token, and has both refresh tokens revoked by a second use", async () => {
  await using servers = await startFlowServers();
  const { server, context } = servers;
  const { serverMetadata, resource } = context;
  const client = await registerPublicClient(context);
  const token = await signIn(context, { client });
  const later = token.expires_at! * 1000;
  assert(isTokenExpired(token, { now: () => later }));

  server.requests.length = 0;
  const fresh = await refreshToken(serverMetadata, token, { client });
  assertEquals(server.requests, ["POST /token"]);
  assertNotEquals(fresh.access_token, token.access_token);
  assertNotEquals(fresh.refresh_token, token.refresh_token);
  assertEquals(fresh.scope, token.scope);
  assertEquals(await statusFor(resource, fresh), 200);

  // RFC 9700, section 4.14.2: reuse revokes all refresh tokens of the grant.
  for (const used of [token, fresh]) {
    const failure = await assertRejectsCode(
      () => refreshToken(serverMetadata, used, { client }),
      "oauth_error",
    );
    assertEquals([failure.error, failure.status], ["invalid_grant", 400]);
  }
});
