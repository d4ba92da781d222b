/** Options of oidc-provider for a resource that it knows. */
export const optionsFor = (
  audience,
  scopes,
  features,
  accessTokenFormat = "opaque",
) => ({
  scopes: ["openid", "offline_access", ...scopes],
  issueRefreshToken: (_ctx, client) =>
    client.grantTypeAllowed("refresh_token"),
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({
        scope: scopes.join(" "),
        audience,
        accessTokenFormat,
      }),
    },
    ...features,
  },
});
