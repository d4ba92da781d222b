/**
 * The fixtures answer as the real servers do, and leave nothing behind.
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { decodeJwt } from "jose";
import { startAuthorizationServer } from "./authorization_server.ts";
import { createBrowser } from "./browser.ts";
import { startMcpSdkServer } from "./mcp_sdk_server.ts";
import { startProtectedResource } from "./protected_resource.ts";

/** Deno leaves both sanitizers off unless they are asked for. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });
}

const machine = {
  client_id: "machine",
  client_secret: "a secret of this test",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
};

/** What SPEC.md has the library send ("Dynamic client registration"). */
const registration = {
  client_name: "Test Client",
  client_uri: "https://client.example",
  grant_types: [
    "authorization_code",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:device_code",
  ],
  response_types: ["code"],
  redirect_uris: [
    "https://client.example/redirect",
    "https://insiders.client.example/redirect",
    "http://127.0.0.1/",
    "http://127.0.0.1:33418/",
  ],
  scope: "mcp:read",
  token_endpoint_auth_method: "none",
  application_type: "native",
};

async function getJson(url: string) {
  const response = await fetch(url);
  assertEquals(response.status, 200, url);
  return await response.json();
}

async function getMissing(url: string): Promise<string> {
  const response = await fetch(url);
  assertEquals(response.status, 404, url);
  assertMatch(response.headers.get("Content-Type") ?? "", /^text\/html/);
  return await response.text();
}

function register(endpoint: string): Promise<Response> {
  return fetch(endpoint, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(registration),
  });
}

async function getToken(issuer: string, resource: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: machine.client_id,
      client_secret: machine.client_secret,
      scope: "mcp:read",
      resource,
    }),
  });
  const { access_token } = await response.json();
  assertEquals(response.status, 200);
  return access_token;
}

function call(resource: string, token?: string): Promise<Response> {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return fetch(resource, { headers });
}

test("startAuthorizationServer() serves its metadata", async () => {
  await using server = await startAuthorizationServer();
  const { issuer, requests } = server;
  for (const name of ["oauth-authorization-server", "openid-configuration"]) {
    const metadata = await getJson(`${issuer}/.well-known/${name}`);
    assertEquals(metadata.issuer, issuer);
    assertEquals(metadata.code_challenge_methods_supported, ["S256"]);
    assertEquals(metadata.authorization_response_iss_parameter_supported, true);
    assertMatch(metadata.device_authorization_endpoint, /^http:/);
    assertMatch(metadata.registration_endpoint, /^http:/);
  }
  assertEquals(requests, [
    "GET /.well-known/oauth-authorization-server",
    "GET /.well-known/openid-configuration",
  ]);
});

test("startAuthorizationServer() mounts its provider at a path", async () => {
  await using server = await startAuthorizationServer({ path: "/tenant1" });
  const { issuer } = server;
  const { origin, pathname } = new URL(issuer);
  assertEquals(pathname, "/tenant1");
  const metadata = await getJson(`${issuer}/.well-known/openid-configuration`);
  assertEquals(metadata.issuer, issuer);
  assertEquals(metadata.token_endpoint, `${issuer}/token`);
  const { keys } = await getJson(metadata.jwks_uri);
  assertEquals(keys.length, 1);
  for (const name of ["oauth-authorization-server", "openid-configuration"]) {
    await getMissing(`${origin}/.well-known/${name}/tenant1`);
    await getMissing(`${origin}/.well-known/${name}`);
  }
});

test("startAuthorizationServer() registers a public native client", async () => {
  await using server = await startAuthorizationServer();
  const response = await register(`${server.issuer}/reg`);
  const client = await response.json();
  assertEquals(response.status, 201);
  assertMatch(client.client_id, /./);
  assertEquals(client.client_secret, undefined);
  assertEquals(client.redirect_uris, registration.redirect_uris);
  assertEquals(client.grant_types, registration.grant_types);
});

test("startAuthorizationServer() issues a JWT for the resource asked for", async () => {
  await using server = await startAuthorizationServer({ clients: [machine] });
  const resource = "http://127.0.0.1:9/mcp";
  const token = await getToken(server.issuer, resource);
  assertEquals(token.split(".").length, 3);
  const { aud, iss, scope } = decodeJwt(token);
  assertEquals(aud, resource);
  assertEquals(iss, server.issuer);
  assertEquals(scope, "mcp:read");
});

test("startAuthorizationServer() says nothing on the console", async () => {
  const { info, warn } = console;
  const said: unknown[] = [];
  console.info = console.warn = (...data) => said.push(data);
  try {
    await using server = await startAuthorizationServer();
    await getJson(`${server.issuer}/.well-known/openid-configuration`);
  } finally {
    Object.assign(console, { info, warn });
  }
  assertEquals(said, []);
});

