import { optionsOf } from "./_arguments.ts";
import { networkOf } from "./_network.ts";
import type { TestServers, TestServersOptions } from "./servers.ts";

/**
 * Creates a resource and its authorization server in memory, for a program's tests. The
 * `fetch` of the result replaces the network; no port is opened.
 *
 * The servers check requests like real servers: PKCE with S256, redirect URIs,
 * `resource`, client authentication, and single use of codes and rotating refresh
 * tokens. The scope `openid` returns an ID token, and a DPoP proof a bound token.
 * Switches make the servers misbehave. PAR and signed client assertions are not
 * supported.
 *
 * @param options How the servers behave; the switches can be changed later.
 * @throws {OAuthClientError} `invalid_argument`: `options` is not an object, or
 * contains an unknown member. Later, `failNext` throws it for an unknown endpoint or
 * fault, and setting an unknown switch throws a `TypeError`.
 *
 * @example Test that a lost refresh response causes no sign-in
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
