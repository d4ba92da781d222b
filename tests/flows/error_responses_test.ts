/**
 * What goes wrong in the authorization code flow, at oidc-provider: whoever
 * refuses, the library says who and why, and nothing of a stranger's answer.
 */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  buildClientCredentialsBody,
  createPkcePair,
  createState,
  fetchToken,
  OAuthClientError,
  parseAuthorizationResponse,
} from "../../mod.ts";
import {
  REDIRECT_URI,
  registerPublicClient,
  startFlowServers,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";

/** An authorization request, and what is kept of it. */
async function prepareRequest(
  serverMetadata: Parameters<typeof buildAuthorizationUrl>[0],
  clientId: string,
  resource?: string,
) {
  const { codeVerifier, codeChallenge } = await createPkcePair();
  const state = createState();
  const url = buildAuthorizationUrl(serverMetadata, {
    clientId,
    redirectUri: REDIRECT_URI,
    state,
    codeChallenge,
    scopes: ["mcp:read"],
    resource,
  });
  return { url, codeVerifier, expected: { state, serverMetadata } };
}

Deno.test("fetchToken() tells that oidc-provider refuses a resource not asked for", async () => {
  await using servers = await startFlowServers();
  const { context } = servers;
  const { serverMetadata } = context;
  const client = await registerPublicClient(context);
  const request = await prepareRequest(
    serverMetadata,
    client.clientId,
    context.resource,
  );
  const callback = await createBrowser().authorize(request.url);
  const { code } = parseAuthorizationResponse(callback, request.expected);
  const body = buildAuthorizationCodeBody({
    code,
    redirectUri: REDIRECT_URI,
    codeVerifier: request.codeVerifier,
    resource: "http://127.0.0.1:9/other",
  });
  const failure = await assertRejects(
    () => fetchToken(serverMetadata, body, { client }),
    OAuthClientError,
  );
  assertEquals([failure.code, failure.error], [
    "oauth_error",
    "invalid_target",
  ]);
});

Deno.test("parseAuthorizationResponse() tells that oidc-provider refuses the resource", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata } = servers.context;
  const { clientId } = await registerPublicClient(servers.context);
  const { url, expected } = await prepareRequest(
    serverMetadata,
    clientId,
    "https://elsewhere.example/",
  );
  const callback = await createBrowser().authorize(url);
  const failure = assertThrows(
    () => parseAuthorizationResponse(callback, expected),
    OAuthClientError,
  );
  assertEquals([failure.code, failure.error], [
    "oauth_error",
    "invalid_target",
  ]);
});

Deno.test("fetchToken() tells that oidc-provider refuses another verifier", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata, resource } = servers.context;
  const client = await registerPublicClient(servers.context);
  const request = await prepareRequest(
    serverMetadata,
    client.clientId,
    resource,
  );
  const callback = await createBrowser().authorize(request.url);
  const { code } = parseAuthorizationResponse(callback, request.expected);
  const { codeVerifier } = await createPkcePair();
  const redirectUri = REDIRECT_URI;
  const failure = await assertRejects(
    () =>
      fetchToken(
        serverMetadata,
        buildAuthorizationCodeBody({ code, redirectUri, codeVerifier }),
        { client },
      ),
    OAuthClientError,
  );
  assertEquals(failure.code, "oauth_error");
  assertEquals(failure.error, "invalid_grant");
  assertEquals(failure.status, 400);
  assertEquals(failure.url, serverMetadata.token_endpoint);
  for (const secret of [code, codeVerifier, request.codeVerifier]) {
    assert(!JSON.stringify(failure).includes(secret));
    assert(!failure.message.includes(secret));
  }
});

Deno.test("parseAuthorizationResponse() tells that the user said no", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata, resource } = servers.context;
  const { clientId } = await registerPublicClient(servers.context);
  const { url, expected } = await prepareRequest(
    serverMetadata,
    clientId,
    resource,
  );
  const callback = await createBrowser({ deny: true }).authorize(url);
  const failure = assertThrows(
    () => parseAuthorizationResponse(callback, expected),
    OAuthClientError,
  );
  assertEquals(failure.code, "oauth_error");
  assertEquals(failure.error, "access_denied");
  assertEquals(failure.error_description, "End-User aborted interaction");
});

Deno.test("parseAuthorizationResponse() refuses a callback of another server, or of none", async () => {
  await using servers = await startFlowServers();
  await using attacker = await startFlowServers();
  const { serverMetadata } = servers.context;
  const { clientId } = await registerPublicClient(attacker.context);
  const theirs = await prepareRequest(
    attacker.context.serverMetadata,
    clientId,
    attacker.context.resource,
  );
  // The client believes that it has sent its user to the first server.
  const expected = { state: theirs.expected.state, serverMetadata };
  for (const deny of [false, true]) {
    const callback = await createBrowser({ deny }).authorize(theirs.url);
    assertEquals(callback.searchParams.has("error"), deny);
    const withoutIss = new URL(callback);
    withoutIss.searchParams.delete("iss");
    for (const address of [callback, withoutIss]) {
      const failure = assertThrows(
        () => parseAuthorizationResponse(address, expected),
        OAuthClientError,
      );
      assertEquals(failure.code, "issuer_mismatch");
      // RFC 9207, 2.4: nothing of such an answer is shown.
      assertEquals(failure.error, undefined);
    }
  }
  const other = await createBrowser().authorize(theirs.url);
  assertThrows(
    () =>
      parseAuthorizationResponse(other, {
        ...theirs.expected,
        state: createState(),
      }),
    OAuthClientError,
    "state",
  );
});

Deno.test("fetchToken() shows a client of one server to no other", async () => {
  await using servers = await startFlowServers();
  await using other = await startFlowServers();
  const client = await registerPublicClient(servers.context);
  other.server.requests.length = 0;
  const failure = await assertRejects(
    () =>
      fetchToken(
        other.context.serverMetadata,
        buildClientCredentialsBody(),
        { client },
      ),
    OAuthClientError,
  );
  assertEquals(failure.code, "issuer_mismatch");
  assertEquals(other.server.requests, []);
});
