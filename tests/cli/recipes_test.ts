/** The recipes of the documentation: `curl`, and hosts that run a helper. */

import { assertEquals, assertMatch } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { start } from "../support/terminal.ts";
import { test } from "./_desk.ts";
import { installOnPath } from "./_programs.ts";

test("curl with a token, curl with header fields, and a host with a helper", async (desk) => {
  await using servers = await startFlowServers();
  const url = servers.protectedResource.resource;
  await desk.signIn(["login", url]);
  const { home } = desk;
  await installOnPath(home);

  async function run(line: string): Promise<string> {
    const env = { PATH: `${home}:/usr/bin:/bin`, URL: url };
    const { code, output, errors } = await start(["bash", "-c", line], [], {
      home,
      env,
    }).end();
    assertEquals(code, 0, errors);
    return output;
  }

  const curl = 'curl -s -o /dev/null -w "%{http_code}"';
  const rows: [options: string, status: string][] = [
    ["", "401"],
    ['-H "Authorization: Bearer $(oauth-helper token "$URL")"', "200"],
    ['-H @<(oauth-helper headers --lines "$URL")', "200"],
  ];
  for (const [options, status] of rows) {
    assertEquals(await run(`${curl} ${options} "$URL"`), status);
  }
  // What the `headersHelper` of a host of MCP has, which runs it before it connects.
  const headers = JSON.parse(await run(`oauth-helper headers ${url}`));
  assertMatch(headers.Authorization, /^Bearer [\w.-]+$/);
  const response = await fetch(url, { headers });
  assertEquals(response.status, 200);
  await response.text();
});