test("startProtectedResource() challenges, then answers to a token", async () => {
  await using server = await startAuthorizationServer({
    path: "/tenant1",
    clients: [machine],
  });
  await using protectedResource = startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
  });
  const { origin, resource, metadataUrl } = protectedResource;
  const refused = await call(resource);
  assertEquals(refused.status, 401);
  assertEquals(
    refused.headers.get("WWW-Authenticate"),
    `Bearer resource_metadata="${metadataUrl}", scope="mcp:read"`,
  );
  await refused.body?.cancel();

  const path = "/.well-known/oauth-protected-resource/mcp";
  assertEquals(metadataUrl, origin + path);
  const metadata = await getJson(origin + path);
  assertEquals(metadata.resource, resource);
  assertEquals(metadata.authorization_servers, [server.issuer]);

  const token = await getToken(server.issuer, resource);
  const answered = await call(resource, token);
  const { claims } = await answered.json();
  assertEquals(answered.status, 200);
  assertEquals(claims.aud, resource);
});

test("startProtectedResource() refuses a token for another audience", async () => {
  await using server = await startAuthorizationServer({ clients: [machine] });
  await using protectedResource = startProtectedResource({
    authorizationServers: [server.issuer],
  });
  const token = await getToken(server.issuer, "http://127.0.0.1:9/other");
  for (const wrong of [token, "not-a-token"]) {
    const refused = await call(protectedResource.resource, wrong);
    assertEquals(refused.status, 401);
    const challenge = refused.headers.get("WWW-Authenticate");
    assert(challenge?.startsWith('Bearer error="invalid_token", '));
    await refused.body?.cancel();
  }
});

test("startMcpSdkServer() registers, guards and lacks root metadata", async () => {
  await using server = await startMcpSdkServer();
  const { origin, resource, issuer } = server;
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const serverWellKnown = `${origin}/.well-known/oauth-authorization-server`;
  const metadata = await getJson(serverWellKnown);
  assertEquals(metadata.issuer, issuer);
  const response = await register(metadata.registration_endpoint);
  const client = await response.json();
  assertEquals(response.status, 201);
  assertEquals(client.redirect_uris, registration.redirect_uris);
  for (const token of [undefined, "not-a-token"]) {
    const refused = await call(resource, token);
    assertEquals(refused.status, 401);
    const challenge = refused.headers.get("WWW-Authenticate");
    assert(challenge?.endsWith(`resource_metadata="${wellKnown}/mcp"`));
    await refused.body?.cancel();
  }
  assertEquals((await getJson(`${wellKnown}/mcp`)).resource, resource);
  assertMatch(await getMissing(wellKnown), /Cannot GET/);
});

test("startMcpSdkServer() takes another server's tokens", async () => {
  await using authorization = await startAuthorizationServer({
    clients: [machine],
  });
  await using server = await startMcpSdkServer({
    authorizationServer: authorization.issuer,
    scopes: ["mcp:read"],
  });
  const token = await getToken(authorization.issuer, server.resource);
  const answered = await call(server.resource, token);
  const { auth } = await answered.json();
  assertEquals(answered.status, 200);
  assertEquals(auth.clientId, machine.client_id);
});

test("startMcpSdkServer() can have no metadata at all", async () => {
  await using server = await startMcpSdkServer({
    metadataAtPath: false,
    serverMetadata: false,
  });
  const wellKnown = `${server.origin}/.well-known`;
  await getMissing(`${wellKnown}/oauth-protected-resource/mcp`);
  await getMissing(`${wellKnown}/oauth-protected-resource`);
  await getMissing(`${wellKnown}/oauth-authorization-server`);
  const response = await register(`${server.origin}/register`);
  assertEquals(response.status, 201);
  await response.body?.cancel();
});

test("createBrowser() signs in once, and tells where its user ends", async () => {
  await using server = await startAuthorizationServer();
  const response = await register(`${server.issuer}/reg`);
  const { client_id } = await response.json();
  const request = new URL(`${server.issuer}/auth`);
  request.search = new URLSearchParams({
    client_id,
    response_type: "code",
    redirect_uri: "http://127.0.0.1:33418/",
    scope: "mcp:read",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  }).toString();
  const browser = createBrowser();
  // The server asks for consent each time, for who knows a native client?
  for (const forms of [["sign-in", "consent"], ["consent"]]) {
    server.requests.length = 0;
    const { origin, searchParams } = await browser.authorize(request);
    assertEquals(origin, "http://127.0.0.1:33418");
    assertMatch(searchParams.get("code") ?? "", /./);
    const posts = server.requests.filter((one) => one.startsWith("POST "));
    assertEquals(posts.length, forms.length);
  }
  request.searchParams.set("client_id", "nobody");
  await assertRejects(
    () => browser.authorize(request),
    Error,
    "The user ends at 400 error: invalid_client",
  );
});
