/** The commands in Deno and Node, with a real authorization server. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { createUser } from "../interop/user.ts";
import { onFreePort } from "../support/free_port.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { AUTHORIZATION_URL, createDesk, type Desk, visit } from "./_desk.ts";
import { installPrograms } from "./_programs.ts";

const count = (requests: readonly string[], wanted: string) =>
  requests.filter((request) => request === wanted).length;

/** What is played in each runtime. */
interface Stage {
  readonly desk: Desk;
  readonly url: string;
  readonly requests: readonly string[];
}

const PLAYS: Record<string, (stage: Stage) => Promise<void>> = {
  async "a sign-in, tokens, headers, status and a sign-out"({
    desk,
    url,
    requests,
  }) {
    const login = await desk.signIn(["login", url]);
    assertEquals(login.code, 0, login.output);
    assertStringIncludes(login.output, "Signed in.\n" + url);

    const token = await desk.run(["token", url]);
    assertEquals([token.code, token.errors], [0, ""]);
    assertMatch(token.output, /^[\w.-]+\n$/);
    const Authorization = `Bearer ${token.output.trim()}`;
    const response = await fetch(url, { headers: { Authorization } });
    assertEquals(response.status, 200);
    await response.text();

    const onFullDisk = { outputFile: "/dev/full" };
    const full = await desk.start(["token", url], onFullDisk).end();
    assertEquals(full.code, 1);
    assertMatch(full.errors, /no space left on device/i);

    const headers = await desk.run(["headers", url]);
    assertEquals(JSON.parse(headers.output), { Authorization });
    const lines = await desk.run(["headers", "--lines", url]);
    assertEquals(lines.output, `Authorization: ${Authorization}\n`);

    const [{ path = "", session } = {}] = await desk.sessions();
    assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
    assertEquals(Deno.statSync(desk.state).mode! & 0o777, 0o700);

    const again = await desk.run(["login", url]);
    assertEquals(again.code, 0);
    assertStringIncludes(again.errors, "Already signed in");

    const status = await desk.run(["status"]);
    const json = await desk.run(["status", "--json"]);
    const [listed] = JSON.parse(json.output);
    assertEquals(listed.url, url);
    assertEquals(listed.state, "valid");
    assertEquals(listed.scopes, ["mcp:read"]);
    assertStringIncludes(status.output, url);
    for (const { output, errors } of [login, status, json, again]) {
      for (const name of ["access_token", "refresh_token"]) {
        assert(!(output + errors).includes(session.token[name]), name);
      }
    }

    const before = count(requests, "POST /token/revocation");
    const logout = await desk.run(["logout", url]);
    assertEquals(logout.code, 0);
    assertStringIncludes(logout.errors, "revoked");
    assert(count(requests, "POST /token/revocation") > before);
    // Without a session, nothing is made anew.
    assertEquals((await desk.run(["logout", url])).code, 0);
    assertEquals([...Deno.readDirSync(desk.state)], []);
    const ended = await desk.run(["status"]);
    assertEquals(ended.output, "No sessions.\n");
  },

  async "a session for each account, which does not see the other"({
    desk,
    url,
  }) {
    await desk.signIn(["login", url]);
    const work = await desk.run(["token", "--account", "work", url]);
    assertEquals(work.code, 3);
    await desk.signIn(["login", "--account", "work", url]);
    const tokens = await Promise.all(
      [["token", url], ["token", "--account=work", url]].map((args) =>
        desk.run(args)
      ),
    );
    assertEquals(tokens.map(({ code }) => code), [0, 0]);
    assert(tokens[0]!.output !== tokens[1]!.output);
    const status = await desk.run(["status", "--json"]);
    const accounts = JSON.parse(status.output).map((
      { account }: { account?: string },
    ) => account);
    assertEquals(accounts.sort(), ["work", undefined]);
    await desk.run(["logout", "--account", "work", url]);
    assertEquals((await desk.run(["token", url])).code, 0);
  },

  async "several processes make one sign-in and one refresh"({
    desk,
    url,
    requests,
  }) {
    const registrations = count(requests, "POST /reg");
    const running = [1, 2, 3].map((number) =>
      desk.start(["token", url], {
        isTerminal: true,
        outputFile: `${desk.home}/token${number}`,
      })
    );
    const first = await Promise.race(
      running.map(async (one) => {
        const [, found = ""] = await one.find(AUTHORIZATION_URL);
        return { one, found };
      }),
    );
    const others = running.filter((one) => one !== first.one);
    for (const other of others) await other.find(/Waiting for /);
    await visit(createUser(), first.found);
    const ends = await Promise.all(running.map((one) => one.end()));
    assertEquals(ends.map(({ code }) => code), [0, 0, 0]);
    assertEquals(count(requests, "POST /reg"), registrations + 1);
    const texts = await Promise.all(
      [1, 2, 3].map((number) =>
        Deno.readTextFile(`${desk.home}/token${number}`)
      ),
    );
    assertEquals(new Set(texts).size, 1);

    await desk.change();
    const tokens = count(requests, "POST /token");
    const refreshed = await Promise.all(
      [1, 2, 3, 4].map(() => desk.run(["token", url])),
    );
    assertEquals(refreshed.map(({ code }) => code), [0, 0, 0, 0]);
    assertEquals(new Set(refreshed.map(({ output }) => output)).size, 1);
    assertEquals(count(requests, "POST /token"), tokens + 1);
  },

  async "Ctrl-C leaves nothing behind"({ desk, url }) {
    const login = desk.start(["login", url], { isTerminal: true });
    await login.find(AUTHORIZATION_URL);
    await login.type("\x03");
    const { code, output } = await within(LIMIT_MS, login.end());
    assertEquals(code, 130);
    assert(!output.includes("    at "), output);
    assertEquals(await desk.sessions(), []);
    // Nothing waits for a lock: the lease of a process that has crashed is 10 s.
    const begin = performance.now();
    const next = desk.start(["login", url], { isTerminal: true });
    await next.find(AUTHORIZATION_URL);
    assert(performance.now() - begin < 8_000);
    await next.type("\x03");
    await next.end();
  },

  async "Ctrl-C and logout end the wait for another process, which goes on"({
    desk,
    url,
    requests,
  }) {
    await desk.signIn(["login", url]);
    const login = desk.start(["login", "--fresh", url], {
      isTerminal: true,
    });
    const [, shown = ""] = await login.find(AUTHORIZATION_URL);
    const waiting = desk.start(["login", "--fresh", url], {
      isTerminal: true,
    });
    await waiting.find(/Waiting for /);
    await waiting.type("\x03");
    assertEquals((await waiting.end()).code, 130);
    // logout does not wait for the user of another program.
    const logout = await within(LIMIT_MS, desk.run(["logout", url]));
    assertStringIncludes(logout.errors, "the server has revoked the refresh");
    assertEquals(await desk.sessions(), []);
    const before = count(requests, "POST /token");
    await visit(createUser(), shown);
    assertEquals((await login.end()).code, 0);
    assertEquals(count(requests, "POST /token"), before + 1);
  },

  async "Ctrl-C during a refresh, which is finished and kept"({
    desk,
    url,
  }) {
    await desk.signIn(["login", url]);
    const requested = Promise.withResolvers<void>();
    const interrupted = Promise.withResolvers<void>();
    await using slow = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      async () => {
        requested.resolve();
        await interrupted.promise;
        return Response.json({
          access_token: "fresh",
          token_type: "Bearer",
          refresh_token: "rotated",
        });
      },
    );
    const slowEndpoint = `http://127.0.0.1:${slow.addr.port}/token`;
    await desk.change(({ server }) => server.token_endpoint = slowEndpoint);
    const token = desk.start(["token", url], { isTerminal: true });
    await within(LIMIT_MS, requested.promise);
    await token.type("\x03");
    await token.find(/\^C/);
    interrupted.resolve();
    assertEquals((await token.end()).code, 130);
    const [kept] = await desk.sessions();
    assertEquals(kept?.session.token.refresh_token, "rotated");
  },

  async "scopes that the session lacks, and --min-ttl"({
    desk,
    url,
    requests,
  }) {
    await desk.signIn(["login", url]);
    const lacking = ["token", "--scope", "mcp:read mcp:write", url];
    assertEquals((await desk.run(lacking)).code, 3);
    const login = ["login", "--scope", "mcp:read", "--scope=mcp:write", url];
    assertEquals((await desk.signIn(login)).code, 0);
    assertEquals((await desk.run(lacking)).code, 0);
    const status = await desk.run(["status", "--json"]);
    assertEquals(JSON.parse(status.output)[0].scopes, [
      "mcp:read",
      "mcp:write",
    ]);

    // A lifetime of an hour.
    const before = count(requests, "POST /token");
    await desk.run(["token", "--min-ttl", "1800", url]);
    assertEquals(count(requests, "POST /token"), before);
    await desk.run(["token", "--min-ttl", "3599.9", url]);
    assertEquals(count(requests, "POST /token"), before + 1);
    // No token lives longer: it is used until the last quarter.
    await desk.run(["token", "--min-ttl", "7200", url]);
    assertEquals(count(requests, "POST /token"), before + 1);
  },

  async "the doctor, help and errors without a stack trace"(
    { desk, url, requests },
  ) {
    const doctor = await desk.run(["doctor", url]);
    assertEquals(doctor.code, 0, doctor.errors);
    assertStringIncludes(doctor.output, "ready");
    const help = await desk.run(["help"]);
    assertStringIncludes(help.output, "oauth-helper login URL");
    const version = await desk.run(["--version"]);
    assertMatch(version.output, /^\d+\.\d+\.\d+/);
    const nowhere = await onFreePort((port) => `http://127.0.0.1:${port}`);
    const rows: [args: string[], code: number, message: RegExp][] = [
      [["token", url], 3, /Sign-in is required/],
      [["login", "--no-input", url], 3, /Sign-in is required/],
      [["token", "--client-secret=x", url], 2, /Unknown option/],
      [["login", nowhere], 1, /Nothing listens at/],
    ];
    const before = requests.length;
    for (const [args, code, message] of rows) {
      const run = await desk.run(args);
      assertEquals([run.code, run.output], [code, ""]);
      assertMatch(run.errors, message);
      assert(!/^\s+at /m.test(run.errors), run.errors);
    }
    // Nothing was registered.
    assertEquals(requests.slice(before), []);
  },
};

Deno.test({
  name: "oauth-helper in Deno, and from the package in Node",
  // `script` has other options elsewhere.
  ignore: Deno.build.os !== "linux",
  async fn(test) {
    const temporary = await Deno.makeTempDir({ prefix: "programs_" });
    try {
      for (const [name, program] of await installPrograms(temporary)) {
        for (const [title, play] of Object.entries(PLAYS)) {
          await test.step(`${name}: ${title}`, async () => {
            await using servers = await startFlowServers();
            await using desk = await createDesk(program);
            const { requests } = servers.server;
            const url = servers.protectedResource.resource;
            await play({ desk, url, requests });
          });
        }
      }
    } finally {
      await Deno.remove(temporary, { recursive: true });
    }
  },
});
