/** An MCP server that calls an API for its callers, with a real token exchange. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { assertEquals, assertMatch } from "@std/assert";
import { stub } from "@std/testing/mock";
import { codeFlow, createAuthorizedFetch } from "../../mod.ts";
import { serve } from "../servers/_serve.ts";
import { createBrowser } from "../servers/browser.ts";
import { startTokenExchange } from "../servers/token_exchange.ts";
import { createHandler } from "./mcp_on_behalf_of.ts";

/** Puts the clock of this process forward, but for `new Date()`. */
function createClock() {
  const { now } = Date;
  const clock = { seconds: 0 };
  const stubbed = stub(Date, "now", () => now() + clock.seconds * 1_000);
  return Object.assign(clock, {
    [Symbol.dispose]: () => stubbed[Symbol.dispose](),
  });
}

/** Starts the example, the server that exchanges tokens, and the API. */
async function start() {
  const statuses: number[] = [];
  const handler = { handle: (_: Request) => Promise.resolve(new Response()) };
  const mcp = serve(async (request) => {
    const response = await handler.handle(request);
    if (request.method === "POST") statuses.push(response.status);
    return response;
  });
  const resource = `${mcp.origin}/mcp`;
  const exchange = await startTokenExchange(resource);
  const { server: { issuer }, client, api } = exchange;
  handler.handle = createHandler({
    resource,
    issuer,
    jwksUri: `${issuer}/jwks`,
    client,
    api: api.resource,
  });
  return {
    ...exchange,
    resource,
    statuses,
    async [Symbol.asyncDispose]() {
      await mcp.close();
      await exchange[Symbol.asyncDispose]();
    },
  };
}

function connectTo(resource: string, login: string) {
  const browser = createBrowser({ login });
  const visits: string[] = [];
  const api = createAuthorizedFetch(resource, {
    flow: codeFlow({
      clientMetadata: { client_name: "MCP client" },
      redirectUri: "http://127.0.0.1/callback",
      scopes: ["mcp:read"],
      offlineAccess: false,
      visit: (url) => {
        visits.push(login);
        return browser.authorize(url);
      },
    }),
  });
  return { api, visits };
}

/** Signs a user in to the MCP server, and connects a client. */
async function connect(resource: string, login: string) {
  const { api, visits } = connectTo(resource, login);
  const client = new Client({ name: login, version: "1.0.0" });
  // deno-lint-ignore no-explicit-any
  const transport: any = new StreamableHTTPClientTransport(new URL(resource), {
    fetch: api,
  });
  await client.connect(transport);
  /** The subject of the token that the API got, and whom it was issued to. */
  const call = async () => {
    const { content, isError } = await client.callTool({ name: "notes" });
    const [{ text }] = content as [{ text: string }];
    if (isError) return text;
    const { claims } = JSON.parse(text);
    return `${claims.sub} by ${claims.client_id}`;
  };
  return { call, visits, api, close: () => client.close() };
}

Deno.test("mcp_on_behalf_of.ts calls the API for each caller, until the token of the caller ends", async () => {
  using clock = createClock();
  await using world = await start();
  const { resource, exchanged, ended, statuses } = world;
  const ann = await connect(resource, "ann");
  const bob = await connect(resource, "bob");
  assertEquals(exchanged, []);
  const [ofAnn, ofBob] = ["ann by mcp-server", "bob by mcp-server"];
  const callers = [ann, bob, ann, bob, ann, bob];
  const callAll = () => Promise.all(callers.map(({ call }) => call()));
  assertEquals(await callAll(), [ofAnn, ofBob, ofAnn, ofBob, ofAnn, ofBob]);
  assertEquals(exchanged.map(({ sub }) => sub).sort(), ["ann", "bob"]);

  // The tokens for the API have expired, and are exchanged once more for each.
  clock.seconds = 310;
  assertEquals(await callAll(), [ofAnn, ofBob, ofAnn, ofBob, ofAnn, ofBob]);
  assertEquals(exchanged.length, 4);
  const tokens = new Set(exchanged.map(({ token }) => token));
  assertEquals(tokens.size, 2);

  // The server refuses ann's token: after a 401, her client has another.
  ended.add(exchanged.find(({ sub }) => sub === "ann")?.token ?? "");
  clock.seconds = 620;
  exchanged.length = statuses.length = 0;
  assertEquals(await ann.call(), ofAnn);
  assertEquals(await bob.call(), ofBob);
  assertEquals(statuses, [401, 200, 200]);
  assertEquals([ann.visits, bob.visits], [["ann"], ["bob"]]);
  assertEquals(exchanged.map(({ sub }) => sub), ["ann", "ann", "bob"]);
  await ann.close();
  await bob.close();
});

Deno.test("mcp_on_behalf_of.ts exchanges no token that has expired, is for another service, or is none", async () => {
  using clock = createClock();
  await using world = await start();
  const { resource, exchanged, api } = world;
  const ann = await connect(resource, "ann");
  const { token } = (await ann.api.session())!;
  await ann.close();
  const forApi = connectTo(api.resource, "ann");
  const other = (await forApi.api.signIn()).token.access_token;
  const post = (authorization: string) =>
    fetch(resource, {
      method: "POST",
      headers: {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        ...authorization && { Authorization: authorization },
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "notes", arguments: {} },
      }),
    });
  clock.seconds = 3_700;
  for (
    const given of ["", "Basic YTpi", `Bearer ${other}`, "Bearer none"]
  ) {
    const response = await post(given);
    await response.body?.cancel();
    assertEquals(response.status, 401, given);
  }
  const response = await post(`Bearer ${token.access_token}`);
  await response.body?.cancel();
  assertEquals(response.status, 401);
  assertMatch(
    response.headers.get("WWW-Authenticate") ?? "",
    /^Bearer error="invalid_token", resource_metadata="http/,
  );
  assertEquals(exchanged, []);
});
