import { CLIENT_URL, type Server } from "../../server.ts";

const common = {
  packages: {
    "@cloudflare/workers-oauth-provider": "1.2.3",
    "miniflare": "4.20260730.0",
  },
  node: "22.23.3",
  stepUpPath: "/admin",
} as const;

export default [
  {
    ...common,
    name: "@cloudflare/workers-oauth-provider, registration",
    command: ["node", "server.mjs", "registration"],
    plays: ["refuse", "step_up", "deleted"],
  },
  {
    ...common,
    name: "@cloudflare/workers-oauth-provider, documents",
    command: ["node", "server.mjs", "documents"],
    options: () => ({ flow: { clientMetadataUrl: CLIENT_URL } }),
    advice: /clientMetadataUrl/,
    plays: ["refuse", "step_up", "advice"],
  },
] satisfies Server[];
