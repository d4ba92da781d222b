/** How clients show oidc-provider who they are, with the grant of machines. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { exportJWK } from "jose";
import {
  buildClientCredentialsBody,
  clientSecretBasic,
  clientSecretPost,
  fetchDeviceAuthorization,
  fetchToken,
  getClaimsFromJWT,
  type IClientAuthentication,
  OAuthClientError,
  privateKeyJwt,
  registerClient,
  selectClientAuthentication,
} from "../../mod.ts";
import {
  DEVICE_GRANT,
  type IFlowServers,
  REDIRECT_URI,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";

const machine = {
  client_id: "machine:1 %",
  client_secret: "it's + a & %41 secret: 100%",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
};

/** The client's own token, for the resource. */
function fetchOwnToken(
  { context }: IFlowServers,
  client: IClientAuthentication,
) {
  const { resource, scopes } = context;
  const body = buildClientCredentialsBody({ resource, scopes });
  return fetchToken(context.serverMetadata, body, { client });
}

async function assertInvalidClient(attempt: () => Promise<unknown>) {
  const failure = await assertRejects(attempt, OAuthClientError);
  assertEquals(failure.code, "oauth_error");
  assertEquals([failure.error, failure.status], ["invalid_client", 401]);
}

const { client_id, client_secret } = machine;

for (
  const [name, method, create] of [
    ["clientSecretBasic", "client_secret_basic", clientSecretBasic],
    ["clientSecretPost", "client_secret_post", clientSecretPost],
  ] as const
) {
  Deno.test(`${name}() is taken by oidc-provider, whatever the secret's characters`, async () => {
    await using servers = await startFlowServers({
      clients: [{ ...machine, token_endpoint_auth_method: method }],
    });
    const { resource, issuer } = servers.context;
    const client = create(client_id, client_secret, { issuer });
    assertEquals(client.method, method);
    const token = await fetchOwnToken(servers, client);
    assertEquals(token.token_type, "Bearer");
    assertEquals(token.refresh_token, undefined);
    const claims = getClaimsFromJWT(token.access_token);
    assertEquals([claims.sub, claims.aud], [client_id, resource]);
    assertEquals(await statusFor(resource, token), 200);
    await assertInvalidClient(() =>
      fetchOwnToken(servers, create(client_id, "another secret"))
    );
  });
}

Deno.test("clientSecretBasic() without form encoding is refused by oidc-provider", async () => {
  // A colon in the identifier would not even be sent (RFC 7617, section 2).
  const id = client_id.replace(":", " ");
  await using servers = await startFlowServers({
    clients: [{ ...machine, client_id: id }],
  });
  const taken = await fetchOwnToken(
    servers,
    clientSecretBasic(id, client_secret),
  );
  assertEquals(taken.token_type, "Bearer");
  const formEncode = false;
  const client = clientSecretBasic(id, client_secret, { formEncode });
  const failure = await assertRejects(
    () => fetchOwnToken(servers, client),
    OAuthClientError,
  );
  assertEquals([failure.code, failure.status], ["oauth_error", 400]);
});

for (const method of ["client_secret_basic", "client_secret_post"]) {
  Deno.test(`selectClientAuthentication() takes a registration by ${method} to a token`, async () => {
    await using servers = await startFlowServers();
    const { serverMetadata, resource, scopes } = servers.context;
    const registration = await registerClient(serverMetadata, {
      client_name: "Flow test",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", DEVICE_GRANT],
      response_types: ["code"],
      token_endpoint_auth_method: method,
    });
    assertMatch(registration.client_secret ?? "", /./);
    const client = selectClientAuthentication(serverMetadata, registration);
    assertEquals(client.method, method);
    const token = await signIn(servers.context, { client });
    assertEquals(await statusFor(resource, token), 200);
    const { user_code } = await fetchDeviceAuthorization(serverMetadata, {
      client,
      scopes,
      resource,
    });
    assertMatch(user_code, /./);
  });
}

Deno.test("selectClientAuthentication() leaves the method to a server that names none", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata } = servers.context;
  const { client_id, client_secret, token_endpoint_auth_method } =
    await registerClient(serverMetadata, {
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code"],
    });
  assertEquals(token_endpoint_auth_method, "client_secret_basic");
  const client = selectClientAuthentication(serverMetadata, {
    client_id,
    client_secret: client_secret!,
  });
  assertEquals(client.method, "client_secret_basic");
  const token = await signIn(servers.context, { client });
  assertEquals(token.token_type, "Bearer");
});

const rsa = {
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
};

const algorithms: [
  string,
  EcKeyGenParams | RsaHashedKeyGenParams | Algorithm,
][] = [
  ["ES256", { name: "ECDSA", namedCurve: "P-256" }],
  ["EdDSA", { name: "Ed25519" }],
  ["PS256", { name: "RSA-PSS", ...rsa }],
  ["RS256", { name: "RSASSA-PKCS1-v1_5", ...rsa }],
];

async function generateKeys(algorithm: typeof algorithms[number][1]) {
  return await crypto.subtle.generateKey(
    algorithm as EcKeyGenParams,
    false,
    ["sign", "verify"],
  );
}

for (const [alg, algorithm] of algorithms) {
  Deno.test(`privateKeyJwt() is taken by oidc-provider, signed with ${alg}`, async () => {
    const { privateKey, publicKey } = await generateKeys(algorithm);
    const keyId = `key of ${alg}`;
    const key = { ...await exportJWK(publicKey), kid: keyId, use: "sig" };
    await using servers = await startFlowServers({
      path: "/tenant1",
      clients: [{
        client_id: "signer",
        grant_types: machine.grant_types,
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_signing_alg: alg as "ES256",
        jwks: { keys: [key as { kty: "EC" }] },
      }],
    });
    const { resource, issuer, serverMetadata } = servers.context;
    const listed =
      serverMetadata.token_endpoint_auth_signing_alg_values_supported;
    assert(listed?.includes(alg));
    const client = privateKeyJwt("signer", privateKey, { issuer, keyId });
    const token = await fetchOwnToken(servers, client);
    assertEquals(await statusFor(resource, token), 200);
    // Each request has an assertion of its own, which the server takes once.
    await fetchOwnToken(servers, client);

    const stranger = await generateKeys(algorithm);
    const before = () => Date.now() - 3_600_000;
    for (
      const wrong of [
        privateKeyJwt("signer", stranger.privateKey, { keyId }),
        privateKeyJwt("signer", privateKey, { audience: "https://a.example" }),
        privateKeyJwt("signer", privateKey, { keyId, now: before }),
      ]
    ) {
      await assertInvalidClient(() => fetchOwnToken(servers, wrong));
    }
  });
}

Deno.test("selectClientAuthentication() leaves private_key_jwt to its own function", async () => {
  await using servers = await startFlowServers();
  const { publicKey, privateKey } = await generateKeys(algorithms[0]![1]);
  const { serverMetadata, issuer } = servers.context;
  const registration = await registerClient(serverMetadata, {
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: "private_key_jwt",
    jwks: { keys: [await exportJWK(publicKey)] },
  });
  const failure = assertThrows(
    () => selectClientAuthentication(serverMetadata, registration),
    OAuthClientError,
  );
  assertEquals(failure.code, "unsupported");
  const client = privateKeyJwt(registration.client_id, privateKey, { issuer });
  const token = await signIn(servers.context, { client });
  assertEquals(token.token_type, "Bearer");
});
