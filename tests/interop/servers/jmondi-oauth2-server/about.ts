import type { Server } from "../../server.ts";

export default [{
  name: "@jmondi/oauth2-server",
  packages: { "@jmondi/oauth2-server": "4.3.7", "express": "5.3.0" },
  command: ["node", "server.mjs"],
  isLight: true,
  options: ({ resource }) => ({
    flow: {
      knownClients: [{
        issuer: new URL(resource).origin,
        client_id: "interop",
        token_endpoint_auth_method: "none",
      }],
    },
  }),
  advice: /set client to an existing client/,
  plays: ["advice", "credentials"],
}] satisfies Server[];
