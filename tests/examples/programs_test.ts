/** The examples as programs, with real servers and a stand-in for the browser. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createTestServers } from "../../lib/testing/mod.ts";
import { startHosts } from "../servers/apis/_hosts.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { createBrowser } from "../servers/browser.ts";
import {
  type Credentials,
  startCrossApp,
} from "../servers/cross_app_access.ts";
import { startMcpServer } from "../servers/mcp_server.ts";
import { createDesk } from "./_programs.ts";

/** Returns the requests of a list that were not for metadata. */
function grantsOf(requests: readonly string[]): string[] {
  return requests.filter((one) => !one.includes("/.well-known/"));
}

Deno.test("first_program.ts signs in at the first run only", async () => {
  const { fetch, resource, issuer, received } = createTestServers({
    resource: "https://api.example/notes",
  });
  await using hosts = startHosts(Object.fromEntries(
    [resource, issuer].map((url) => [
      new URL(url).origin,
      ({ method, url, headers, body }) =>
        fetch(url, {
          method,
          headers,
          ...(body !== "" && { body }),
        }),
    ]),
  ));
  await using desk = await createDesk({ sockets: hosts.sockets });
  for (const signIns of [1, 1]) {
    const output = await desk.start("first_program.ts").output();
    assertMatch(output, /^200 /);
    assertEquals(received("authorization").length, signIns);
  }
});

Deno.test("device_login.ts signs in with a code on another device", async () => {
  await using desk = await createDesk();
  await using servers = await startFlowServers();
  const program = desk.start(
    "device_login.ts",
    servers.protectedResource.resource,
  );
  const [, url = "", code] = await program.find(/^Open (.+) and enter (.+)$/m);
  await createBrowser().activate(url, code);
  assertMatch(await program.output(), /^200 \{"resource":/m);
});

Deno.test("enterprise.ts signs in at the identity provider once, and follows its policy", async () => {
  await using servers = await startCrossApp();
  const { idp, server, policy, credentials, context: { resource } } = servers;
  const clientOf = (issuer: string, { id, secret }: Credentials) =>
    JSON.stringify({ issuer, client_id: id, client_secret: secret });
  await using desk = await createDesk({
    env: {
      RESOURCE: resource,
      IDP: idp.issuer,
      IDP_CLIENT: clientOf(idp.issuer, credentials.atIdp),
      CLIENT: clientOf(server.issuer, credentials.atServer),
    },
  });
  const run = async () => {
    idp.requests.length = server.requests.length = 0;
    const output = await desk.start("enterprise.ts").output();
    assertMatch(output, /^200 \{"resource":/);
  };
  /** Has the tokens expire that the program has kept for the resource. */
  const expire = async (members: object) => {
    const session = JSON.parse(await Deno.readTextFile(desk.sessionFile));
    session.token.expires_at = 1;
    await Deno.writeTextFile(
      desk.sessionFile,
      JSON.stringify({ ...session, ...members }),
    );
  };
  await run();
  assert(idp.requests.includes("GET /idp/auth"), `${idp.requests}`);
  await run();
  assertEquals([idp.requests, server.requests], [[], []]);
  await expire({});
  await run();
  assertEquals(idp.requests, []);
  await expire({ internal: {} });
  await run();
  assertEquals(grantsOf(idp.requests), ["POST /idp/token"]);
  assertEquals(grantsOf(server.requests), ["POST /tenant1/token"]);

  policy.isDenied = true;
  await expire({ internal: {} });
  await assertRejects(run, Error, "access_denied");
  assertEquals(grantsOf(server.requests), []);
});

for (const name of ["mcp_client_v1.ts", "mcp_client_v2.ts"]) {
  Deno.test(`${name} lists the tools of a server`, async () => {
    await using desk = await createDesk();
    await using server = await startAuthorizationServer();
    await using mcp = await startMcpServer(server.issuer);
    const output = await desk.start(name, mcp.resource).output();
    assertEquals(output, "read\nwrite\n");
  });
}
