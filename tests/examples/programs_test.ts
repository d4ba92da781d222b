/** The examples as programs, with real servers and a stand-in for the browser. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Miniflare } from "miniflare";
import { startFlowServers } from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { createBrowser } from "../servers/browser.ts";
import { startMcpServer } from "../servers/mcp_server.ts";
import { bundle } from "../support/bundle.ts";
import { createDesk } from "./_programs.ts";

Deno.test("cli_login.ts signs in once, and refreshes what it keeps", async () => {
  await using desk = await createDesk();
  await using servers = await startFlowServers();
  const { server: { requests }, protectedResource: { resource } } = servers;
  const run = async () => {
    requests.length = 0;
    const output = await desk.start("cli_login.ts", resource).output();
    assertMatch(output, /^200 \{"resource":/);
  };
  await run();
  assert(requests.includes("POST /reg"), `${requests}`);
  await run();
  assertEquals(requests, []);

  const session = JSON.parse(await Deno.readTextFile(desk.sessionFile));
  session.token.expires_at = 1;
  await Deno.writeTextFile(desk.sessionFile, JSON.stringify(session));
  await run();
  assertEquals(requests, ["POST /token"]);
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

for (const name of ["mcp_client_v1.ts", "mcp_client_v2.ts"]) {
  Deno.test(`${name} lists the tools of a server`, async () => {
    await using desk = await createDesk();
    await using server = await startAuthorizationServer();
    await using mcp = await startMcpServer(server.issuer);
    const output = await desk.start(name, mcp.resource).output();
    assertEquals(output, "read\nwrite\n");
  });
}

interface IKvNamespace {
  list(): Promise<{ keys: { name: string }[] }>;
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
}

Deno.test("worker.ts signs in and calls the API for each user, in workerd with KV", async () => {
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(await startFlowServers());
  const { server, protectedResource: { resource } } = servers;
  const path = await Deno.makeTempFile({ suffix: ".mjs" });
  stack.defer(() => Deno.remove(path));
  await bundle(new URL("worker.ts", import.meta.url).pathname, path);
  const miniflare = new Miniflare({
    modules: [{
      type: "ESModule",
      path: "worker.mjs",
      contents: await Deno.readTextFile(path),
    }],
    compatibilityDate: "2026-01-01",
    kvNamespaces: ["KV"],
    bindings: { RESOURCE: resource },
    // Else miniflare downloads an example of the properties of a request.
    cf: false,
  });
  stack.defer(() => miniflare.dispose());
  const origin = "https://worker.example";
  const send = async (url: string, cookie = "") => {
    const response = await miniflare.dispatchFetch(new URL(url, origin), {
      headers: { Cookie: cookie },
      redirect: "manual",
    });
    const location = response.headers.get("Location") ?? "";
    const set = response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
    const { status } = response;
    return { status, location, set, text: await response.text() };
  };
  const signIn = async (path: string) => {
    const { status, location, set } = await send(path);
    assertEquals(status, 302);
    const { href } = await createBrowser().authorize(location);
    assert(href.startsWith(`${origin}/callback?`), href);
    return { callback: href, cookie: `theme=dark; ${set}` };
  };

  const alice = await signIn("/login");
  const bob = await signIn("/");
  // The callback of another user, and of a user without a cookie.
  assertEquals((await send(alice.callback, bob.cookie)).status, 400);
  assertEquals((await send(alice.callback)).status, 400);
  for (const { callback, cookie } of [alice, bob]) {
    const { status, location } = await send(callback, cookie);
    assertEquals([status, location], [302, "/"]);
    assertEquals((await send(callback, cookie)).status, 400);
    const { text } = await send("/", cookie);
    assertEquals(JSON.parse(text).resource, resource);
    assertEquals((await send("/login", cookie)).location, "/");
  }

  server.requests.length = 0;
  // Its types are those of workers, which are not loaded here.
  const kv = await miniflare.getKVNamespace("KV") as unknown as IKvNamespace;
  const { keys } = await kv.list();
  assertEquals(keys.length, 2);
  for (const { name } of keys) {
    const session = JSON.parse(await kv.get(name) ?? "");
    session.token.expires_at = 1;
    await kv.put(name, JSON.stringify(session));
  }
  assertEquals((await send("/", alice.cookie)).status, 200);
  assertEquals(server.requests, ["POST /token"]);
});
