/** The examples as programs, with real servers and a stand-in for the browser. */

import { assertEquals, assertMatch } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { createBrowser } from "../servers/browser.ts";
import { startMcpServer } from "../servers/mcp_server.ts";
import { createDesk } from "./_programs.ts";

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

for (const name of ["mcp_client_v1.ts", "mcp_client_v2.ts"]) {
  Deno.test(`${name} lists the tools of a server`, async () => {
    await using desk = await createDesk();
    await using server = await startAuthorizationServer();
    await using mcp = await startMcpServer(server.issuer);
    const output = await desk.start(name, mcp.resource).output();
    assertEquals(output, "read\nwrite\n");
  });
}
