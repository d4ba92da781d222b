import type { Server } from "../../server.ts";

export default [{
  name: "fastmcp, OAuth proxy",
  packages: { fastmcp: "4.20.16" },
  command: ["node", "server.mjs"],
  plays: ["refuse"],
}] satisfies Server[];
