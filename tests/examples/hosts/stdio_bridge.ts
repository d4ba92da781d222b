/**
 * A remote MCP server for a host that only starts programs:
 * `{ "command": "node", "args": ["/path/stdio_bridge.ts", "URL", "/path/session.json"] }`.
 */
import process from "node:process";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import * as http from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/server/stdio"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import * as mcp from "@modelcontextprotocol/sdk/types.js";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const [url = "", file = ".session.json"] = process.argv.slice(2);
const store = fileStore(file);
const clientMetadata = { client_name: "My bridge" };
const flow = codeFlow({ ...createLoopbackReceiver(), clientMetadata });
const api = createAuthorizedFetch(url, { store, flow });
// Only a message of the host opens a browser, not the stream of events or the end.
const withoutUser = createAuthorizedFetch(url, { store });
const fetch = (input: string | URL, init?: RequestInit) =>
  (init?.method === "POST" ? api : withoutUser)(input, init);

const host = new StdioServerTransport();
let initialize: mcp.JSONRPCRequest | undefined;
let session = Promise.resolve(open((response) => host.send(response)));
let notified = Promise.resolve();

function open(onInitialized: (response: mcp.JSONRPCMessage) => void) {
  const remote = new http.StreamableHTTPClientTransport(new URL(url), {
    fetch,
  });
  remote.onerror = (error) => console.error(textOf(error));
  remote.onmessage = (message) => {
    const isAnswer = mcp.isJSONRPCResultResponse(message) ||
      mcp.isJSONRPCErrorResponse(message);
    if (!isAnswer || message.id !== initialize?.id) return host.send(message);
    if ("result" in message) {
      remote.setProtocolVersion(`${message.result.protocolVersion}`);
    }
    onInitialized(message);
  };
  remote.start();
  return remote;
}

/** Starts another session when the server has lost one. The host does not notice. */
async function reopen() {
  let remote!: http.StreamableHTTPClientTransport;
  await new Promise((resolve, reject) => {
    remote = open(resolve);
    const limit = () => setTimeout(reject, 30_000, new Error("No response"));
    remote.send(initialize!).then(limit, reject);
  });
  await remote.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return remote;
}

async function forward(message: mcp.JSONRPCMessage, isAgain = false) {
  const used = session;
  let id: string | undefined;
  try {
    const remote = await used;
    id = remote.sessionId;
    await remote.send(message);
  } catch (error) {
    if (id && statusOf(error) === 404 && !isAgain) {
      if (session === used) {
        session = reopen();
        session.catch(() => session = used);
      }
      return await forward(message, true);
    }
    if (!mcp.isJSONRPCRequest(message)) return;
    const data = { code: (error as { code?: unknown }).code };
    const code = mcp.ErrorCode.InternalError;
    const answer = { code, message: textOf(error), data };
    await host.send({ jsonrpc: "2.0", id: message.id, error: answer });
  }
}

const statusOf = (error: unknown) =>
  error instanceof http.StreamableHTTPError ? error.code : undefined;

// Without the text of a response, in which a server could repeat the token.
const textOf = (error: unknown) =>
  statusOf(error) ? `The MCP server returned ${statusOf(error)}` : `${error}`;

host.onerror = (error) => console.error(`${error}`);
host.onmessage = (message) => {
  if (mcp.isJSONRPCRequest(message) && message.method === "initialize") {
    initialize = message;
  }
  // A notification, such as `initialized`, arrives before later messages.
  const sent = notified.then(() => forward(message));
  if (!("id" in message)) notified = sent;
};
process.stdin.once("end", async () => {
  setTimeout(process.exit, 5_000, 0);
  await session.then((remote) => remote.terminateSession()).catch(() => {});
  process.exit();
});
await host.start();
