/** The recipes of the documentation: `curl`, and hosts that run a helper. */

import { assertEquals, assertMatch } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { createDesk } from "./_desk.ts";
import { IN_DENO } from "./_programs.ts";

Deno.test({
  name: "curl with a token, curl with header fields, and a host with a helper",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using servers = await startFlowServers();
    await using desk = await createDesk();
    const url = servers.protectedResource.resource;
    await desk.signIn(IN_DENO, ["login", url]);
    // As it is found on the path once it is installed.
    const bin = `${desk.home}/oauth-helper`;
    const words = IN_DENO.map((word) => `'${word}'`).join(" ");
    await Deno.writeTextFile(bin, `#!/bin/sh\nexec ${words} "$@"\n`);
    await Deno.chmod(bin, 0o700);

    /** Runs a line of a shell. */
    async function run(line: string): Promise<string> {
      const { stdout, stderr, success } = await new Deno.Command("bash", {
        args: ["-c", line],
        clearEnv: true,
        env: {
          HOME: desk.home,
          PATH: `${desk.home}:/usr/bin:/bin`,
          URL: url,
        },
      }).output();
      const decoder = new TextDecoder();
      if (success) return decoder.decode(stdout);
      throw new Error(decoder.decode(stderr));
    }

    const curl = 'curl -s -o /dev/null -w "%{http_code}"';
    assertEquals(await run(`${curl} "$URL"`), "401");
    assertEquals(
      await run(
        `${curl} -H "Authorization: Bearer $(oauth-helper token "$URL")" "$URL"`,
      ),
      "200",
    );
    assertEquals(
      await run(`${curl} -H @<(oauth-helper headers --lines "$URL") "$URL"`),
      "200",
    );

    // The configuration of a host of MCP, which runs the helper before it connects.
    const config = {
      mcpServers: {
        example: {
          type: "http",
          url,
          headersHelper: `oauth-helper headers ${url}`,
        },
      },
    };
    const { headersHelper } = config.mcpServers.example;
    const headers: Record<string, string> = JSON.parse(
      await run(headersHelper),
    );
    assertMatch(headers.Authorization ?? "", /^Bearer [\w.-]+$/);
    const response = await fetch(url, { headers });
    assertEquals(response.status, 200);
    await response.text();
  },
});
