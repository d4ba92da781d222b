/** oidc-provider with a resource whose scopes it knows, and more grants. */
import Provider from "oidc-provider";
import { origin, resource, serve } from "./_resource.mjs";

const SCOPES = ["mcp:read", "mcp:write"];

serve(
  new Provider(origin, {
    scopes: ["openid", "offline_access", ...SCOPES],
    clients: [{
      client_id: "service",
      client_secret: "s3cret/+ %",
      grant_types: ["client_credentials"],
      response_types: [],
      redirect_uris: [],
    }],
    issueRefreshToken: (_ctx, client) =>
      client.grantTypeAllowed("refresh_token"),
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: SCOPES.join(" "),
          audience: resource,
          accessTokenFormat: "opaque",
        }),
      },
    },
  }),
  { scopes: ["mcp:read"] },
);
