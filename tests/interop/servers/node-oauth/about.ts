import type { Server } from "../../server.ts";

export default [{
  name: "@node-oauth/oauth2-server",
  packages: { "@node-oauth/oauth2-server": "5.3.0", "express": "5.3.0" },
  command: ["node", "server.mjs"],
  isLight: true,
  options: ({ resource }) => ({
    flow: {
      knownClients: [{
        issuer: new URL(resource).origin,
        client_id: "interop",
        client_secret: "s3cret/+ %",
        token_endpoint_auth_method: "client_secret_basic",
      }],
    },
  }),
  plays: ["refuse", "credentials"],
}] satisfies Server[];
