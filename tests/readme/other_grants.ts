import {
  clientCredentialsFlow,
  clientSecretBasic,
  deviceFlow,
  privateKeyJwt,
} from "@oauth-helper/client";

// The device flow: the user signs in on another device.
export const device = deviceFlow({
  clientMetadata: { client_name: "My television" },
  show: ({ verification_uri, user_code }) =>
    console.log(`Open ${verification_uri} and enter ${user_code}`),
});

// Client credentials: a service acts for itself.
const issuer = "https://as.example";
export const service = clientCredentialsFlow({
  client: clientSecretBasic("service", "s3cret", { issuer }),
  scopes: ["reports"],
});

// The same with a signed assertion in place of a secret.
export const signed = (key: CryptoKey) =>
  clientCredentialsFlow({ client: privateKeyJwt("service", key, { issuer }) });
