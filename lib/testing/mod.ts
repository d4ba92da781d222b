/**
 * Servers for the tests of programs that use OAuth. {@linkcode createTestServers}
 * creates a resource and its authorization server in memory, behind one `fetch`. They
 * come with a user who signs in, a clock, and switches for faults of servers.
 * {@linkcode startTestServers} starts the same servers on loopback. Both log every
 * request.
 *
 * @example Test a sign-in that the user declines
 * ```ts
 * import {
 *   codeFlow,
 *   createAuthorizedFetch,
 *   isOAuthClientError,
 * } from "@oauth-helper/client";
 * import { createTestServers } from "@oauth-helper/client/testing";
 * import { assert, assertEquals, assertRejects } from "@std/assert";
 *
 * const servers = createTestServers({ user: "refuses" });
 * const api = createAuthorizedFetch(servers.resource, {
 *   fetch: servers.fetch,
 *   flow: codeFlow(servers.receiver),
 * });
 * const error = await assertRejects(() => api(servers.resource));
 * assert(isOAuthClientError(error));
 * assertEquals(error.error, "access_denied");
 * ```
 *
 * @module
 */

export * from "./create_test_servers.ts";
export * from "./request.ts";
export * from "./servers.ts";
export * from "./start_test_servers.ts";
export * from "./switches.ts";

// The type in a signature above.
