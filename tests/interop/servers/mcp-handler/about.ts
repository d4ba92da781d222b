import type { Server } from "../../server.ts";

export default [{
  name: "mcp-handler",
  packages: {
    "mcp-handler": "2.4.0",
    "@hono/node-server": "2.1.8",
    "@modelcontextprotocol/server": "2.4.0",
    "hono": "4.13.19",
    "oidc-provider": "9.13.3",
  },
  command: ["node", "server.mjs"],
  stepUpPath: "/admin",
  plays: ["refuse", "step_up", "deleted"],
}] satisfies Server[];
