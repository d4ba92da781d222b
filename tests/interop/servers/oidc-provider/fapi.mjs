/** oidc-provider with the security profile FAPI 2.0: PAR, DPoP, private_key_jwt. */
import Provider from "oidc-provider";
import { options, origin, PAR_DPOP, serve } from "./_resource.mjs";

const jwk = { ...JSON.parse(process.env.CLIENT_JWK), alg: "ES256", use: "sig" };

serve(
  new Provider(origin, {
    ...options(["mcp:read"], {
      ...PAR_DPOP,
      fapi: { enabled: true, profile: "2.0" },
      registration: { enabled: false },
    }),
    clients: [{
      client_id: "fapi",
      redirect_uris: [process.env.REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_signing_alg: "ES256",
      id_token_signed_response_alg: "ES256",
      dpop_bound_access_tokens: true,
      jwks: { keys: [jwk] },
    }],
    clientAuthMethods: ["private_key_jwt"],
    enabledJWA: {
      clientAuthSigningAlgValues: ["ES256"],
      idTokenSigningAlgValues: ["ES256"],
    },
    jwks: {
      keys: [
        await crypto.subtle.generateKey(
          { name: "ECDSA", namedCurve: "P-256" },
          true,
          ["sign", "verify"],
        ).then(({ privateKey }) => crypto.subtle.exportKey("jwk", privateKey))
          .then(({ kty, crv, x, y, d }) => ({ kty, crv, x, y, d, use: "sig" })),
      ],
    },
  }),
  { scopes: ["mcp:read"], dpop: true },
);
