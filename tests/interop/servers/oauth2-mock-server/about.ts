import type { Server } from "../../server.ts";

export default [{
  name: "oauth2-mock-server",
  packages: {
    "oauth2-mock-server": "9.3.0",
    "jose": "6.2.12",
  },
  command: ["node", "server.mjs"],
  node: "22.23.3",
  options: ({ upstream }) => {
    const issuer = upstream.replace("127.0.0.1", "localhost");
    return { flow: { knownClients: [{ issuer, client_id: "interop" }] } };
  },
  plays: ["credentials"],
  // Every refresh token is good there.
  lacks: ["dead", "lost"],
}] satisfies Server[];
