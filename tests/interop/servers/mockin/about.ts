import type { Server } from "../../server.ts";

export default [{
  name: "@hellocoop/mockin",
  packages: { "@hellocoop/mockin": "2.0.0", "jose": "6.2.12" },
  command: ["node", "server.mjs"],
  // It registers nobody, and knows every client.
  options: ({ upstream }) => ({
    flow: { knownClients: [{ issuer: upstream, client_id: "interop" }] },
  }),
  // Its tokens do not expire, and it issues no refresh tokens.
  lacks: ["offline", "expiry", "put_off", "dead", "lost"],
}] satisfies Server[];
