/** The quick start of oidc-provider, with registration and revocation. */
import Provider from "oidc-provider";
import { origin, serve } from "./_resource.mjs";

serve(
  new Provider(origin, {
    features: {
      registration: { enabled: true },
      resourceIndicators: { enabled: false },
      revocation: { enabled: true },
    },
  }),
  { scopes: ["openid"] },
);
