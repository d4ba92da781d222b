import type { Server } from "../../server.ts";

export default [
  {
    name: "better-auth 1.6, mcp()",
    packages: { "better-auth": "1.6.34" },
    command: ["node", "mcp_1_6.mjs"],
    plays: ["deleted"],
  },
  {
    name: "better-auth 1.7, @better-auth/mcp",
    packages: {
      "better-auth": "1.7.5",
      "@better-auth/core": "1.7.5",
      "@better-auth/mcp": "1.7.5",
      "@better-auth/oauth-provider": "1.7.5",
      "better-call": "1.4.0",
    },
    command: ["node", "mcp_1_7.mjs"],
    stepUpPath: "/admin",
    plays: ["refuse", "step_up", "deleted"],
  },
] satisfies Server[];
