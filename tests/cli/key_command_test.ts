/** Sessions that are encrypted with the key of a command. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { AUTHORIZATION_URL, test } from "./_desk.ts";

test("--key-command encrypts the session, and never mixes", async (desk) => {
  await using servers = await startFlowServers();
  const url = servers.protectedResource.resource;
  const keyFile = `${desk.home}/key`;
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  await Deno.writeTextFile(
    keyFile,
    `${btoa(String.fromCharCode(...bytes))}\n`,
  );
  const withKey = ["--key-command", `cat '${keyFile}'`];
  const login = await desk.signIn(["login", ...withKey, url]);
  assertEquals(login.code, 0, login.output);

  const [file = ""] = [...Deno.readDirSync(desk.state)]
    .filter(({ isFile }) => isFile).map(({ name }) => name);
  const content = await Deno.readTextFile(`${desk.state}/${file}`);
  assert(content.startsWith("oauth-helper session A256GCM\n"));
  const token = await desk.run(["token", ...withKey, url]);
  assertEquals(token.code, 0, token.errors);
  const status = await desk.run(["status", ...withKey]);
  assertStringIncludes(status.output, url);

  // Without the key, and with another command.
  const rows: [args: string[], message: string][] = [
    [[], "is encrypted"],
    [["--key-command", "exit 4"], "ended with code 4"],
    [["--key-command", "echo c2hvcnQ="], "must print 32 bytes as base64"],
    [["--key-command", "head -c 32 /dev/zero | base64"], "another key"],
  ];
  for (const [args, message] of rows) {
    const run = await desk.run(["token", ...args, url]);
    assertEquals([run.code, run.output], [1, ""]);
    assertStringIncludes(run.errors, message);
  }
  const locked = await desk.run(["status"]);
  assertStringIncludes(locked.output, "is encrypted");
  assertEquals(await Deno.readTextFile(`${desk.state}/${file}`), content);

  // The command may ask for a password.
  const counting = `echo run >> '${desk.home}/runs'; exit 4`;
  await Deno.copyFile(`${desk.state}/${file}`, `${desk.state}/other.json`);
  const unread = await desk.run([
    ...["status", "--json", "--key-command", counting],
  ]);
  assertEquals(JSON.parse(unread.output).length, 2);
  assertEquals(await Deno.readTextFile(`${desk.home}/runs`), "run\n");

  // The files of two accounts cannot be exchanged.
  const ofWork = ["--account", "work"];
  await desk.signIn(["login", ...ofWork, ...withKey, url]);
  const work = file.replace(".json", "@work.json");
  await Deno.rename(`${desk.state}/${file}`, `${desk.state}/${work}`);
  const exchanged = await desk.run(["token", ...ofWork, ...withKey, url]);
  assertEquals([exchanged.code, exchanged.output], [1, ""]);
  assertStringIncludes(exchanged.errors, "session of another URL or account");

  // A plain session is not used with a key, and stays as it is.
  const plain = ["--account", "plain"];
  await desk.signIn(["login", ...plain, url]);
  const mixed = await desk.run([
    "token",
    ...plain,
    ...withKey,
    url,
  ]);
  assertEquals(mixed.code, 1);
  assertStringIncludes(mixed.errors, "is not encrypted");
});

test("--key-command that has no key ends a login before the user is asked", async (desk) => {
  await using servers = await startFlowServers();
  const url = servers.protectedResource.resource;
  const login = desk.start(["login", "--key-command", "exit 4", url], {
    isTerminal: true,
  });
  const { code, output } = await login.end();
  assertEquals(code, 1);
  assertStringIncludes(output, "ended with code 4");
  assert(!AUTHORIZATION_URL.test(output), output);
  assert(!servers.server.requests.includes("POST /reg"));
});
