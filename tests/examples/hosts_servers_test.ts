/** The examples for servers with many users, with PostgreSQL and an MCP server. */

// @ts-types="@modelcontextprotocol/sdk/client/index"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/webStandardStreamableHttp"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  ElicitationCompleteNotificationSchema,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/sdk/types.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import postgres from "postgres";
import {
  discoverAuthorization,
  ensureClient,
  type ISession,
  type ISessionStore,
  memoryStore,
} from "../../mod.ts";
import { startTestServers } from "../../lib/testing/mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { findPostgres, startPostgres } from "../servers/postgres.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { testSite } from "./_sites.ts";
import { createVault } from "./hosts/session_vault.ts";

const ORIGIN = "https://app.example";

const cookieKey = crypto.getRandomValues(new Uint8Array(32));
Deno.env.set("COOKIE_KEY", btoa(String.fromCharCode(...cookieKey)));
const { createRoutes } = await import("./hosts/next_routes.ts");
const { createElsewhere } = await import("./hosts/url_elicitation.ts");
const { sealCookie } = await import("./sealed_cookie.ts");

/** Registers the client of a site. */
async function register(resource: string, origin = ORIGIN) {
  const { serverMetadata } = await discoverAuthorization(resource);
  return await ensureClient(serverMetadata, {
    clientMetadata: {
      client_name: "My app",
      post_logout_redirect_uris: [`${origin}/`],
    },
    redirectUri: `${origin}/callback`,
  });
}

testSite("hosts/next_routes.ts", async (_, origin) => {
  const servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  const client = await register(resource, origin);
  const stores = new Map<string, ISessionStore>();
  const storeOf = (id: string) =>
    stores.getOrInsertComputed(id, () => memoryStore());
  const create = () => createRoutes({ origin, resource, client, storeOf });
  let routes = create();
  const errors = stub(console, "error", () => {});
  return {
    origin,
    servers,
    get log() {
      return errors.calls.map(({ args }) => String(args[0])).join("\n");
    },
    async send(url, init) {
      // As behind a proxy.
      const request = new Request(
        `http://10.0.0.1${url.pathname}${url.search}`,
        init,
      );
      const { login, callback, logout, notes } = routes;
      const handlers: Record<string, (request: Request) => Promise<Response>> =
        {
          "GET /login": login,
          "GET /callback": callback,
          "POST /logout": logout,
          "GET /": notes,
        };
      const handler = handlers[`${request.method} ${url.pathname}`];
      return await handler?.(request) ?? new Response(null, { status: 405 });
    },
    async expire() {
      for (const store of stores.values()) {
        const session = await store.load();
        if (!session) continue;
        const token = { ...session.token, expires_at: 1 };
        await store.save({ ...session, token });
      }
    },
    restart() {
      routes = create();
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      errors[Symbol.dispose]();
      await servers[Symbol.asyncDispose]();
    },
  };
});

const programs = findPostgres();
if (!programs) {
  console.log("PostgreSQL is not installed: session_vault.ts is not run");
}

