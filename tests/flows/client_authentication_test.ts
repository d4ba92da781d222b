/**
 * The methods of client authentication that no step of `tests/interop` shows: that has
 * `client_secret_basic`, and `private_key_jwt` by ES256, at oidc-provider.
 */
import { assertEquals } from "@std/assert";
import { exportJWK } from "jose";
import passport from "passport";
import { BasicStrategy } from "passport-http";
import {
  buildClientCredentialsBody,
  clientSecretBasic,
  clientSecretPost,
  fetchToken,
  getClaimsFromJWT,
  privateKeyJwt,
} from "../../mod.ts";
import { listen } from "../servers/_node_http.ts";
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

Deno.test("a client gets a token where passport-http compares its credentials without decoding them", async () => {
  const secret = "s3cret/+ %";
  const users = new passport.Passport();
  users.use(
    new BasicStrategy((
      id: string,
      given: string,
      done: (error: null, user: unknown) => void,
    ) => done(null, given === secret && { id })),
  );
  const guard = users.authenticate("basic", { session: false });
  const server = await listen();
  server.handle((request, response) =>
    guard(request, response, () => {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ access_token: "t0ken" }));
    })
  );
  const { origin: issuer, requests } = server;
  const body = buildClientCredentialsBody();
  const token = await fetchToken(
    { issuer, token_endpoint: `${issuer}/token` },
    body,
    { client: clientSecretBasic("c1", secret, { issuer }) },
  );
  await server.close();
  assertEquals([token.access_token, requests.length], ["t0ken", 2]);
});
