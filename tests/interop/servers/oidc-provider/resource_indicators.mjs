/** oidc-provider with a resource whose scopes it knows, and more grants. */
import Provider from "oidc-provider";
import { options, origin, serve } from "./_resource.mjs";

serve(
  new Provider(origin, {
    ...options(["mcp:read", "mcp:write"], {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
    }),
    clients: [{
      client_id: "service",
      client_secret: "s3cret/+ %",
      grant_types: ["client_credentials"],
      response_types: [],
      redirect_uris: [],
    }],
  }),
  { scopes: ["mcp:read"] },
);
