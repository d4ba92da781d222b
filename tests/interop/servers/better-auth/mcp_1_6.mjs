/** The plugin `mcp()` of better-auth 1.6. */
import { betterAuth } from "better-auth";
import {
  mcp,
  oAuthDiscoveryMetadata,
  oAuthProtectedResourceMetadata,
  withMcpAuth,
} from "better-auth/plugins";
import { common, listen } from "./_app.mjs";

const auth = betterAuth({
  ...common,
  plugins: [mcp({ loginPage: "/sign-in" })],
});

await listen(auth, "oauthApplication", {
  "/.well-known/oauth-authorization-server": oAuthDiscoveryMetadata(auth),
  "/.well-known/oauth-protected-resource": oAuthProtectedResourceMetadata(auth),
  "/mcp": withMcpAuth(auth, (_request, session) => Response.json(session)),
});
