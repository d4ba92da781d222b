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
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  discoverAuthorization,
  ensureClient,
  memoryStore,
  type Session,
  type SessionStore,
} from "../../mod.ts";
import { startTestServers } from "../../lib/testing/mod.ts";
import { createWebSignIn } from "../../lib/web/mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { findPostgres, poolOf, startPostgres } from "../servers/postgres.ts";
import {
  assertCompares,
  assertOneReplaces,
} from "../support/comparing_store.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { testSite } from "./_sites.ts";
import { createRoutes } from "./hosts/next_routes.ts";
import * as remix from "./hosts/remix_routes.ts";
import { createVault } from "./hosts/session_vault.ts";
import { createElsewhere } from "./hosts/url_elicitation.ts";

const ORIGIN = "https://app.example";

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
  const stores = new Map<string, SessionStore>();
  const storeOf = (id: string) =>
    stores.getOrInsertComputed(id, () => memoryStore());
  const cookieKeys = [crypto.getRandomValues(new Uint8Array(32))];
  const create = () =>
    createRoutes(resource, { origin, client, storeOf, cookieKeys });
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
        if (!session?.token) continue;
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

Deno.test("remix_routes.ts signs users in, and calls the API", async () => {
  const servers = await startTestServers();
  const { resource, receiver } = servers;
  const stores = new Map<string, SessionStore>();
  const signIn = createWebSignIn(resource, {
    origin: ORIGIN,
    client: await register(resource),
    storeOf: (id) => stores.getOrInsertComputed(id, () => memoryStore()),
    cookieKeys: [new Uint8Array(32)],
  });
  const { login, callback, logout, notes } = remix.createRoutes(
    signIn,
    resource,
  );
  const cookies = new Map<string, string>();
  const request = (path: string, method = "GET") => {
    const pairs = [...cookies].map((pair) => pair.join("="));
    const headers = { Cookie: pairs.join("; "), Origin: ORIGIN };
    return new Request(new URL(path, ORIGIN), { method, headers });
  };
  const keep = ({ headers }: Response) => {
    for (const line of headers.getSetCookie()) {
      const [, name = "", value = ""] = /^(.*?)=(.*?);/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return headers.get("Location") ?? "";
  };
  const url = keep(await login({ request: request("/login") }));
  const first = request(await receiver.visit(url));
  assertEquals(keep(await callback({ request: first })), `${ORIGIN}/`);
  const body = await notes({ request: request("/notes") });
  assertEquals((body as { ok: boolean }).ok, true);
  // The router requests data: no redirect leads to the server, and no error is data.
  servers.revoke();
  const data = request("/notes");
  data.headers.set("Sec-Fetch-Dest", "empty");
  const refused: unknown = await notes({ request: data })
    .catch((response) => response);
  assert(refused instanceof Response);
  assertEquals([refused.status, [...refused.headers]], [401, []]);
  keep(await logout({ request: request("/logout", "POST") }));
  const thrown: unknown = await notes({ request: request("/notes") })
    .catch((response) => response);
  assert(thrown instanceof Response);
  const server = keep(await login({ request: request(keep(thrown)) }));
  const next = await receiver.visit(server);
  const back = keep(await callback({ request: request(next) }));
  assertEquals(back, `${ORIGIN}/notes`);
  await servers.close();
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
    const sql = poolOf(server.url);
    const source = new URL("sql_store.ts", import.meta.url);
    const [statement = ""] = /CREATE TABLE.*?\);/s.exec(
      (await Deno.readTextFile(source)).replaceAll("// ", ""),
    ) ?? [];
    await sql.query(statement);
    const algorithm = { name: "AES-GCM", length: 256 };
    const newKey = () =>
      crypto.subtle.generateKey(algorithm, false, ["encrypt", "decrypt"]);
    const vault = createVault(sql, await newKey());
    const store = vault("alice", "https://api.example");
    assertEquals(await store.load(), null);
    await store.save(SESSION);
    const next: Session = { ...SESSION, scopes: ["read", "naïve"] };
    await store.save(next);
    assertEquals(await store.load(), next);

    // Only a part of the lock is tested here, as it is that of sql_store.ts.
    const other = vault("alice", "https://other.example");
    await store.lock!(() => within(LIMIT_MS, other.lock!(() => other.load())));

    const { rows: [row] } = await sql.query("SELECT * FROM sessions");
    assertMatch(row?.session, /^[A-Za-z0-9+/]+=*$/);
    assert(!atob(row.session).includes("access_token"), "not encrypted");
    await sql.query("UPDATE sessions SET id = replace(id, 'alice', 'bob')");
    assertEquals(await store.load(), null);
    const moved = vault("bob", "https://api.example");
    await assertRejects(() => moved.load(), DOMException);
    const withOtherKey = createVault(sql, await newKey());
    await assertRejects(() =>
      withOtherKey("bob", "https://api.example").load()
    );
    await moved.save(undefined);
    assertEquals(await moved.load(), null);
    await assertCompares(moved);
    await assertOneReplaces(() => vault("bob", "https://api.example"));
    await sql.end();
  },
});

Deno.test("url_elicitation.ts has the user of a tool sign in elsewhere, and no one else", async () => {
  const servers = await startTestServers();
  const { resource, receiver } = servers;
  const stores = new Map<string, SessionStore>();
  const elsewhere = createElsewhere({
    origin: ORIGIN,
    resource,
    client: await register(resource),
    storeOf: (user) => stores.getOrInsertComputed(user, () => memoryStore()),
    userOf: ({ headers }) => Promise.resolve(headers.get("User") ?? undefined),
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

  const open = async (url: string, user?: string) => {
    const headers: HeadersInit = user ? { User: user } : {};
    const request = new Request(url, { headers });
    const isCallback = new URL(url).pathname === "/callback";
    return await elsewhere[isCallback ? "callback" : "connect"](request);
  };
  // The URL leads nobody else anywhere, and no other sign-in ends at this user.
  for (const user of ["bob", undefined]) {
    assertEquals((await open(elicitation.url, user)).status, 403);
  }
  const redirect = await open(elicitation.url, "alice");
  const callback = await receiver.visit(redirect.headers.get("Location") ?? "");
  assertEquals((await open(callback, "bob")).status, 403);
  assertEquals((await open(callback, "alice")).status, 200);
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
