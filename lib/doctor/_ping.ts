/** The request to a resource that accepts no `GET`. */

/** A request of MCP without any effect on its servers. */
export const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
