/** oidc-provider with pushed authorization requests, DPoP and nonces. */
import Provider from "oidc-provider";
import { options, origin, PAR_DPOP, serve } from "./_resource.mjs";

const features = { ...PAR_DPOP, registration: { enabled: true } };
serve(
  new Provider(origin, options(["mcp:read"], features)),
  { scopes: ["mcp:read"], dpop: true },
);
