/** Pushed authorization requests (RFC 9126) and what they carry, at oidc-provider. */
import { assert, assertEquals } from "@std/assert";
import { createRemoteJWKSet, exportJWK, jwtVerify } from "jose";
import {
  checkIdToken,
  codeFlow,
  createAuthorizedFetch,
  createDpop,
  finishAuthorization,
  getClaimsFromJWT,
  type ICodeFlowOptions,
  isClientKnown,
  privateKeyJwt,
  registerClient,
  startAuthorization,
} from "../../mod.ts";
import { REDIRECT_URI, startFlowServers, statusFor } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { assertRejectsCode, createSigningKeys } from "../support/fixtures.ts";

/** A user who signs in, and the URLs that were opened. */
function user(options: Partial<ICodeFlowOptions> = {}) {
  const visits: URL[] = [];
  const authorize = codeFlow({
    clientMetadata: {
      client_name: "Flow test",
      // The server requires it for clients that request details (RFC 9396, section 10).
      ...(options.authorizationDetails && {
        authorization_details_types: ["mcp_tool"],
      }),
    },
    redirectUri: REDIRECT_URI,
    visit: (url) => {
      visits.push(url);
      return createBrowser().authorize(url);
    },
    ...options,
  });
  return { visits, authorize };
}

const DETAILS = [{
  type: "mcp_tool",
  actions: ["call"],
  identifier: 'search "\u00fc"',
}];

Deno.test("codeFlow() pushes its request where the server requires it, with DPoP, details and an ID token", async () => {
  await using servers = await startFlowServers(
    { requirePar: true, dpopNonce: true, detailTypes: ["mcp_tool"] },
    { dpop: "nonce" },
  );
  const { server, context: { resource, serverMetadata } } = servers;
  const { visits, authorize } = user({
    scopes: ["openid", "mcp:read"],
    authorizationDetails: DETAILS,
  });
  const api = createAuthorizedFetch(resource, {
    authorize,
    dpop: await createDpop(),
  });
  server.requests.length = 0;
  const response = await api(resource);
  assertEquals(response.status, 200);
  await response.body?.cancel();

  assertEquals(visits.length, 1);
  assertEquals([...visits[0]!.searchParams.keys()], [
    "client_id",
    "request_uri",
  ]);
  const pushes = server.requests.filter((one) => one === "POST /request");
  // The response to the first request contains the nonce.
  assertEquals(pushes.length, 2);

  const { token, client } = (await api.session())!;
  assertEquals(token.authorization_details, DETAILS);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals(claims.authorization_details, DETAILS);

  const options = {
    issuer: serverMetadata.issuer,
    clientId: client.client_id,
    accessToken: token.access_token,
  };
  // As in the example of checkIdToken().
  const keys = createRemoteJWKSet(new URL(serverMetadata.jwks_uri!));
  const audience = client.client_id;
  const verified = await jwtVerify(token.id_token!, keys, { audience });
  const checked = await checkIdToken(token.id_token!, options);
  assertEquals<unknown>(checked, verified.payload);
  await assertRejectsCode(
    () => checkIdToken(token.id_token!, { ...options, nonce: "other" }),
    "invalid_id_token",
  );
});

Deno.test("a refresh keeps the granted authorization details", async () => {
  await using servers = await startFlowServers({ detailTypes: ["mcp_tool"] });
  const { server, context: { resource } } = servers;
  const { authorize } = user({ authorizationDetails: DETAILS, par: true });
  let now = Date.now();
  const api = createAuthorizedFetch(resource, { authorize, now: () => now });
  const first = await api.authorize();
  assert(server.requests.includes("POST /request"));
  now += 3_590_000;
  const second = await api.authorize();
  assert(first.token.access_token !== second.token.access_token);
  assertEquals(second.token.authorization_details, DETAILS);
  assertEquals(await statusFor(resource, second.token), 200);
});

Deno.test("startAuthorization() and codeFlow() push with the client's own authentication", async () => {
  const { privateKey, publicKey } = await createSigningKeys();
  await using servers = await startFlowServers({
    requirePar: true,
    clients: [{
      client_id: "signing",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code"],
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_signing_alg: "ES256",
      jwks: { keys: [{ ...await exportJWK(publicKey), kid: "k1" }] },
    }],
  });
  const { context } = servers;
  const { serverMetadata, issuer } = context;
  const registered = {
    client_name: "Flow test",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code"],
  };
  const signing = privateKeyJwt("signing", privateKey, { keyId: "k1", issuer });
  for (const method of ["client_secret_basic", "client_secret_post", "key"]) {
    const client = method === "key"
      ? signing
      : await registerClient(serverMetadata, {
        ...registered,
        token_endpoint_auth_method: method,
      });
    const { url, pending } = await startAuthorization(context, {
      client,
      redirectUri: REDIRECT_URI,
    });
    const callback = await createBrowser().authorize(url);
    const session = await finishAuthorization(callback, pending, {
      client,
    });
    assertEquals(await statusFor(context.resource, session.token), 200, method);
  }
  const api = createAuthorizedFetch(context.resource, {
    authorize: user().authorize,
    client: signing,
  });
  const { token } = await api.authorize();
  assertEquals(await statusFor(context.resource, token), 200);
});

Deno.test("isClientKnown() knows a registered client from one that was deleted", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata } = servers.context;
  const metadata = {
    client_name: "Flow test",
    redirect_uris: [REDIRECT_URI],
    response_types: ["code"],
  };
  for (const token_endpoint_auth_method of ["none", "client_secret_basic"]) {
    const client = await registerClient(serverMetadata, {
      ...metadata,
      token_endpoint_auth_method,
      grant_types: ["authorization_code", "refresh_token"],
    });
    assertEquals(await isClientKnown(serverMetadata, client), true);
    const unknown = { ...client, client_id: "deleted" };
    assertEquals(await isClientKnown(serverMetadata, unknown), false);
  }
  // This server has an error code for a grant type that the client may not use.
  const other = await registerClient(serverMetadata, {
    ...metadata,
    redirect_uris: [],
    response_types: [],
    grant_types: ["client_credentials"],
  });
  assertEquals(await isClientKnown(serverMetadata, other), undefined);
});
