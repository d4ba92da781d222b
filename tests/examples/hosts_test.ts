/**
 * The examples for programs that take no `fetch`, and for clients of others that do, with
 * the packages themselves. Each lives longer than its first access token.
 */

import { createMCPClient } from "@ai-sdk/mcp";
import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
// @ts-types="@modelcontextprotocol/sdk/client/index"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/webStandardStreamableHttp"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  type AuthorizedFetch,
  codeFlow,
  createAuthorizedFetch,
} from "../../mod.ts";
import { startTestServers, type TestServers } from "../../lib/testing/mod.ts";
import { headersOf, withTools } from "./hosts/header_fields.ts";
import * as http from "./hosts/http_clients.ts";
import { authProviderOf } from "./hosts/mcp_auth_provider.ts";
import { oauthProviderOf } from "./hosts/mcp_oauth_provider.ts";
import * as models from "./hosts/model_clients.ts";
import { slackOf } from "./hosts/slack.ts";

/** Responds as an MCP server with one tool, and elsewhere with JSON. */
async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname !== "/mcp") {
    return Response.json({ pathname, data: [], content: [], choices: [] });
  }
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.registerTool("read", {}, () => ({
    content: [{ type: "text", text: "done" }],
  }));
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
  });
  await server.connect(transport);
  return await transport.handleRequest(request);
}

interface World {
  api: AuthorizedFetch;
  servers: TestServers;
  resource: string;
}

function test(
  name: string,
  play: (world: World) => Promise<void>,
  path = "/mcp",
): void {
  Deno.test(name, async () => {
    const servers = await startTestServers({
      handle,
      resource: `https://api.example${path}`,
    });
    try {
      const { resource, receiver, now } = servers;
      const authorize = codeFlow(receiver);
      const api = createAuthorizedFetch(resource, { flow: authorize, now });
      await play({ api, servers, resource });
    } finally {
      await servers.close();
    }
  });
}

/** The number of sign-ins, registrations and refreshes. */
const countsOf = ({ received }: TestServers) => [
  received("authorization").length,
  received("registration").length,
  received("token", "refresh_token").length,
];

/** Calls the tool with a token, with one that has expired, and with one that is refused. */
async function playTool(
  { servers }: World,
  callTool: () => Promise<unknown>,
  refusal?: () => Promise<unknown>,
): Promise<void> {
  await callTool();
  servers.advance(3600);
  await callTool();
  assertEquals(countsOf(servers), [1, 1, 1]);
  servers.expireAccessTokens();
  await refusal?.();
  await callTool();
  assertEquals(countsOf(servers), [1, 1, 2]);
}

test("authProviderOf() keeps a client of the MCP SDK 2.x signed in", async (world) => {
  const { api, resource } = world;
  const client = new Client({ name: "test", version: "1.0.0" });
  const authProvider = authProviderOf(api);
  const transport = new StreamableHTTPClientTransport(new URL(resource), {
    authProvider,
  });
  await client.connect(transport);
  await playTool(world, () => client.callTool({ name: "read" }));
  await client.close();
});

test("oauthProviderOf() keeps a client of the MCP SDK 1.x signed in", async (world) => {
  const { api, resource } = world;
  const client = new ClientV1({ name: "test", version: "1.0.0" });
  const url = new URL(resource);
  const authProvider = oauthProviderOf(url, api);
  // deno-lint-ignore no-explicit-any
  await client.connect(new TransportV1(url, { authProvider }) as any);
  const callTool = () => client.callTool({ name: "read" });
  await playTool(
    world,
    callTool,
    () => assertRejects(callTool, Error, "Unauthorized"),
  );
  await client.close();
});

test("oauthProviderOf() keeps a client of the AI SDK signed in", async (world) => {
  const { api, resource } = world;
  const client = await createMCPClient({
    transport: {
      type: "http",
      url: resource,
      authProvider: oauthProviderOf(resource, api),
    },
  });
  const callTool = () => client.tools();
  await playTool(world, callTool, () => assertRejects(callTool));
  await client.close();
});

// `@mastra/mcp` passes its provider on to this client. It is not installed for a test:
// with what it depends on, it has 281 MB.
test("oauthProviderOf() keeps a client of the MCP SDK 2.x signed in, as Mastra has it", async (world) => {
  const { api, resource } = world;
  const client = new Client({ name: "test", version: "1.0.0" });
  const url = new URL(resource);
  const authProvider: OAuthClientProvider = oauthProviderOf(url, api);
  await client.connect(
    new StreamableHTTPClientTransport(url, { authProvider }),
  );
  const callTool = () => client.callTool({ name: "read" });
  await playTool(world, callTool, () => assertRejects(callTool));
  await client.close();
});

test("headersOf() gives the adapters of LangChain a token for each run", async (world) => {
  const { api, servers, resource } = world;
  const run = () =>
    withTools(resource, api, async (client) => {
      const [tool] = await client.getTools();
      return await tool?.invoke({});
    });
  assertEquals(await run(), "done");
  servers.advance(3600);
  assertEquals(await run(), "done");
  assertEquals(countsOf(servers), [1, 1, 1]);
  const { token } = await api.signIn();
  assertEquals(await headersOf(api), {
    Authorization: `Bearer ${token.access_token}`,
  });
});

