/** What a failed refresh does to the session: the table of adviceFor(). */
import { assertEquals, assertRejects } from "@std/assert";
import { createAuthorizedFetch, OAuthClientError } from "../../mod.ts";
import { startSessionServers } from "../servers/session_servers.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";

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
    await using servers = await startSessionServers();
    const api = createAuthorizedFetch(servers.resource, {
      authorize: servers.flow(),
    });
    await within(LIMIT_MS, api.authorize());
    servers.revoke();
    servers.visits.length = servers.requests.length = 0;
    servers.server = ({ path, body }) =>
      path === "/token" && body.includes("grant_type=refresh_token")
        ? Response.json({ error }, { status: 400 })
        : undefined;
    assertEquals(await statusOf(api(servers.resource)), 200);
    assertEquals(servers.visits.length, 1);
    assertEquals(servers.received("/register").length, registrations);
  });
}

Deno.test("createAuthorizedFetch() throws what authorize throws, also while the token is still valid", async () => {
  await using servers = await startSessionServers();
  let now = Date.now();
  let isWilling = true;
  const flow = servers.flow();
  const refusal = new Error("not now");
  const api = createAuthorizedFetch(servers.resource, {
    authorize: (request) => isWilling ? flow(request) : Promise.reject(refusal),
    now: () => now,
  });
  await within(LIMIT_MS, api.authorize());
  servers.server = ({ path }) =>
    path === "/token"
      ? Response.json({ error: "invalid_scope" }, { status: 400 })
      : undefined;
  isWilling = false;
  now += 3_580_000;
  const call = within(LIMIT_MS, api(servers.resource));
  assertEquals(await assertRejects(() => call), refusal);
});

for (
  const [name, respond] of [
    ["bad_refresh_token", () => Response.json({ error: "bad_refresh_token" })],
    ["a 400 without a body", () => new Response(null, { status: 400 })],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() uses a refresh token no more after ${name}, also when the user does not sign in`, async () => {
    await using servers = await startSessionServers();
    let isWilling = true;
    const flow = servers.flow();
    const api = createAuthorizedFetch(servers.resource, {
      authorize: (request) =>
        isWilling ? flow(request) : Promise.reject(new Error("not now")),
    });
    await within(LIMIT_MS, api.authorize());
    servers.revoke();
    servers.server = ({ path, body }) =>
      path === "/token" && body.includes("grant_type=refresh_token")
        ? respond()
        : undefined;
    isWilling = false;
    for (let calls = 0; calls < 2; calls++) {
      const call = within(LIMIT_MS, api(servers.resource));
      await assertRejects(() => call, Error, "not now");
    }
    assertEquals(servers.grants("refresh_token").length, 1);
  });
}

for (
  const [name, respond] of [
    ["a 404", () => new Response("<h1>gone", { status: 404 })],
    ["a 403 of a firewall", () => new Response("no", { status: 403 })],
    ["a 401 without a body", () => new Response(null, { status: 401 })],
    ["a redirect", () => Response.redirect("https://as.example/token", 301)],
    ["a page", () => new Response("<html>")],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() signs in with the same client when a refresh fails with ${name}`, async () => {
    await using servers = await startSessionServers();
    const api = createAuthorizedFetch(servers.resource, {
      authorize: servers.flow(),
    });
    const { client } = await within(LIMIT_MS, api.authorize());
    servers.revoke();
    servers.visits.length = servers.requests.length = 0;
    servers.server = ({ path, body }) =>
      path === "/token" && body.includes("grant_type=refresh_token")
        ? respond()
        : undefined;
    assertEquals(await statusOf(api(servers.resource)), 200);
    assertEquals(servers.visits.length, 1);
    assertEquals((await api.session())!.client, client);
  });
}

for (
  const [status, error] of [
    [408, undefined],
    [425, undefined],
    [429, undefined],
    [429, "invalid_client"],
    [503, "invalid_grant"],
  ] as const
) {
  const what = error ? `${status} and ${error}` : status;
  Deno.test(`createAuthorizedFetch() keeps the session when a refresh fails with a ${what}`, async () => {
    await using servers = await startSessionServers();
    const api = createAuthorizedFetch(servers.resource, {
      authorize: servers.flow(),
    });
    const session = await within(LIMIT_MS, api.authorize());
    servers.revoke();
    servers.server = () =>
      error
        ? Response.json({ error }, { status })
        : new Response(null, { status });
    await assertRejects(
      () => within(LIMIT_MS, api(servers.resource)),
      OAuthClientError,
      String(status),
    );
    assertEquals(await api.session(), session);
    assertEquals(servers.visits.length, 1);
  });
}

Deno.test("createAuthorizedFetch() uses a token that is still valid when the discovery for the next one meets an outage", async () => {
  await using servers = await startSessionServers();
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
  await within(LIMIT_MS, api.authorize());
  servers.server = ({ path, body }) =>
    path === "/token" && body.includes("grant_type=refresh_token")
      ? Response.json({ error: "invalid_scope" }, { status: 400 })
      : undefined;
  isDown = true;
  now += 3_580_000;
  assertEquals(await statusOf(api(servers.resource)), 200);
  assertEquals(servers.visits.length, 1);
});
