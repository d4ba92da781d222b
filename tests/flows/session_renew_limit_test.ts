/** A program that calls renew() for each 401 comes to an end. */

import { assertEquals } from "@std/assert";
import { codeFlow, createAuthorizedFetch } from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { pinRejected } from "../support/fixtures.ts";

Deno.test("renew() refreshes three times in vain, then rejects until signIn()", async () => {
  const servers = createTestServers();
  const { resource, fetch, now, receiver } = servers;
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { fetch, now, flow: authorize });
  await api(resource);
  servers.intercept = ({ endpoint }) =>
    endpoint === "resource" ? new Response(null, { status: 401 }) : undefined;
  const refused = () => fetch(resource);
  const refreshes = () => servers.received("token", "refresh_token").length;
  for (let count = 1; count <= 3; count++) {
    await api.renew(await refused());
    assertEquals(refreshes(), count);
  }
  await pinRejected(
    async () => await api.renew(await refused()),
    "sign_in_required",
  );
  assertEquals(refreshes(), 3);
});
