/** mcp-framework with its OAuth provider; oidc-provider issues the tokens. */
import { MCPServer, MCPTool, OAuthAuthProvider } from "mcp-framework";
import { setTimeout } from "node:timers/promises";
import Provider from "oidc-provider";
import { z } from "zod";
import { optionsFor } from "../_shared/provider_options.mjs";
import { origin, upstream as issuer } from "../_shared/resource.mjs";

const { PORT, UPSTREAM_PORT } = process.env;

const options = optionsFor(origin, ["mcp:read"], {}, "jwt");
const provider = new Provider(issuer, options);
provider.listen(UPSTREAM_PORT, "127.0.0.1");

const server = new MCPServer({
  transport: {
    type: "http-stream",
    options: {
      port: Number(PORT),
      auth: {
        provider: new OAuthAuthProvider({
          authorizationServers: [issuer],
          resource: origin,
          validation: {
            type: "jwt",
            jwksUri: `${issuer}/jwks`,
            audience: origin,
            issuer,
          },
        }),
        endpoints: { initialize: true, messages: true },
      },
    },
  },
});
// It does not start without a tool.
server.addTool(
  class extends MCPTool {
    name = "hello";
    description = "Greets";
    schema = z.object({ name: z.string().describe("Whom to greet") });
    execute = ({ name }) => Promise.resolve(`Hello, ${name}`);
  },
);
// Resolves when the server ends.
server.start();
// Of its own accord it waits for the end of the other server.
process.once("SIGTERM", () => process.exit());
while (!await fetch(origin).then(() => true, () => false)) await setTimeout(20);
console.log(`\n${origin}/mcp`);
