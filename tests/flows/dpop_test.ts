/** Tokens bound to a key, at oidc-provider and at resources that ask for proof. */
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import {
  buildClientCredentialsBody,
  clientSecretBasic,
  createDpop,
  fetchDeviceAuthorization,
  fetchToken,
  findChallenge,
  getClaimsFromJWT,
  type IDpop,
  OAuthClientError,
  pollDeviceToken,
  refreshToken,
} from "../../mod.ts";
import {
  registerPublicClient,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";

interface IAnswer {
  status: number;
  /** How many requests it took. */
  requests: number;
  body: Record<string, unknown>;
}

/** Calls as the documentation of `createDpop()` has it. */
async function call(
  dpop: IDpop,
  url: string,
  accessToken: string,
): Promise<IAnswer> {
  const send = async () =>
    await fetch(url, {
      headers: await dpop.createHeaders({ method: "GET", url, accessToken }),
    });
  let response = await send();
  const isRefused = dpop.noteResponse(url, response);
  if (isRefused) {
    await response.body?.cancel();
    response = await send();
    dpop.noteResponse(url, response);
  }
  const { status } = response;
  const text = await response.text();
  return {
    status,
    requests: isRefused ? 2 : 1,
    body: text ? JSON.parse(text) : {},
  };
}

for (const dpopNonce of [false, true]) {
  const which = dpopNonce ? "that requires nonces" : "without nonces";

  Deno.test(`createDpop() binds a token to its key, at a server ${which}`, async () => {
    await using servers = await startFlowServers({ dpopNonce }, {
      dpop: dpopNonce ? "nonce" : true,
    });
    const { server, context } = servers;
    const { serverMetadata, resource } = context;
    assertEquals(context.challenge?.scheme, "DPoP");
    const client = await registerPublicClient(context);
    const dpop = await createDpop();
    server.requests.length = 0;
    const token = await signIn(context, { client, dpop });
    const asked = () =>
      server.requests.filter((one) => one === "POST /token").length;
    // The first request learns the nonce.
    assertEquals(asked(), dpopNonce ? 2 : 1);
    assertEquals(token.token_type, "DPoP");
    const { cnf } = getClaimsFromJWT(token.access_token);
    assertEquals(cnf, { jkt: dpop.thumbprint });

    const first = await call(dpop, resource, token.access_token);
    assertEquals([first.status, first.requests], [200, dpopNonce ? 2 : 1]);
    // Every answer brings the nonce of the next request.
    for (const _ of [1, 2]) {
      const next = await call(dpop, resource, token.access_token);
      assertEquals([next.status, next.requests], [200, 1]);
    }
    const withQuery = await call(dpop, `${resource}?a=b#c`, token.access_token);
    assertEquals(withQuery.status, 200);

    const before = asked();
    const fresh = await refreshToken(serverMetadata, token, { client, dpop });
    assertEquals(asked(), before + 1);
    assertNotEquals(fresh.access_token, token.access_token);
    assertEquals((await call(dpop, resource, fresh.access_token)).status, 200);
  });

  Deno.test(`createDpop() calls the userinfo endpoint with an opaque token, at a server ${which}`, async () => {
    await using servers = await startFlowServers({
      dpopNonce,
      path: "/tenant1",
    });
    const { context, server } = servers;
    const client = await registerPublicClient(context);
    const dpop = await createDpop();
    const token = await signIn(context, {
      client,
      dpop,
      scopes: ["openid"],
      resource: false,
    });
    assertEquals(token.token_type, "DPoP");
    assertEquals(token.access_token.includes("."), false);
    const userinfo = `${server.issuer}/me`;
    const answer = await call(dpop, userinfo, token.access_token);
    assertEquals([answer.status, answer.requests], [200, 1]);
    assertEquals(answer.body, { sub: "alice" });
    assertEquals(await statusFor(userinfo, token), 401);
    const stranger = await createDpop();
    const refused = await call(stranger, userinfo, token.access_token);
    assertEquals(refused.status, 401);
  });

  Deno.test(`pollDeviceToken() gets a bound token, at a server ${which}`, async () => {
    await using servers = await startFlowServers({ dpopNonce }, { dpop: true });
    const { serverMetadata, resource, scopes } = servers.context;
    const client = await registerPublicClient(servers.context);
    const dpop = await createDpop();
    const authorization = await fetchDeviceAuthorization(serverMetadata, {
      client,
      dpop,
      resource,
      scopes,
    });
    const { verification_uri, user_code } = authorization;
    let polls = 0;
    const token = await pollDeviceToken(serverMetadata, authorization, {
      client,
      dpop,
      delay: async () => {
        if (++polls === 2) {
          await createBrowser().activate(verification_uri, user_code);
        }
      },
    });
    assertEquals([token.token_type, polls], ["DPoP", 2]);
    assertEquals((await call(dpop, resource, token.access_token)).status, 200);
  });
}

Deno.test("createDpop() makes tokens that serve nobody else", async () => {
  await using servers = await startFlowServers({}, { dpop: true });
  const { serverMetadata, resource } = servers.context;
  const client = await registerPublicClient(servers.context);
  const dpop = await createDpop();
  const token = await signIn(servers.context, { client, dpop });
  const accessToken = token.access_token;
  assertEquals(await statusFor(resource, token), 401);
  const stranger = await createDpop();
  const stolen = await call(stranger, resource, accessToken);
  assertEquals([stolen.status, stolen.body.error], [401, "invalid_token"]);

  // A proof serves one request, one method and one address.
  const url = resource;
  const headers = await dpop.createHeaders({ method: "GET", url, accessToken });
  const other = `${servers.protectedResource.origin}/other`;
  for (
    const [request, status] of [
      [headers, 200],
      [headers, 401],
      [
        await dpop.createHeaders({ method: "POST", url, accessToken }),
        401,
      ],
      [
        await dpop.createHeaders({ method: "GET", url: other, accessToken }),
        401,
      ],
    ] as const
  ) {
    const response = await fetch(resource, { headers: request });
    await response.body?.cancel();
    assertEquals(response.status, status);
    const error = findChallenge(response, ["DPoP"])?.params.error;
    assertEquals(error, status === 200 ? undefined : "invalid_dpop_proof");
  }

  // The refresh token of a public client is bound as well (RFC 9449, 5).
  for (const wrong of [undefined, stranger]) {
    const failure = await assertRejects(
      () => refreshToken(serverMetadata, token, { client, dpop: wrong }),
      OAuthClientError,
    );
    assertEquals(failure.code, "oauth_error");
  }
});

const keys = {
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  EdDSA: { name: "Ed25519" },
};

for (const [alg, algorithm] of Object.entries(keys)) {
  Deno.test(`createDpop() takes the caller's keys, and signs with ${alg}`, async () => {
    const id = "machine";
    const secret = crypto.randomUUID();
    await using servers = await startFlowServers({
      dpopNonce: true,
      clients: [{
        client_id: id,
        client_secret: secret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        dpop_bound_access_tokens: true,
      }],
    }, { dpop: "nonce" });
    const { serverMetadata, resource, scopes, issuer } = servers.context;
    const keyPair = await crypto.subtle.generateKey(
      algorithm as EcKeyGenParams,
      false,
      ["sign", "verify"],
    );
    const dpop = await createDpop({ keyPair });
    const client = clientSecretBasic(id, secret, { issuer });
    const body = buildClientCredentialsBody({ resource, scopes });
    const token = await fetchToken(serverMetadata, body, { client, dpop });
    assertEquals((await call(dpop, resource, token.access_token)).status, 200);

    const failure = await assertRejects(
      () => fetchToken(serverMetadata, body, { client }),
      OAuthClientError,
    );
    assertEquals(failure.code, "oauth_error");
    assert(!failure.message.includes(secret));
  });
}

Deno.test("fetchToken() refuses a token that the server did not bind", async () => {
  await using servers = await startFlowServers({
    features: { dPoP: { enabled: false } },
  });
  const client = await registerPublicClient(servers.context);
  const dpop = await createDpop();
  const failure = await assertRejects(
    () => signIn(servers.context, { client, dpop }),
    OAuthClientError,
  );
  assertEquals(failure.code, "invalid_response");
  const token = await signIn(servers.context, { client });
  assertEquals(token.token_type, "Bearer");
});
