/** Requests of the Model Context Protocol, whose servers need not accept `GET`. */

import { isMembers } from "../core/_members.ts";

/** A request without any effect. */
export const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** The first request of every client. */
export const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "Doctor of @oauth-helper/client", version: "1.0.0" },
  },
});

/** Checks whether a body is that of such a server. */
export function isJsonRpc(text = ""): boolean {
  try {
    const body: unknown = JSON.parse(text);
    return isMembers(body) && body.jsonrpc === "2.0";
  } catch {
    return false;
  }
}
