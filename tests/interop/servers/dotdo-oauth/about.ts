import type { Server } from "../../server.ts";

export default [{
  name: "@dotdo/oauth",
  packages: {
    "@dotdo/oauth": "0.1.7",
    "@hono/node-server": "1.19.6",
    "hono": "4.13.19",
  },
  command: ["node", "server.mjs"],
  isLight: true,
}] satisfies Server[];
