/**
 * The methods of client authentication at oidc-provider that no step of `tests/interop`
 * shows: that has `client_secret_basic`, and `private_key_jwt` by ES256.
 */
import { assertEquals } from "@std/assert";
import { exportJWK } from "jose";
import {
  buildClientCredentialsBody,
  clientSecretPost,
  fetchToken,
  getClaimsFromJWT,
  privateKeyJwt,
} from "../../mod.ts";
import { startFlowServers, statusFor } from "../servers/_flow.ts";
import { pairOf, rsa } from "../support/keys.ts";

const ALGORITHMS = {
  EdDSA: { name: "Ed25519" },
  PS256: rsa("RSA-PSS", "SHA-256"),
  RS256: rsa("RSASSA-PKCS1-v1_5", "SHA-256"),
} as const;

Deno.test("a client gets a token of its own with client_secret_post, and with private_key_jwt by each algorithm", async () => {
  const machine = {
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  };
  const algs = Object.keys(ALGORITHMS) as (keyof typeof ALGORITHMS)[];
  const signers = await Promise.all(algs.map(async (alg) => {
    const { privateKey, publicKey } = await pairOf(ALGORITHMS[alg]);
    const jwk = { ...await exportJWK(publicKey), kid: alg, use: "sig" };
    return { alg, privateKey, jwk: jwk as { kty: "EC" } };
  }));
  const id = "machine:1 %";
  const secret = "it's + a & %41 secret: 100%";
  await using servers = await startFlowServers({
    path: "/tenant1",
    clients: [
      {
        ...machine,
        client_id: id,
        client_secret: secret,
        token_endpoint_auth_method: "client_secret_post",
      },
      ...signers.map(({ alg, jwk }) => ({
        ...machine,
        client_id: `signer-${alg}`,
        token_endpoint_auth_method: "private_key_jwt" as const,
        token_endpoint_auth_signing_alg: alg as "ES256",
        jwks: { keys: [jwk] },
      })),
    ],
  });
  const { resource, scopes, serverMetadata, issuer } = servers.context;
  const clients = [
    clientSecretPost(id, secret, { issuer }),
    ...signers.map(({ alg, privateKey }) =>
      privateKeyJwt(`signer-${alg}`, privateKey, { issuer, keyId: alg })
    ),
  ];
  for (const client of clients) {
    // The server accepts an assertion once, so each request has its own.
    for (const _ of [1, 2]) {
      const body = buildClientCredentialsBody({ resource, scopes });
      const token = await fetchToken(serverMetadata, body, { client });
      const { sub, aud } = getClaimsFromJWT(token.access_token);
      assertEquals([sub, aud], [client.clientId, resource]);
      assertEquals(await statusFor(resource, token), 200);
    }
  }
});
