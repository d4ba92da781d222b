import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { receive } from "./receive.ts";

const url = new URL(process.argv[2] ?? "https://api.example/mcp");
const redirectUrl = "http://127.0.0.1:8766/callback";
// deno-lint-ignore no-explicit-any
let kept: any = {};
try {
  kept = JSON.parse(readFileSync(".session.json", "utf8"));
} catch {
  // The first run.
}
function keep(members: object): void {
  kept = { ...kept, ...members };
  writeFileSync(".session.json", JSON.stringify(kept), { mode: 0o600 });
}
let callback: Promise<URL> | undefined;
const authProvider = {
  redirectUrl,
  clientMetadata: { client_name: "My client", redirect_uris: [redirectUrl] },
  state: () => (kept.state = crypto.randomUUID()),
  clientInformation: () => kept.client,
  saveClientInformation: (client: object) => keep({ client }),
  tokens: () => kept.tokens,
  saveTokens: (tokens: object) => keep({ tokens }),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier: string) => keep({ verifier }),
  redirectToAuthorization(url: URL) {
    callback = receive(url.href, redirectUrl);
  },
};
const connect = async () => {
  const client = new Client({ name: "My client", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(url, { authProvider });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !callback) throw error;
    const { searchParams } = await callback;
    if (searchParams.get("state") !== kept.state) throw error;
    await transport.finishAuth(searchParams.get("code") ?? "");
    return undefined;
  }
  return client;
};
const client = await connect() ?? await connect();
const { tools = [] } = await client?.listTools() ?? {};
for (const { name } of tools) console.log(name);
await client?.close();
process.exit();
