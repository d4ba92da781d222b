import type { Server } from "../../server.ts";

const sdk = { "@modelcontextprotocol/sdk": "1.32.2", "express": "5.3.0" };

export default [
  {
    name: "@modelcontextprotocol/sdk, mcpAuthRouter",
    packages: sdk,
    command: ["node", "router.mjs", "sdk"],
    isLight: true,
    stepUpPath: "/admin",
    plays: ["refuse", "step_up", "deleted"],
  },
  {
    name: "mcp-use, imitation of its registration",
    packages: sdk,
    version: "-",
    command: ["node", "router.mjs", "sdk", "no-secret"],
    isLight: true,
    plays: ["refuse"],
  },
  {
    name: "@modelcontextprotocol/sdk, mcpAuthRouter of 1.17",
    packages: { ...sdk, "@modelcontextprotocol/sdk": "1.17.5" },
    command: ["node", "router.mjs", "sdk"],
    // Its challenges name no scopes, so that all of them are requested at once.
    plays: ["refuse", "deleted"],
  },
  {
    name: "@modelcontextprotocol/sdk, demo provider",
    packages: sdk,
    command: ["node", "demo.mjs"],
    isLight: true,
    // It issues no refresh tokens, and a token that it does not know is a 500.
    lacks: ["offline", "expiry", "put_off", "dead", "restart"],
  },
  {
    name: "@modelcontextprotocol/sdk, ProxyOAuthServerProvider",
    packages: sdk,
    command: ["node", "proxy.mjs"],
    isLight: true,
    plays: ["refuse", "deleted"],
  },
  {
    name: "@modelcontextprotocol/sdk, ProxyOAuthServerProvider and iss",
    packages: sdk,
    command: ["node", "proxy.mjs", "iss"],
    isLight: true,
    options: ({ resource, upstream }) => ({
      fetch: { trustedIssuers: { [new URL("/", resource).href]: upstream } },
    }),
    // Only its authorization responses name the other issuer.
    unseen: ["trustedIssuers"],
    advice: /trustedIssuers/,
    plays: ["refuse", "advice", "deleted"],
  },
  {
    name: "@modelcontextprotocol/server-legacy",
    packages: {
      "@modelcontextprotocol/server-legacy": "2.3.1",
      "express": "5.3.0",
    },
    command: ["node", "router.mjs", "legacy"],
    stepUpPath: "/admin",
    plays: ["refuse", "step_up", "deleted"],
  },
  {
    name: "@hono/mcp",
    packages: {
      "@hono/mcp": "0.3.2",
      "@hono/node-server": "2.1.8",
      "@modelcontextprotocol/sdk": "1.32.2",
      "hono": "4.13.19",
      "hono-rate-limiter": "0.5.4",
    },
    command: ["node", "hono.mjs"],
    isLight: true,
    plays: ["refuse", "deleted"],
    // After S1: its revocation endpoint is 500, as it reads every form as JSON.
  },
] satisfies Server[];
