import type { IServer } from "../../server.ts";

const servers: IServer[] = [{
  name: "fastmcp, OAuth proxy",
  packages: { fastmcp: "4.20.16" },
  command: ["node", "server.mjs"],
  plays: ["refuse"],
  fails: { authorize: "S2", lost: "S2", sign_out: "S12", restart: "S4" },
}];

export default servers;
