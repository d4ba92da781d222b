/** Sessions that are encrypted with the key of a command. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { AUTHORIZATION_URL, createDesk } from "./_desk.ts";
import { IN_DENO } from "./_programs.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "--key-command encrypts the session, and never mixes",
  ignore,
  async fn() {
    await using servers = await startFlowServers();
    await using desk = await createDesk();
    const url = servers.protectedResource.resource;
    const keyFile = `${desk.home}/key`;
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    await Deno.writeTextFile(
      keyFile,
      `${btoa(String.fromCharCode(...bytes))}\n`,
    );
    const withKey = ["--key-command", `cat '${keyFile}'`];
    const login = await desk.signIn(IN_DENO, ["login", ...withKey, url]);
    assertEquals(login.code, 0, login.output);

    const [file = ""] = [...Deno.readDirSync(desk.state)]
      .filter(({ isFile }) => isFile).map(({ name }) => name);
    const content = await Deno.readTextFile(`${desk.state}/${file}`);
    assert(content.startsWith("oauth-helper session A256GCM\n"));
    const token = await desk.run(IN_DENO, ["token", ...withKey, url]);
    assertEquals(token.code, 0, token.errors);
    const status = await desk.run(IN_DENO, ["status", ...withKey]);
    assertStringIncludes(status.output, url);

    // Without the key, and with another command.
    const rows: [args: string[], message: string][] = [
      [[], "is encrypted"],
      [["--key-command", "exit 4"], "ended with code 4"],
      [["--key-command", "echo c2hvcnQ="], "must print 32 bytes as base64"],
      [["--key-command", "head -c 32 /dev/zero | base64"], "another key"],
    ];
    for (const [args, message] of rows) {
      const run = await desk.run(IN_DENO, ["token", ...args, url]);
      assertEquals([run.code, run.output], [1, ""]);
      assertStringIncludes(run.errors, message);
    }
    const locked = await desk.run(IN_DENO, ["status"]);
    assertStringIncludes(locked.output, "is encrypted");
    assertEquals(await Deno.readTextFile(`${desk.state}/${file}`), content);

    // The command may ask for a password.
    const counting = `echo run >> '${desk.home}/runs'; exit 4`;
    await Deno.copyFile(`${desk.state}/${file}`, `${desk.state}/other.json`);
    const unread = await desk.run(IN_DENO, [
      ...["status", "--json", "--key-command", counting],
    ]);
    assertEquals(JSON.parse(unread.output).length, 2);
    assertEquals(await Deno.readTextFile(`${desk.home}/runs`), "run\n");

    // A plain session is not used with a key, and stays as it is.
    const plain = ["--account", "plain"];
    await desk.signIn(IN_DENO, ["login", ...plain, url]);
    const mixed = await desk.run(IN_DENO, [
      "token",
      ...plain,
      ...withKey,
      url,
    ]);
    assertEquals(mixed.code, 1);
    assertStringIncludes(mixed.errors, "is not encrypted");
  },
});

Deno.test({
  name: "--key-command that has no key ends a login before the user is asked",
  ignore,
  async fn() {
    await using servers = await startFlowServers();
    await using desk = await createDesk();
    const url = servers.protectedResource.resource;
    const login = desk.start(
      IN_DENO,
      ["login", "--key-command", "exit 4", url],
      { isTerminal: true },
    );
    const { code, output } = await login.end();
    assertEquals(code, 1);
    assertStringIncludes(output, "ended with code 4");
    assert(!AUTHORIZATION_URL.test(output), output);
    assert(!servers.server.requests.includes("POST /reg"));
  },
});
