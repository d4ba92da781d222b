import type { Server } from "../../server.ts";

export default [{
  name: "mcp-framework",
  packages: {
    "mcp-framework": "0.2.22",
    "@modelcontextprotocol/sdk": "1.32.2",
    "oidc-provider": "9.13.3",
    "zod": "3.25.76",
  },
  command: ["node", "server.mjs"],
  // Nothing that it publishes names a scope, and oidc-provider denies a request without:
  // with `access_denied`, as if the user had refused, so that no error can advise scopes.
  options: () => ({ flow: { scopes: ["mcp:read"] } }),
  unseen: ["scopes"],
  plays: ["refuse"],
}] satisfies Server[];
