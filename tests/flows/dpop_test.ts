/** Tokens that are bound to a key (RFC 9449), at oidc-provider and a resource. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  buildClientCredentialsBody,
  clientSecretBasic,
  createDpop,
  fetchDeviceAuthorization,
  fetchToken,
  getClaimsFromJWT,
  OAuthClientError,
  pollDeviceToken,
  refreshToken,
} from "../../mod.ts";
import {
  callWithProof,
  registerPublicClient,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";

Deno.test("a client binds the tokens of a code flow to its key, with the nonces of both servers", async () => {
  await using servers = await startFlowServers({ dpopNonce: true }, {
    dpop: "nonce",
  });
  const { server, context } = servers;
  const { serverMetadata, resource } = context;
  assertEquals(context.challenge?.scheme, "DPoP");
  const client = await registerPublicClient(context);
  const dpop = await createDpop();
  server.requests.length = 0;
  const token = await signIn(context, { client, dpop });
  const countRequests = () =>
    server.requests.filter((one) => one === "POST /token").length;
  // The response to the first request contains the nonce.
  assertEquals(countRequests(), 2);
  assertEquals(token.token_type, "DPoP");
  const { cnf } = getClaimsFromJWT(token.access_token);
  assertEquals(cnf, { jkt: dpop.thumbprint });

  const call = (url = resource, { access_token } = token) =>
    callWithProof(dpop, url, access_token);
  assertEquals(await call(), { status: 200, requests: 2 });
  // Each response has the nonce for the next request.
  assertEquals(await call(), { status: 200, requests: 1 });
  const withQuery = `${resource}?a=b#c`;
  assertEquals(await call(withQuery), { status: 200, requests: 1 });

  const fresh = await refreshToken(serverMetadata, token, { client, dpop });
  assertEquals(countRequests(), 3);
  assertEquals(await call(resource, fresh), { status: 200, requests: 1 });

  assertEquals(await statusFor(resource, fresh), 401);
  const stranger = await createDpop();
  const stolen = await callWithProof(stranger, resource, fresh.access_token);
  assertEquals(stolen.status, 401);
  // The refresh token of a public client is bound as well (RFC 9449, section 5).
  const failure = await assertRejects(
    () => refreshToken(serverMetadata, fresh, { client, dpop: stranger }),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_grant");
});

Deno.test("a client binds the token of a device flow to its key", async () => {
  await using servers = await startFlowServers({}, { dpop: true });
  const { serverMetadata, resource, scopes } = servers.context;
  const client = await registerPublicClient(servers.context);
  const dpop = await createDpop();
  const request = { client, dpop, resource, scopes };
  const device = await fetchDeviceAuthorization(serverMetadata, request);
  let polls = 0;
  const token = await pollDeviceToken(serverMetadata, device, {
    client,
    dpop,
    delay: async () => {
      if (++polls < 2) return;
      await createBrowser().activate(device.verification_uri, device.user_code);
    },
  });
  assertEquals([token.token_type, polls], ["DPoP", 2]);
  const { status } = await callWithProof(dpop, resource, token.access_token);
  assertEquals(status, 200);
});

Deno.test("a client binds its own token to a key pair that it has already", async () => {
  const client_id = "machine";
  const client_secret = crypto.randomUUID();
  await using servers = await startFlowServers({
    dpopNonce: true,
    clients: [{
      client_id,
      client_secret,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      dpop_bound_access_tokens: true,
    }],
  }, { dpop: true });
  const { serverMetadata, resource, scopes, issuer } = servers.context;
  const keyPair = await crypto.subtle.generateKey(
    { name: "Ed25519" },
    false,
    ["sign", "verify"],
  ) as CryptoKeyPair;
  const dpop = await createDpop({ keyPair });
  const client = clientSecretBasic(client_id, client_secret, { issuer });
  const body = buildClientCredentialsBody({ resource, scopes });
  const token = await fetchToken(serverMetadata, body, { client, dpop });
  const { status } = await callWithProof(dpop, resource, token.access_token);
  assertEquals(status, 200);
});
