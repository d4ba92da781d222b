/** The methods of client authentication at oidc-provider. */
import { assertEquals, assertRejects } from "@std/assert";
import { exportJWK } from "jose";
import {
  buildClientCredentialsBody,
  clientSecretBasic,
  clientSecretPost,
  fetchToken,
  getClaimsFromJWT,
  type IClientAuthentication,
  OAuthClientError,
  privateKeyJwt,
} from "../../mod.ts";
import {
  type IFlowServers,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { assertRejectsCode } from "../support/fixtures.ts";
import { ec, pairOf, rsa } from "../support/keys.ts";

const MACHINE = {
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
};

/** Fetches a token of the client itself. */
function fetchOwnToken(
  { context }: IFlowServers,
  client: IClientAuthentication,
) {
  const { resource, scopes, serverMetadata } = context;
  const body = buildClientCredentialsBody({ resource, scopes });
  return fetchToken(serverMetadata, body, { client });
}

for (
  const [method, create] of [
    ["client_secret_basic", clientSecretBasic],
    ["client_secret_post", clientSecretPost],
  ] as const
) {
  Deno.test(`a client gets a token of its own with ${method}`, async () => {
    // Characters that RFC 6749, section 2.3.1, requires to be encoded.
    const client_id = "machine:1 %";
    const client_secret = "it's + a & %41 secret: 100%";
    await using servers = await startFlowServers({
      clients: [{
        ...MACHINE,
        client_id,
        client_secret,
        token_endpoint_auth_method: method,
      }],
    });
    const { resource, issuer } = servers.context;
    const client = create(client_id, client_secret, { issuer });
    const token = await fetchOwnToken(servers, client);
    const { sub, aud } = getClaimsFromJWT(token.access_token);
    assertEquals([sub, aud], [client_id, resource]);
    assertEquals(token.refresh_token, undefined);
    assertEquals(await statusFor(resource, token), 200);

    const failure = await assertRejectsCode(
      () => fetchOwnToken(servers, create(client_id, "another secret")),
      "oauth_error",
    );
    assertEquals([failure.error, failure.status], ["invalid_client", 401]);
  });
}

const ALGORITHMS = {
  ES256: ec("P-256"),
  EdDSA: { name: "Ed25519" },
  PS256: rsa("RSA-PSS", "SHA-256"),
  RS256: rsa("RSASSA-PKCS1-v1_5", "SHA-256"),
} as const;

Deno.test("a client gets a token of its own with private_key_jwt, by each algorithm", async () => {
  const algs = Object.keys(ALGORITHMS) as (keyof typeof ALGORITHMS)[];
  const signers = await Promise.all(algs.map(async (alg) => {
    const { privateKey, publicKey } = await pairOf(ALGORITHMS[alg]);
    const jwk = { ...await exportJWK(publicKey), kid: alg, use: "sig" };
    return { alg, privateKey, jwk: jwk as { kty: "EC" } };
  }));
  await using servers = await startFlowServers({
    path: "/tenant1",
    clients: signers.map(({ alg, jwk }) => ({
      ...MACHINE,
      client_id: `signer-${alg}`,
      token_endpoint_auth_method: "private_key_jwt" as const,
      token_endpoint_auth_signing_alg: alg as "ES256",
      jwks: { keys: [jwk] },
    })),
  });
  const { resource, issuer } = servers.context;
  for (const { alg, privateKey } of signers) {
    const options = { issuer, keyId: alg };
    const client = privateKeyJwt(`signer-${alg}`, privateKey, options);
    const token = await fetchOwnToken(servers, client);
    assertEquals(await statusFor(resource, token), 200);
    // The server accepts an assertion once, so each request has its own.
    await fetchOwnToken(servers, client);
  }

  const { privateKey } = await pairOf(ALGORITHMS.ES256);
  const stranger = privateKeyJwt("signer-ES256", privateKey, { issuer });
  const failure = await assertRejects(
    () => fetchOwnToken(servers, stranger),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_client");
});
