/** The program at servers that people run. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { readServers } from "../interop/driver.ts";
import { INITIALIZE } from "../interop/program.ts";
import { type Running, start } from "../interop/running.ts";
import { createUser } from "../interop/user.ts";
import { onFreePort } from "../support/free_port.ts";
import { test } from "./_desk.ts";

/** Starts a server of the interop suite; `env` are variables that it is given. */
async function startServer(wanted: string, env: string[] = []) {
  for (const [server, folder] of await readServers()) {
    if (server.name !== wanted) continue;
    const command = env.length > 0
      ? ["env", ...env, ...server.command]
      : server.command;
    return await start({ ...server, command }, folder);
  }
  throw new Error(`There is no server ${wanted}`);
}

/** Calls a resource with the header fields that the program has printed. */
async function statusWith(headers: string, { resource }: Running) {
  const response = await fetch(resource, {
    ...INITIALIZE,
    headers: { ...INITIALIZE.headers, ...JSON.parse(headers) },
  });
  await response.body?.cancel();
  return response.status;
}

test("login, headers and logout at the mcpAuthRouter of the MCP SDK", async (desk) => {
  await using running = await startServer(
    "@modelcontextprotocol/sdk, mcpAuthRouter",
  );
  const url = running.resource;
  const login = await desk.signIn(["login", url]);
  assertEquals(login.code, 0, login.output);
  const { output } = await desk.run(["headers", url]);
  assertEquals(await statusWith(output, running), 200);
  const logout = await desk.run(["logout", url]);
  assertEquals(logout.code, 0, logout.errors);
});

test("login --device, and the tokens of its session, at oidc-provider", async (desk) => {
  await using running = await startServer(
    "oidc-provider, resource indicators",
  );
  const url = running.resource;
  const login = desk.start(["login", "--device", url]);
  const [, page = "", userCode = ""] = await login.find(
    /Open (\S+) on any device, and enter (\S+)\n/,
  );
  await createUser({ userCode }).visit(page);
  assertEquals((await login.end()).code, 0);
  const { output } = await desk.run(["headers", url]);
  assertEquals(await statusWith(output, running), 200);
});

test("a client from a console, at a server that publishes no metadata", async (desk) => {
  // The configuration of the server has it before the program listens.
  const redirectUri = await onFreePort((port) =>
    `http://127.0.0.1:${port}/from/console`
  );
  await using running = await startServer("@node-oauth/oauth2-server", [
    `REDIRECT_URI=${redirectUri}`,
  ]);
  const url = running.resource;
  const { origin } = new URL(url);
  const secretFile = `${desk.home}/secret`;
  await Deno.writeTextFile(secretFile, "s3cret/+ %\n");
  const client = [
    "--client-id=interop",
    `--client-secret-file=${secretFile}`,
    `--redirect-uri=${redirectUri}`,
  ];
  const unbound = await desk.run(["login", ...client, url]);
  assertEquals(unbound.code, 2);
  assertStringIncludes(unbound.errors, "requires --issuer");
  const elsewhere = await desk.run([
    "login",
    ...client,
    "--issuer=https://as.example",
    url,
  ]);
  assertEquals(elsewhere.code, 1);
  // The API lists no server: the issuer of the client is the server, and not the API.
  assertMatch(
    elsewhere.errors,
    /No metadata of .*server https:\/\/as\.example /,
  );

  const login = ["login", ...client, `--issuer=${origin}`, url];
  assertEquals((await desk.signIn(login)).code, 0);
  const { output } = await desk.run(["headers", url]);
  assertEquals(await statusWith(output, running), 200);

  // The session has what a refresh needs: no option is repeated.
  await desk.change();
  const refreshed = await desk.run(["headers", url]);
  assertEquals(refreshed.code, 0, refreshed.errors);
  assert(refreshed.output !== output);
  assertEquals(await statusWith(refreshed.output, running), 200);

  const metadataFile = `${desk.home}/metadata.json`;
  await Deno.writeTextFile(
    metadataFile,
    JSON.stringify({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
    }),
  );
  const known = await desk.signIn([
    "login",
    ...client,
    `--server-metadata=${metadataFile}`,
    "--resource=false",
    "--param=prompt=login",
    "--account=manual",
    url,
  ]);
  assertEquals(known.code, 0, known.output);
  assertMatch(known.output, /authorize\?\S*prompt=login/);
  assert(!known.output.includes("resource="), known.output);
});