Deno.test({
  name: "session_vault.ts keeps sessions apart, and opens none that was moved",
  ignore: !programs,
  async fn() {
    await using server = await startPostgres(programs!);
    const [sql, locks] = [postgres(server.url), postgres(server.url)];
    const source = new URL("hosts/session_vault.ts", import.meta.url);
    const [statement = ""] = /CREATE TABLE.*?\);/s.exec(
      (await Deno.readTextFile(source)).replaceAll("// ", ""),
    ) ?? [];
    await sql.unsafe(statement);
    const algorithm = { name: "AES-GCM", length: 256 };
    const newKey = () =>
      crypto.subtle.generateKey(algorithm, false, ["encrypt", "decrypt"]);
    const vault = createVault(sql, locks, await newKey());
    const store = vault("alice", "https://api.example");
    assertEquals(await store.load(), undefined);
    await store.save(SESSION);
    const next: ISession = { ...SESSION, scopes: ["read", "naïve"] };
    await store.save(next);
    assertEquals(await store.load(), next);

    // Only a part of the lock is tested here, as it is that of sql_store.ts.
    const other = vault("alice", "https://other.example");
    await store.lock!(() => within(LIMIT_MS, other.lock!(() => other.load())));

    const [row] = await sql`SELECT * FROM vault`;
    const text = new TextDecoder().decode(row?.sealed);
    assert(!text.includes(SESSION.token.access_token), "not encrypted");
    await sql`UPDATE vault SET user_id = 'bob'`;
    assertEquals(await store.load(), undefined);
    const moved = vault("bob", "https://api.example");
    await assertRejects(() => moved.load(), DOMException);
    const withOtherKey = createVault(sql, locks, await newKey());
    await assertRejects(() =>
      withOtherKey("bob", "https://api.example").load()
    );
    await moved.save(undefined);
    assertEquals(await moved.load(), undefined);
    await Promise.all([sql.end(), locks.end()]);
  },
});

Deno.test("url_elicitation.ts has the user of a tool sign in elsewhere, and no one else", async () => {
  const servers = await startTestServers();
  const { resource, receiver } = servers;
  const stores = new Map<string, ISessionStore>();
  const elsewhere = createElsewhere({
    origin: ORIGIN,
    resource,
    client: await register(resource),
    storeOf: (user) => stores.getOrInsertComputed(user, () => memoryStore()),
  });
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.registerTool("notes", {}, async () => {
    const response = await elsewhere.call("alice", server);
    return { content: [{ type: "text", text: `${response.status}` }] };
  });
  const sessionIdGenerator = () => crypto.randomUUID();
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator,
  });
  await server.connect(transport);
  const client = new Client({ name: "test", version: "1.0.0" }, {
    capabilities: { elicitation: { url: {} } },
  });
  const completed = Promise.withResolvers<string>();
  client.setNotificationHandler(
    ElicitationCompleteNotificationSchema,
    ({ params }) => completed.resolve(params.elicitationId),
  );
  const connection = new StreamableHTTPClientTransport(
    new URL("https://mcp.example/mcp"),
    { fetch: (url, init) => transport.handleRequest(new Request(url, init)) },
  );
  // deno-lint-ignore no-explicit-any
  await client.connect(connection as any);
  const call = () => client.callTool({ name: "notes" });
  const errors = await Promise.all(
    [1, 2].map(() => assertRejects(call, UrlElicitationRequiredError)),
  );
  const [elicitation, ...others] = errors.flatMap((one) => one.elicitations);
  assert(elicitation);
  assertEquals(others, [elicitation]);

  const open = async (url: string, id?: string, before?: Response) => {
    const field = before?.headers.get("Set-Cookie") ?? await sealCookie({ id });
    const [Cookie = ""] = field.split("; ");
    const request = new Request(url, { headers: { Cookie } });
    const isCallback = new URL(url).pathname === "/callback";
    return await elsewhere[isCallback ? "callback" : "connect"](request);
  };
  // The URL leads nobody else anywhere, and no other sign-in ends at this user.
  for (const id of ["bob", undefined]) {
    assertEquals((await open(elicitation.url, id)).status, 403);
  }
  const redirect = await open(elicitation.url, "alice");
  const callback = await receiver.visit(redirect.headers.get("Location") ?? "");
  assertEquals((await open(callback, "bob")).status, 403);
  assertEquals((await open(callback, "alice", redirect)).status, 200);
  assertEquals(
    await within(LIMIT_MS, completed.promise),
    elicitation.elicitationId,
  );
  const text = [{ type: "text", text: "200" }];
  assertEquals((await call()).content, text);
  servers.expireAccessTokens();
  assertEquals((await call()).content, text);
  assertEquals(servers.received("authorization").length, 1);
  assertEquals([...stores.keys()], ["alice"]);
  await client.close();
  await server.close();
  await servers.close();
});
