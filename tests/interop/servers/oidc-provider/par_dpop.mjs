/** oidc-provider with pushed authorization requests, DPoP and nonces. */
import Provider from "oidc-provider";
import { options, origin, PAR_DPOP, serve } from "./_resource.mjs";

serve(
  new Provider(origin, options(["mcp:read"], PAR_DPOP)),
  { scopes: ["mcp:read"], dpop: true },
);
