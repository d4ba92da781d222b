/** What a failed refresh does to the session: the table of adviceFor(). */
import { assertEquals } from "@std/assert";
import { createAuthorizedFetch } from "../../mod.ts";
import { startSessionServers } from "../servers/session_servers.ts";

for (
  const { error, registrations, client } of [
    { error: "unauthorized_client", registrations: 1, client: "another" },
    { error: "invalid_client", registrations: 1, client: "another" },
    { error: "invalid_grant", registrations: 0, client: "the same" },
    { error: "interaction_required", registrations: 0, client: "the same" },
    { error: "invalid_scope", registrations: 0, client: "the same" },
  ]
) {
  Deno.test(`createAuthorizedFetch() signs in with ${client} client when a refresh fails with ${error}`, async () => {
    await using servers = startSessionServers();
    const api = createAuthorizedFetch(servers.resource, {
      authorize: servers.flow(),
    });
    await api.authorize();
    servers.tokens.clear();
    servers.visits.length = servers.requests.length = 0;
    servers.server = ({ path, body }) =>
      path === "/token" && body.includes("grant_type=refresh_token")
        ? Response.json({ error }, { status: 400 })
        : undefined;
    const response = await api(servers.resource);
    await response.body?.cancel();
    assertEquals(response.status, 200);
    assertEquals(servers.visits.length, 1);
    assertEquals(servers.received("/register").length, registrations);
  });
}

Deno.test("createAuthorizedFetch() uses a token that is still valid when the discovery for the next one meets an outage", async () => {
  await using servers = startSessionServers();
  let now = Date.now();
  let isDown = false;
  const api = createAuthorizedFetch(servers.resource, {
    authorize: servers.flow(),
    now: () => now,
    fetch: (input, init) =>
      isDown && String(input).includes("/.well-known/")
        ? Promise.resolve(new Response(null, { status: 503 }))
        : fetch(input, init),
  });
  await api.authorize();
  servers.server = ({ path, body }) =>
    path === "/token" && body.includes("grant_type=refresh_token")
      ? Response.json({ error: "invalid_scope" }, { status: 400 })
      : undefined;
  isDown = true;
  now += 3_580_000;
  const response = await api(servers.resource);
  await response.body?.cancel();
  assertEquals(response.status, 200);
  assertEquals(servers.visits.length, 1);
});
