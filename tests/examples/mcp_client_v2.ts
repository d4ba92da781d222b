import process from "node:process";
import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const url = new URL(process.argv[2] ?? "https://api.example/mcp");
const api = createAuthorizedFetch(url, {
  store: fileStore(".session.json"),
  flow: codeFlow({
    ...createLoopbackReceiver({ title: "My client" }),
    clientMetadata: { client_name: "My client" },
  }),
});

// First: the requests of `connect` time out after a minute.
await api.signIn();
const client = new Client({ name: "My client", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(url, { fetch: api }));
const { tools } = await client.listTools();
for (const { name } of tools) console.log(name);
await client.close();
// Deno 2.9 keeps running after this: it loses the abort of a stream of events whose
// `Response` was garbage-collected.
process.exit();
