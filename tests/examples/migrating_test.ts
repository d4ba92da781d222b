/** The programs of `.github/docs/migrating`, before and after, with the same servers. */

import { createHash } from "node:crypto";
import { assert, assertEquals } from "@std/assert";
import {
  discoverFrom,
  registerPublicClient,
  signIn,
  startFlowServers,
} from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { startMcpServer } from "../servers/mcp_server.ts";
import { createDesk, type Desk } from "./_programs.ts";

const FOLDER = new URL("migrating/", import.meta.url);
const PAGES = new URL("../../.github/docs/", import.meta.url);

/** The clients that the programs have from a console. */
const REDIRECT_URIS = ["http://127.0.0.1:8766/callback"];
const CLIENT = {
  redirect_uris: REDIRECT_URIS,
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code" as const],
  application_type: "native" as const,
};
const ID = "my-tool";
const SECRET = "0123456789abcdef0123456789abcdef";

const PAIRS: [before: string, after: string, hasSecret: boolean][] = [
  ["openid_client_before.ts", "named_client_after.ts", false],
  ["oauth4webapi_before.ts", "named_client_after.ts", false],
  ["arctic_before.ts", "named_client_after.ts", false],
  ["simple_oauth2_before.ts", "simple_oauth2_after.ts", true],
];

for (const [before, after, hasSecret] of PAIRS) {
  Deno.test(`${before} and ${after} do the same, and the latter signs in once`, async () => {
    await using servers = await startFlowServers({
      clients: [{
        ...CLIENT,
        client_id: ID,
        ...(hasSecret
          ? { client_secret: SECRET }
          : { token_endpoint_auth_method: "none" }),
      }],
    });
    const { server: { issuer, requests }, protectedResource } = servers;
    const { resource: RESOURCE } = protectedResource;
    await using desk = await createDesk({
      env: { RESOURCE, ISSUER: issuer, ID, SECRET },
    });
    const run = async (name: string) => {
      requests.length = 0;
      const output = await desk.start(`migrating/${name}`).output();
      return [output, requests.filter((one) => one === "GET /auth").length];
    };
    assertEquals(await run(before), ["200\n", 1]);
    assertEquals(await run(after), ["200\n", 1]);
    assertEquals(await run(after), ["200\n", 0]);
  });
}

type Mcp = Awaited<ReturnType<typeof startMcp>>;

/** Starts an MCP server, and counts the requests of its authorization server. */
async function startMcp() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startAuthorizationServer());
  const { resource } = stack.use(await startMcpServer(server.issuer));
  const { issuer, requests } = server;
  const running = stack.move();
  const list = async (desk: Desk, name: string) => {
    requests.length = 0;
    const output = await desk.start(`migrating/${name}`, resource).output();
    const visits = requests.filter((one) => one === "GET /auth");
    return [output, visits.length];
  };
  return {
    issuer,
    resource,
    requests,
    list,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

Deno.test("mcp_sdk_before.ts and mcp_sdk_after.ts list the same tools", async () => {
  await using mcp = await startMcp();
  for (const name of ["mcp_sdk_before.ts", "mcp_sdk_after.ts"]) {
    await using desk = await createDesk();
    assertEquals(await mcp.list(desk, name), ["read\nwrite\n", 1]);
    assertEquals(await mcp.list(desk, name), ["read\nwrite\n", 0]);
  }
});

/** Writes what mcp-remote 0.15.1 keeps after a sign-in. */
async function writeMcpRemote({ resource }: Mcp, desk: Desk): Promise<void> {
  const context = await discoverFrom(resource);
  const registered = await registerPublicClient(context);
  const { issuer } = context;
  const { expires_at = 0, ...token } = await signIn(context, {
    client: registered,
  });
  const hash = createHash("md5").update(resource).digest("hex");
  const folder = desk.sessionFile.replace(/[^/]+$/, "mcp-auth/mcp-remote-v1");
  await Deno.mkdir(folder, { recursive: true });
  const write = (name: string, value: unknown) =>
    Deno.writeTextFile(`${folder}/${hash}_${name}.json`, JSON.stringify(value));
  await write("client_info", { ...registered, issuer });
  const requested_scope = "mcp:read";
  const milliseconds = { expires_at: expires_at * 1000 };
  await write("tokens", { ...token, issuer, ...milliseconds, requested_scope });
}

Deno.test("mcp_remote.ts takes over tokens, which are refreshed without the user", async () => {
  await using mcp = await startMcp();
  await using desk = await createDesk({
    env: { MCP_REMOTE_CONFIG_DIR: "mcp-auth" },
  });
  await writeMcpRemote(mcp, desk);
  const program = desk.start("migrating/mcp_remote.ts", mcp.resource);
  assertEquals(await program.output(), "Kept in .session.json\n");
  assertEquals(await mcp.list(desk, "mcp_sdk_after.ts"), ["read\nwrite\n", 0]);
  const session = JSON.parse(await Deno.readTextFile(desk.sessionFile));
  session.token.expires_at = 1;
  await Deno.writeTextFile(desk.sessionFile, JSON.stringify(session));
  assertEquals(await mcp.list(desk, "mcp_sdk_after.ts"), ["read\nwrite\n", 0]);
  assertEquals(mcp.requests, ["POST /token"]);
});

Deno.test("the pages about migrating contain or link the programs", async () => {
  const folder = new URL("migrating/", PAGES);
  const names = [...Deno.readDirSync(folder)]
    .map(({ name }) => `migrating/${name}`);
  const pages = ["migrating.md", ...names]
    .map((name) => Deno.readTextFileSync(new URL(name, PAGES))).join("\n");
  const blocks = [...pages.matchAll(/^```(?:ts|html)[^\n]*\n(.*?)^```$/gms)]
    .map(([, code]) => code);
  for await (const { name } of Deno.readDir(FOLDER)) {
    const text = await Deno.readTextFile(new URL(name, FOLDER));
    const isLinked = pages.includes(`tests/examples/migrating/${name})`);
    if (name === "receive.ts") continue; // A helper of the programs before.
    assert(blocks.includes(text) || isLinked, `no page has ${name}`);
  }
});