/** A request with each client, and what comes of it. */
const CLIENTS: Record<
  string,
  (api: AuthorizedFetch, url: string) => Promise<unknown>
> = {
  axiosOf: async (api, url) =>
    (await http.axiosOf(api, url).get("/things")).data,
  kyOf: (api, url) => http.kyOf(api, url).get("things").json(),
  ofetchOf: (api, url) => http.ofetchOf(api, url)("/things"),
  openapiFetchOf: async (api, url) => {
    interface Paths {
      "/things": {
        get: {
          responses: { 200: { content: { "application/json": object } } };
        };
      };
    }
    return (await http.openapiFetchOf<Paths>(api, url).GET("/things")).data;
  },
  octokitOf: async (api, url) =>
    (await http.octokitOf(api, url).request("GET /things")).data,
  openaiOf: (api, url) =>
    models.openaiOf(api, url).chat.completions.create({
      model: "test",
      messages: [],
    }),
  anthropicOf: (api, url) =>
    models.anthropicOf(api, url).messages.create({
      model: "test",
      max_tokens: 1,
      messages: [],
    }),
};

/** Credentials in the environment, which these packages would send. */
const CREDENTIALS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

for (const [name, call] of Object.entries(CLIENTS)) {
  test(
    `${name}() makes requests with the token, and with no key of the environment`,
    async (world) => {
      const { api, servers, resource } = world;
      for (const one of CREDENTIALS) Deno.env.set(one, "key-of-environment");
      try {
        await playTool(world, async () => {
          const result = await call(api, resource) as { pathname?: string };
          assertMatch(
            result.pathname ?? "",
            /^\/v1\/(things|chat|v1\/messages)/,
          );
        });
      } finally {
        for (const one of CREDENTIALS) Deno.env.delete(one);
      }
      const sent = servers.requests.flatMap(({ headers }) => [...headers]);
      assertEquals(sent.filter(([, value]) => value.includes("key-of")), []);
    },
    "/v1",
  );
}

/** Imitates Slack: user tokens in `authed_user`, and 200 for everything. */
class Slack {
  readonly visits: URL[] = [];
  readonly grants: string[] = [];
  #token = 0;

  expire() {
    this.#token++;
  }

  fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const { url, headers, text } = await readRequest(new Request(input, init));
    if (url.pathname === "/api/oauth.v2.access") {
      const form = new URLSearchParams(text);
      this.grants.push(form.get("grant_type") ?? "");
      if (form.get("client_secret") !== "s3cret") {
        return Response.json({ ok: false, error: "bad_client_secret" });
      }
      const authed_user = {
        id: "U1",
        scope: "users:read,chat:write",
        access_token: `xoxe.xoxp-${++this.#token}`,
        token_type: "user",
        refresh_token: `xoxe-${this.#token}`,
        expires_in: 43200,
      };
      return form.get("grant_type") === "refresh_token"
        ? Response.json({ ok: true, ...authed_user })
        : Response.json({ ok: true, app_id: "A1", authed_user });
    }
    const token = headers.get("Authorization") ?? "";
    if (token === `Bearer xoxe.xoxp-${this.#token}`) {
      return Response.json({ ok: true, user: "U1" });
    }
    const error = token ? "token_revoked" : "not_authed";
    return Response.json({ ok: false, error });
  };

  visit = (url: URL): Promise<string> => {
    this.visits.push(url);
    const state = url.searchParams.get("state") ?? "";
    return Promise.resolve(`https://app.example/cb?code=c1&state=${state}`);
  };
}

async function readRequest(request: Request) {
  const { headers } = request;
  return { url: new URL(request.url), headers, text: await request.text() };
}

Deno.test("slackOf() signs a user in, and renews a token that Slack refuses with 200", async () => {
  const slack = new Slack();
  using _fetch = stub(globalThis, "fetch", slack.fetch);
  const api = slackOf({
    ...{ id: "1.2", secret: "s3cret", scopes: ["users:read", "chat:write"] },
    redirectUri: "https://app.example/cb",
    visit: slack.visit,
  });
  const call = async () =>
    (await api("https://slack.com/api/auth.test", { method: "POST" })).json();
  assertEquals(await call(), { ok: true, user: "U1" });
  assertEquals((await api.session())?.scopes, ["users:read", "chat:write"]);
  const [visit] = slack.visits;
  const asked = ["user_scope", "scope", "resource"]
    .map((name) => visit?.searchParams.get(name));
  assertEquals(asked, ["users:read,chat:write", null, null]);
  slack.expire();
  assertEquals(await call(), { ok: true, user: "U1" });
  assertEquals(slack.grants, ["authorization_code", "refresh_token"]);
  assertEquals(slack.visits.length, 1);
});
