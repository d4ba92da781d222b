import process from "node:process";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const url = new URL(process.argv[2] ?? "https://api.example/mcp");
const clientMetadata = { client_name: "My client" };
const api = createAuthorizedFetch(url, {
  store: fileStore(".session.json"),
  flow: codeFlow({ ...createLoopbackReceiver(), clientMetadata }),
});
await api.signIn(); // First: the requests of `connect` time out after a minute.
const client = new Client({ name: "My client", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(url, { fetch: api }));
const { tools } = await client.listTools();
for (const { name } of tools) console.log(name);
await client.close();
process.exit();
