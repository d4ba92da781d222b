/** `logout --client` and `logout --browser`, at oidc-provider. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import type { AuthorizationServerOptions } from "../servers/authorization_server.ts";
import { createBrowser } from "../servers/browser.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { type Desk, test } from "./_desk.ts";

async function signedIn(
  desk: Desk,
  options: AuthorizationServerOptions = {},
  args: string[] = [],
) {
  const servers = await startFlowServers(options);
  const { server, protectedResource: { resource: url } } = servers;
  const login = await desk.signIn(["login", ...args, url]);
  assertEquals(login.code, 0, login.output);
  const [{ session: { client, token } } = { session: {} }] = await desk
    .sessions();
  const isKnown = async () =>
    await server.provider.Client.find(client.client_id) !== undefined;
  server.requests.length = 0;
  return {
    server,
    url,
    client,
    token,
    isKnown,
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

test("logout says that the server has not revoked its JWT, and until when that is valid", async (desk) => {
  await using world = await signedIn(desk);
  const { url, token } = world;
  const { code, errors } = await desk.run(["logout", url]);
  assertEquals(code, 0, errors);
  const expiry = new Date(token.expires_at * 1_000).toISOString();
  const [, revoked, kept = ""] =
    /revoked (.*)\. The server has not revoked (.*)\./.exec(errors) ?? [];
  assertEquals(revoked, "the refresh token");
  assertMatch(kept, /^the access token, which expires in \d+ min/);
  assertStringIncludes(kept, `(${expiry.replace(".000", "")})`);
  // What logout has to say is true: the API still accepts the token.
  const headers = { Authorization: `Bearer ${token.access_token}` };
  const response = await fetch(url, { headers });
  await response.body?.cancel();
  assertEquals(response.status, 200);
});

test("logout also ends a session that another process saves meanwhile", async (desk) => {
  await using world = await signedIn(desk);
  const { server, url } = world;
  const [kept] = await desk.sessions();
  server.provider.once("refresh_token.destroyed", () => {
    const token = { ...kept!.session.token, refresh_token: "another" };
    const session = { ...kept!.session, token };
    Deno.writeTextFileSync(kept!.path, JSON.stringify(session));
  });
  const { code, errors } = await desk.run(["logout", url]);
  assertEquals([code, await desk.sessions()], [0, []], errors);
  // The tokens of both.
  assertEquals(server.requests, Array(4).fill("POST /token/revocation"));
});

test("logout --client deletes the client that login has registered, which status shows", async (desk) => {
  await using world = await signedIn(desk);
  const { url, client, isKnown, server } = world;
  const status = await desk.run(["status"]);
  assertStringIncludes(status.output, "can be deleted: logout --client");
  const [row] = JSON.parse((await desk.run(["status", "--json"])).output);
  assertEquals(row.can_delete_client, true);
  const run = await desk.run(["logout", "--client", url]);
  assertEquals([run.code, await desk.sessions()], [0, []], run.errors);
  assertStringIncludes(run.errors, "The client is deleted at the server.");
  assertEquals(server.requests.at(-1), `DELETE /reg/${client.client_id}`);
  assertEquals(await isKnown(), false);
  const secret = client.registration_access_token;
  for (const { output, errors } of [status, run]) {
    assert(!(output + errors).includes(secret));
  }
  // Without the option, the client stays.
  await using other = await signedIn(desk);
  await desk.run(["logout", other.url]);
  assert(await other.isKnown());
});

test("logout --client keeps the session while the client cannot be deleted, unless it is forced", async (desk) => {
  for (const isForced of [false, true]) {
    let isDown = true;
    await using world = await signedIn(desk, {
      before({ method }, response) {
        if (isDown && method === "DELETE") response.writeHead(503).end();
      },
    });
    const { url, isKnown } = world;
    const args = ["logout", "--client", url];
    const run = await desk.run(isForced ? [...args, "--force"] : args);
    assertEquals(run.code, isForced ? 0 : 1, run.errors);
    assertStringIncludes(run.errors, "The client is not deleted");
    assertEquals((await desk.sessions()).length, isForced ? 0 : 1);
    assert(await isKnown());
    if (isForced) continue;
    assertStringIncludes(run.errors, "--force");
    isDown = false;
    const again = await desk.run(args);
    assertEquals([again.code, await desk.sessions()], [0, []], again.errors);
    assertEquals(await isKnown(), false);
  }
});

test("logout --client says why a client of another kind is not deleted", async (desk) => {
  const refuse: AuthorizationServerOptions = {
    before({ method }, response) {
      if (method === "DELETE") response.writeHead(405).end();
    },
  };
  {
    await using world = await signedIn(desk, refuse);
    const run = await desk.run(["logout", "--client", world.url]);
    assertEquals([run.code, await desk.sessions()], [0, []]);
    assertStringIncludes(run.errors, "The client is not deleted: Deletion of");
  }
  await using world = await signedIn(desk);
  await desk.change(({ client }) => delete client.registration_client_uri);
  const status = await desk.run(["status"]);
  assert(!status.output.includes("--client"));
  const run = await desk.run(["logout", "--client", world.url]);
  assertEquals([run.code, await desk.sessions()], [0, []]);
  assertStringIncludes(run.errors, "no registration_client_uri");
  assert(await world.isKnown());
});

test("logout --client claims no deletion at a server that responds with 404 and keeps the client", async (desk) => {
  await using world = await signedIn(desk, { registrationManagement: false });
  const run = await desk.run(["logout", "--client", world.url]);
  assertEquals([run.code, await desk.sessions()], [0, []]);
  assert(await world.isKnown());
  assertStringIncludes(
    run.errors,
    "got 404, and the registration is still there: the server does not delete " +
      "clients.",
  );
  assert(!run.errors.includes("The client is deleted"), run.errors);
});

test("logout --browser opens the page that signs out, without the ID token", async (desk) => {
  await using world = await signedIn(desk, {}, ["--scope=openid mcp:read"]);
  const { url, client, token, server } = world;
  assertEquals(typeof token.id_token, "string");
  const opened = `${desk.home}/opened`;
  const program = `${desk.home}/browser`;
  const script = `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`;
  await Deno.writeTextFile(program, script, { mode: 0o755 });
  const env = { BROWSER: program };
  const run = await desk.start(["logout", "--browser", url], { env }).end();
  assertEquals([run.code, await desk.sessions()], [0, []], run.errors);
  const expected = `${server.issuer}/session/end?client_id=${client.client_id}`;
  assertStringIncludes(run.errors, `open this URL:\n${expected}\n`);
  const read = () => Deno.readTextFile(opened).catch(() => "");
  await until(LIMIT_MS, async () => await read() !== "");
  assertEquals(await read(), expected);
  assertEquals(await createBrowser().activate(expected), "Signed out.");
});

test("logout --browser says why no page is opened, and prints a URL also with --quiet", async (desk) => {
  {
    await using world = await signedIn(desk);
    await desk.change(({ server }) => delete server.end_session_endpoint);
    const run = await desk.run(["logout", "--browser", world.url]);
    assertEquals([run.code, await desk.sessions()], [0, []]);
    assertStringIncludes(run.errors, "has no end_session_endpoint");
  }
  await using world = await signedIn(desk);
  const args = ["logout", "--browser", "--quiet", world.url];
  const { code, errors } = await desk.run(args);
  assertEquals(code, 0);
  assertStringIncludes(errors, "open this URL:\nhttp");
  assertEquals(errors.includes("Signed out"), false);
  const none = await desk.run(args);
  assertEquals([none.code, none.errors], [0, ""]);
});
