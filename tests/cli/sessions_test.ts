/** Which session a command uses, and what it does where a server refuses or fails. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  startTestServers,
  type TestServersOptions,
} from "../../lib/testing/mod.ts";
import { type Desk, test } from "./_desk.ts";

const API = { resource: "https://api.example/a/mcp" };

async function signedIn(desk: Desk, options: TestServersOptions = API) {
  const servers = await startTestServers(options);
  const { resource: url } = servers;
  const login = await desk.signIn(["login", url]);
  assertEquals(login.code, 0, login.output);
  return { servers, url, [Symbol.asyncDispose]: () => servers.close() };
}

test("token does not print the token of another issuer than --issuer", async (desk) => {
  await using world = await signedIn(desk);
  const [{ session } = {}] = await desk.sessions();
  const client = `--client-id=${session.client.client_id}`;
  for (
    const [issuer, code] of [[session.issuer, 0], ["https://b.example", 3]]
  ) {
    const run = await desk.run([
      "token",
      client,
      `--issuer=${issuer}`,
      world.url,
    ]);
    assertEquals([run.code, run.output !== ""], [code, code === 0]);
  }
});

test("token and headers use the session of the longest resource that covers a URL", async (desk) => {
  await using world = await signedIn(desk);
  const { url } = world;
  const token = (await desk.run(["token", url])).output;
  for (const below of [`${url}/x`, `${url}/x/y?z`]) {
    assertEquals((await desk.run(["token", below])).output, token);
    const headers = await desk.run(["headers", "--lines", below]);
    assertEquals(headers.output, `Authorization: Bearer ${token}`);
  }
  // Renewed where it is kept.
  await desk.change();
  const renewed = await desk.run(["token", `${url}/x`]);
  assertEquals(renewed.code, 0, renewed.errors);
  assertEquals((await desk.sessions()).length, 1);
  assert(renewed.output !== token);

  const elsewhere = [`${url}x`, new URL("/a", url).href];
  for (const other of elsewhere) {
    const run = await desk.run(["token", other]);
    assertEquals([run.code, run.output], [3, ""]);
    assertStringIncludes(run.errors, `The nearest session is for ${url}.`);
    const logout = await desk.run(["logout", other]);
    assertStringIncludes(
      logout.errors,
      `There is no session for ${other}. The `,
    );
  }
  const work = await desk.run(["token", "--account=work", `${url}/x`]);
  assertEquals(work.code, 3);
  assertStringIncludes(work.errors, `The nearest session is for ${url}.`);
  const far = await desk.run(["token", "https://api.example/"]);
  assert(!far.errors.includes("nearest"), far.errors);

  // The longest of two.
  const [{ session } = {}] = await desk.sessions();
  session.resource = session.url = `${url}/x`;
  session.token.access_token = "of-the-longest";
  await Deno.writeTextFile(`${desk.state}/0.json`, JSON.stringify(session));
  assertEquals(
    (await desk.run(["token", `${url}/x/y`])).output,
    "of-the-longest\n",
  );
  assertEquals((await desk.run(["token", `${url}/z`])).output, renewed.output);
});

test("login fails with the reason of a resource that refuses the new token", async (desk) => {
  await using world = await signedIn(desk);
  const { servers, url } = world;
  const refuse = (status: number, challenge: string) => {
    servers.intercept = ({ endpoint, headers }) =>
      endpoint === "resource" && headers.has("Authorization")
        ? new Response(null, {
          status,
          headers: { "WWW-Authenticate": challenge },
        })
        : undefined;
  };
  const rows: [status: number, challenge: string, reason: string][] = [
    [
      401,
      'Bearer error="invalid_token", error_description="wrong audience"',
      "401 invalid_token: wrong audience",
    ],
    [401, "Bearer", "401 without a reason"],
    [403, 'Bearer error="invalid_token"', "403 invalid_token"],
  ];
  for (const [status, challenge, reason] of rows) {
    refuse(status, challenge);
    // Also with a session that is kept: it is not said that it can be used.
    const { code, output } = await desk.signIn(["login", url]);
    assertEquals(code, 1, output);
    assertStringIncludes(
      output,
      `rejects the token of this sign-in: ${reason}`,
    );
    assertStringIncludes(output, `\`oauth-helper doctor ${url} --sign-in\``);
    assert(!/signed in[ .(]/i.test(output), output);
  }
  refuse(403, 'Bearer error="insufficient_scope"');
  assertEquals((await desk.run(["login", url])).code, 0);
  servers.intercept = () => undefined;
  servers.failNext("resource", "lose_request");
  const run = await desk.run(["login", url]);
  assertMatch(run.errors, /^Already signed in/);
  // The resource may repeat the token.
  const [{ session } = {}] = await desk.sessions();
  const { access_token } = session.token;
  refuse(
    401,
    `Bearer error="invalid_token", error_description="${access_token}"`,
  );
  const repeated = await desk.run(["login", "--no-input", url]);
  assertEquals(repeated.code, 3);
  assert(!repeated.errors.includes(access_token));
});

test("logout keeps the session while the server is down, unless it is forced", async (desk) => {
  for (const args of [[], ["--force"]]) {
    await using world = await signedIn(desk);
    const { servers, url } = world;
    const isForced = args.length > 0;
    for (const fault of [503, "lose_request"] as const) {
      if (isForced && fault === 503) continue;
      servers.failNext("revocation", fault);
      servers.failNext("revocation", fault);
      const run = await desk.run(["logout", ...args, url]);
      assertEquals(run.code, isForced ? 0 : 1, run.errors);
      assertEquals((await desk.sessions()).length, isForced ? 0 : 1);
      assertStringIncludes(
        run.errors,
        isForced ? "The server has not revoked" : "--force",
      );
    }
    if (isForced) continue;
    assertEquals(servers.accessTokens().length, 1);
    const again = await desk.run(["logout", url]);
    assertEquals([again.code, await desk.sessions()], [0, []]);
    assertEquals(servers.accessTokens(), []);
  }
});

test("logout --force deletes a session that cannot be read", async (desk) => {
  await using world = await signedIn(desk);
  const [{ path = "" } = {}] = await desk.sessions();
  await Deno.writeTextFile(path, "{");
  const { url } = world;
  assertEquals((await desk.run(["logout", url])).code, 1);
  assertEquals((await desk.run(["logout", "--force", url])).code, 0);
  assertEquals(await desk.sessions(), []);
});

test("commands name a state directory that cannot be used, before a sign-in", async (desk) => {
  const servers = await startTestServers();
  await using _ = { [Symbol.asyncDispose]: servers.close };
  const file = `${desk.home}/file`;
  await Deno.writeTextFile(file, "");
  const link = `${desk.home}/link`;
  for (const state of [file, "/sys"]) {
    for (const command of ["login", "token", "headers", "logout", "status"]) {
      const args = command === "status" ? [] : [servers.resource];
      const run = await desk.start([command, ...args], {
        isTerminal: true,
        env: { XDG_STATE_HOME: state },
      }).end();
      const isRead = state === "/sys" && ["status", "logout"].includes(command);
      if (isRead) continue;
      assertEquals(run.code, 1, run.output);
      assertStringIncludes(run.output, `The sessions in ${state}/oauth-helper`);
      assertStringIncludes(run.output, "Set XDG_STATE_HOME to a directory");
    }
  }
  assertEquals(servers.received("authorization"), []);
  assertEquals(servers.received("registration"), []);
  // A lock directory that is a link is a file that cannot be used as well.
  await Deno.mkdir(link);
  await Deno.mkdir(desk.state, { recursive: true });
  const name = servers.resource.replace("http://", "http_3a++")
    .replace(/:(\d+)/, "_3a$1").replace("/mcp", "+mcp");
  await Deno.symlink(link, `${desk.state}/${name}.json.lock`);
  const run = await desk.start(["login", servers.resource], {
    isTerminal: true,
  }).end();
  assertEquals(run.code, 1, run.output);
  assertStringIncludes(run.output, "is a symbolic link");
});

test("a session that cannot be saved fails login, and is used by token", async (desk) => {
  await using world = await signedIn(desk);
  const { servers, url } = world;
  const [{ path = "" } = {}] = await desk.sessions();
  const blockAt = (wanted: string) => {
    servers.intercept = ({ endpoint }) => {
      if (endpoint !== wanted) return undefined;
      Deno.removeSync(path);
      // Nothing can be renamed to a directory.
      Deno.mkdirSync(path);
      servers.intercept = () => undefined;
    };
  };
  await desk.change();
  blockAt("token");
  const token = await desk.run(["token", url]);
  assertEquals(token.code, 0, token.errors);
  assertStringIncludes(token.errors, "The session is not saved: ");
  await Deno.remove(path);
  assertEquals((await desk.signIn(["login", url])).code, 0);
  blockAt("authorization");
  const login = await desk.signIn(["login", "--fresh", url]);
  assertEquals(login.code, 1, login.output);
  assertStringIncludes(login.output, `The sessions in ${desk.state} cannot`);
});
