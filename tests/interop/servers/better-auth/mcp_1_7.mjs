/** @better-auth/mcp of better-auth 1.7, with registration. */
import { mcp, requireMcpAuth } from "@better-auth/mcp";
import { betterAuth } from "better-auth";
import { jwt } from "better-auth/plugins";
import { common, listen, origin } from "./_app.mjs";

const resource = `${origin}/mcp`;
const auth = betterAuth({
  ...common,
  plugins: [
    jwt(),
    mcp({
      loginPage: "/sign-in",
      consentPage: "/consent",
      resource,
      scopes: [
        "openid",
        "profile",
        "email",
        "offline_access",
        "mcp:read",
        "mcp:write",
      ],
      allowDynamicClientRegistration: true,
      allowUnauthenticatedClientRegistration: true,
    }),
  ],
});

const guard = (...requiredScopes) =>
  requireMcpAuth(auth, (_request, claims) => Response.json(claims), {
    resource,
    requiredScopes,
  });
await listen(auth, "oauthClient", {
  "/mcp": guard("mcp:read"),
  "/mcp/admin": guard("mcp:write"),
});
