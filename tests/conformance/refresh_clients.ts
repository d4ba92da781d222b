/** Clients that play the scenarios about refresh tokens. */
import * as v2 from "@modelcontextprotocol/client";
// @ts-types="@modelcontextprotocol/sdk/client/index"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { codeFlow, createAuthorizedFetch } from "../../mod.ts";
import {
  createMcpProvider,
  MCP_CLIENT_METADATA,
} from "../support/mcp_provider.ts";
import { type Check, playAt, type Scenario, SCENARIOS } from "./refresh.ts";

const INFO = { name: "refresh", version: "1.0.0" };
/** A user who consents; returns the URL of the redirect. */
async function visit(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  await response.body?.cancel();
  return response.headers.get("Location") ?? "";
}

interface McpClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(request: { name: string }): Promise<unknown>;
  close(): Promise<void>;
}

/** Connects to a server; `recover` is called before what has failed is repeated. */
export type Connect = (url: URL) => Promise<{
  client: McpClient;
  recover(): Promise<void>;
}>;

/** Connects with the transport of an official client, and its own authorization. */
function official(
  connect: (url: URL, authProvider: v2.OAuthClientProvider) => {
    client: McpClient;
    connect(): Promise<void>;
    finish(callback: URLSearchParams): Promise<void>;
  },
): Connect {
  return async (url) => {
    let callback: URLSearchParams | undefined;
    const { provider, kept } = createMcpProvider({
      invalidateCredentials(scope) {
        for (const name of scope === "all" ? Object.keys(kept) : [scope]) {
          delete kept[name];
        }
      },
      async redirectToAuthorization(url) {
        callback = new URL(await visit(url)).searchParams;
      },
    });
    let opened = connect(url, provider);
    const recover = async () => {
      const params = callback;
      callback = undefined;
      if (params) await opened.finish(params);
    };
    try {
      await opened.connect();
    } catch {
      await recover();
      opened = connect(url, provider);
      await opened.connect();
    }
    return { client: opened.client, recover };
  };
}

export const authorize = codeFlow({
  clientMetadata: { client_name: "Refresh" },
  redirectUri: MCP_CLIENT_METADATA.redirect_uris[0]!,
  visit,
});

/** Connects with the transport of an official client, and a fetch function. */
export const withFetch =
  (open: (url: URL) => typeof fetch): Connect => async (url) => {
    const client = new v2.Client(INFO);
    const transport = { fetch: open(url) };
    await client.connect(new v2.StreamableHTTPClientTransport(url, transport));
    return { client, recover: () => Promise.resolve() };
  };

export const CLIENTS: Readonly<Record<string, Connect>> = {
  ours: withFetch((url) => createAuthorizedFetch(url, { flow: authorize })),
  "@modelcontextprotocol/client 2.4.0": official((url, authProvider) => {
    const client = new v2.Client(INFO);
    const transport = new v2.StreamableHTTPClientTransport(url, {
      authProvider,
    });
    return {
      client,
      connect: () => client.connect(transport),
      finish: (callback) => transport.finishAuth(callback),
    };
  }),
  "@modelcontextprotocol/sdk 1.32.2": official((url, authProvider) => {
    const client = new Client(INFO);
    // deno-lint-ignore no-explicit-any
    const options = { authProvider } as any;
    const transport = new StreamableHTTPClientTransport(url, options);
    return {
      client: client as unknown as McpClient,
      // deno-lint-ignore no-explicit-any
      connect: () => client.connect(transport as any),
      finish: (callback) => transport.finishAuth(callback.get("code") ?? ""),
    };
  }),
};

export function play(
  scenario: Scenario,
  connect: Connect,
): Promise<Check[]> {
  return playAt(scenario, async (url) => {
    const { client, recover } = await connect(url);
    const twice = <T>(action: () => Promise<T>) =>
      action().catch(async () => {
        await recover();
        return await action();
      });
    const { tools } = await twice(() => client.listTools());
    await Promise.all(
      tools.map(({ name }) => twice(() => client.callTool({ name }))),
    );
    await client.close();
  });
}

if (import.meta.main) {
  for (const [name, connect] of Object.entries(CLIENTS)) {
    console.log(name);
    for (const scenario of SCENARIOS) {
      const checks = await play(scenario, connect);
      const failed = checks.filter(({ failure }) => failure !== undefined);
      const passed = checks.length - failed.length;
      console.log(`  ${scenario.name}: ${passed} of ${checks.length}`);
      for (const { id, failure } of failed) {
        console.log(`    ${id}: ${failure}`);
      }
    }
  }
}
