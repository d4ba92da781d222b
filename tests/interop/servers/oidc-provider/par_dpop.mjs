/** oidc-provider with pushed authorization requests, DPoP and nonces. */
import { randomBytes } from "node:crypto";
import Provider from "oidc-provider";
import { origin, resource, serve } from "./_resource.mjs";

serve(
  new Provider(origin, {
    scopes: ["openid", "offline_access", "mcp:read"],
    issueRefreshToken: (_ctx, client) =>
      client.grantTypeAllowed("refresh_token"),
    features: {
      dPoP: {
        enabled: true,
        nonceSecret: randomBytes(32),
        requireNonce: () => true,
      },
      pushedAuthorizationRequests: {
        enabled: true,
        requirePushedAuthorizationRequests: true,
      },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "mcp:read",
          audience: resource,
          accessTokenFormat: "opaque",
        }),
      },
    },
  }),
  { scopes: ["mcp:read"], dpop: true },
);
