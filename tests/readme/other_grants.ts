import {
  clientCredentialsFlow,
  deviceFlow,
  privateKeyJwt,
} from "@oauth-helper/client";

const issuer = "https://as.example";

// The device flow: the user signs in on another device.
export const device = deviceFlow({
  clientMetadata: { client_name: "My television" },
  show: ({ verification_uri, user_code }) =>
    console.log(`Open ${verification_uri} and enter ${user_code}`),
});

// Client credentials: a service acts for itself.
export const service = clientCredentialsFlow({
  client: { issuer, client_id: "service", client_secret: "s3cret" },
  scopes: ["reports"],
});

// A signed assertion in place of the secret; the key in PEM, or a JWK.
export const signed = (key: string) =>
  clientCredentialsFlow({ client: privateKeyJwt("service", key, { issuer }) });
