/** The bridge as a process, between a client of the MCP SDK and a real MCP server. */

// @ts-types="@modelcontextprotocol/sdk/client/index"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/webStandardStreamableHttp"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  LoggingMessageNotificationSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { assertEquals, assertRejects } from "@std/assert";
import {
  startTestServers,
  type TestServersOptions,
} from "../../lib/testing/mod.ts";
import { bundle } from "../support/bundle.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { mapArgs, path } from "./_programs.ts";

/** Starts an MCP server with sessions of the protocol, and a desk for its bridges. */
async function start(options: TestServersOptions = {}) {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const versions = new Set<string | null>();
  const methods: string[] = [];

  async function handle(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id) versions.add(request.headers.get("mcp-protocol-version"));
    const { method } = request.body ? await request.clone().json() : {};
    // Long enough for the next message to overtake this one.
    const pauses = method === "notifications/initialized" ? 10 : 0;
    for (let i = 0; i < pauses; i++) {
      await (await fetch(servers.issuer)).body?.cancel();
    }
    if (method) methods.push(method);
    const known = sessions.get(id ?? "");
    if (id && !known) return new Response("No such session", { status: 404 });
    const transport = known ?? new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    if (!known) {
      const server = new McpServer({ name: "test", version: "1.0.0" }, {
        capabilities: { logging: {} },
      });
      server.registerTool("read", {}, () => ({ content: [] }));
      server.registerTool("ask", {}, async () => {
        await server.server.sendLoggingMessage({ level: "info", data: "asks" });
        await server.server.ping();
        return { content: [] };
      });
      await server.connect(transport);
    }
    return await transport.handleRequest(request);
  }

  const servers = await startTestServers({ handle, ...options });
  const directory = await Deno.makeTempDir();
  const example = path("hosts/stdio_bridge.ts");
  const errors: unknown[] = [];
  const logged: unknown[] = [];
  return {
    ...{ servers, sessions, versions, methods, errors, logged, directory },
    /** The number of sign-ins, registrations and refreshes. */
    counts: () => [
      servers.received("authorization").length,
      servers.received("registration").length,
      servers.received("token", "refresh_token").length,
    ],
    /** Waits until a bridge has opened its stream of events. */
    streams: (count: number) =>
      until(
        LIMIT_MS,
        () =>
          servers.received("resource").filter(({ method, status }) =>
            method === "GET" && status === 200
          ).length === count,
      ),
    /** Starts a bridge in a runtime; the status of its end is in the file `status`. */
    async connect(runtime: string) {
      const bundled = `${directory}/bridge.mjs`;
      if (runtime === "node") await bundle(example, bundled, []);
      const client = new Client({ name: "test", version: "1.0.0" });
      client.onerror = (error) => errors.push(error);
      client.setNotificationHandler(
        LoggingMessageNotificationSchema,
        ({ params }) => void logged.push(params.data),
      );
      const program = runtime === "node" ? [runtime, bundled] : [
        Deno.execPath(),
        "run",
        "-A",
        "--quiet",
        ...await mapArgs(),
        example,
      ];
      await client.connect(
        new StdioClientTransport({
          command: "sh",
          args: [
            // In a subshell, which the client doesn't kill if the machine is busy.
            ...["-c", '("$@"; echo $? >status); :', "sh", ...program],
            ...[servers.resource, `${directory}/session.json`],
          ],
          cwd: directory,
          // The client passes on a few variables only: Deno finds its packages here.
          env: {
            ...Deno.env.toObject(),
            ...{ BROWSER: "curl -sLo /dev/null", NO_COLOR: "1" },
          },
          stderr: "ignore",
        }),
      );
      return client;
    },
    async [Symbol.asyncDispose]() {
      await servers.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

const read = (client: Client) => client.callTool({ name: "read" });
const burst = (clients: Client[], count: number) =>
  Promise.all(Array.from({ length: count }, () => clients.map(read)).flat());

for (const runtime of ["deno", "node"]) {
  Deno.test(`stdio_bridge.ts passes messages on, survives lost sessions and tokens, and ends with its host, in ${runtime}`, async () => {
    await using mcp = await start();
    const { servers, sessions, counts, logged } = mcp;
    const client = await mcp.connect(runtime);
    const { tools } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), ["read", "ask"]);
    assertEquals(mcp.methods, [
      ...["initialize", "notifications/initialized", "tools/list"],
    ]);
    await mcp.streams(1);
    await client.callTool({ name: "ask" });
    assertEquals([counts(), logged], [[1, 1, 0], ["asks"]]);

    sessions.clear();
    await burst([client], 3);
    await mcp.streams(2);
    await client.callTool({ name: "ask" });
    assertEquals([sessions.size, logged], [1, ["asks", "asks"]]);
    assertEquals([...mcp.versions], ["2025-11-25"]);

    servers.expireAccessTokens();
    await burst([client], 50);
    assertEquals(counts(), [1, 1, 1]);

    const echo = new Response(servers.accessTokens()[0]!, { status: 500 });
    servers.failNext("resource", echo);
    const failure = await assertRejects(() => read(client), McpError);
    assertEquals([failure.message, failure.data], [
      "MCP error -32603: The MCP server returned 500",
      { code: 500 },
    ]);

    await client.close();
    const file = `${mcp.directory}/status`;
    const status = () => Deno.readTextFile(file).catch(() => "");
    await until(LIMIT_MS, async () => await status() === "0\n");
    assertEquals([sessions.size, mcp.errors], [0, []]);
  });
}

Deno.test("stdio_bridge.ts signs in once, and refreshes once, if two run at once", async () => {
  await using mcp = await start();
  const clients = await Promise.all(["deno", "node"].map(mcp.connect));
  assertEquals(mcp.counts(), [1, 1, 0]);
  mcp.servers.expireAccessTokens();
  await burst(clients, 20);
  assertEquals(mcp.counts(), [1, 1, 1]);
  // The end of a session opens no page.
  mcp.servers.revoke();
  await Promise.all(clients.map((client) => client.close()));
  assertEquals(mcp.counts().slice(0, 2), [1, 1]);
});

Deno.test("stdio_bridge.ts passes on why there is no session, and opens no other page", async () => {
  await using mcp = await start();
  const client = await mcp.connect("deno");
  await mcp.streams(1);
  mcp.servers.user = "refuses";
  mcp.servers.revoke();
  for (const code of ["oauth_error", "sign_in_required"]) {
    const { data } = await assertRejects(() => read(client), McpError);
    assertEquals(data, { code });
  }
  assertEquals(mcp.counts().slice(0, 2), [2, 1]);
  await client.close();
});
