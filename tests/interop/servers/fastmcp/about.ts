import type { IServer } from "../../server.ts";

const servers: IServer[] = [{
  name: "fastmcp, OAuth proxy",
  packages: { fastmcp: "4.20.16" },
  command: ["node", "server.mjs"],
  plays: ["refuse"],
}];

export default servers;
