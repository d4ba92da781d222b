/**
 * The servers for tests, in memory.
 *
 * @module
 */

import { optionsOf } from "./_arguments.ts";
import { networkOf } from "./_network.ts";
import type { TestServers, TestServersOptions } from "./servers.ts";

/**
 * Creates a resource and its authorization server in memory, for the tests of a
 * program. The `fetch` of the result replaces the network; no port is opened. The
 * servers check what real servers check: PKCE with S256, redirect URIs, `resource`,
 * client authentication, and that codes and rotating refresh tokens are used once. A
 * token for the scope `openid` comes with an ID token, and a token request with a DPoP
 * proof gets a token that is bound to its key. Switches make the servers misbehave.
 *
 * PAR and signed client assertions are not supported.
 *
 * @param options How the servers behave; the switches can be changed later.
 * @throws {OAuthClientError} `invalid_argument`: `options` is not an object, or
 * contains an unknown member. Later, `failNext` throws it for an unknown endpoint or
 * fault, and setting an unknown switch throws a `TypeError`.
 *
 * @example Test that a lost refresh response costs no sign-in
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createTestServers } from "@oauth-helper/client/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const servers = createTestServers({ replaySeconds: 30 });
 * const { resource, fetch, now, receiver } = servers;
 * const flow = codeFlow(receiver);
 * const api = createAuthorizedFetch(resource, { fetch, now, flow });
 * await api(resource);
 * servers.advance(3600);
 * servers.failNext("token", "lose_response");
 * assertEquals((await api(resource)).status, 200);
 * assertEquals(servers.received("authorization").length, 1);
 * ```
 */
export function createTestServers(
  options: TestServersOptions = {},
): TestServers {
  const { servers } = networkOf(optionsOf(options));
  // A misspelled switch throws a TypeError.
  return Object.preventExtensions(servers);
}
