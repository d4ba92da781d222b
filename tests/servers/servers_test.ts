/** The servers reject what they must, print nothing and leave nothing open. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  buildClientCredentialsBody,
  clientSecretPost,
  createDpop,
  fetchToken,
  findChallenge,
} from "../../mod.ts";
import {
  REDIRECT_URI,
  registerPublicClient,
  signIn,
  startFlowServers,
} from "./_flow.ts";
import { createBrowser } from "./browser.ts";
import { startMcpSdkServer } from "./mcp_sdk_server.ts";

/** Tests with the sanitizers, however this file is run. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });
}

/** Calls a resource; returns the status and the error of the challenge. */
async function call(url: string, headers: Record<string, string>) {
  const response = await fetch(url, { headers });
  await response.body?.cancel();
  const { error } = findChallenge(response)?.params ?? {};
  return [response.status, error];
}

test("startAuthorizationServer() and startProtectedResource() print nothing", async () => {
  const { info, warn } = console;
  const printed: unknown[] = [];
  console.info = console.warn = (...data) => printed.push(data);
  try {
    await using servers = await startFlowServers();
    await registerPublicClient(servers.context);
  } finally {
    Object.assign(console, { info, warn });
  }
  assertEquals(printed, []);
});

test("startProtectedResource() and startMcpSdkServer() reject other tokens", async () => {
  const machine = { client_id: "machine", client_secret: "a secret" };
  await using servers = await startFlowServers({
    clients: [{
      ...machine,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: "client_secret_post",
    }],
  });
  const { serverMetadata, resource, scopes, issuer } = servers.context;
  await using sdk = await startMcpSdkServer({
    authorizationServer: issuer,
    scopes: ["mcp:read"],
  });
  const client = clientSecretPost(machine.client_id, machine.client_secret);
  for (const own of [resource, sdk.resource]) {
    const body = buildClientCredentialsBody({ resource: own, scopes });
    const token = await fetchToken(serverMetadata, body, { client });
    const Authorization = `Bearer ${token.access_token}`;
    for (const url of [resource, sdk.resource]) {
      assertEquals(
        await call(url, { Authorization }),
        url === own ? [200, undefined] : [401, "invalid_token"],
      );
    }
  }
  for (const url of [resource, sdk.resource]) {
    const headers = { Authorization: "Bearer not-a-token" };
    assertEquals(await call(url, headers), [401, "invalid_token"]);
    const [status] = await call(url, {});
    assertEquals(status, 401);
  }
});

test("startProtectedResource() rejects other and used proofs", async () => {
  await using servers = await startFlowServers({}, { dpop: true });
  const { context, protectedResource } = servers;
  const url = context.resource;
  const client = await registerPublicClient(context);
  const dpop = await createDpop();
  const { access_token } = await signIn(context, { client, dpop });
  const create = (method: string, url: string) =>
    dpop.createHeaders({ method, url, accessToken: access_token });

  const headers = await create("GET", url);
  assertEquals(await call(url, headers), [200, undefined]);
  const rejected = [401, "invalid_dpop_proof"];
  assertEquals(await call(url, headers), rejected);
  assertEquals(await call(url, await create("POST", url)), rejected);
  const other = `${protectedResource.origin}/other`;
  assertEquals(await call(url, await create("GET", other)), rejected);
});

test("createBrowser() signs in once, and rejects a page without a redirect", async () => {
  await using servers = await startFlowServers();
  const { server, context } = servers;
  const { client_id: clientId } = await registerPublicClient(context);
  const request = new URL(`${server.issuer}/auth`);
  request.search = new URLSearchParams({
    client_id: clientId,
    response_type: "code",
    redirect_uri: REDIRECT_URI,
    scope: "mcp:read",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  }).toString();
  const browser = createBrowser();
  // The user signs in and consents, and then only consents.
  for (const forms of [2, 1]) {
    server.requests.length = 0;
    const { origin, pathname, searchParams } = await browser.authorize(request);
    assertEquals(origin + pathname, REDIRECT_URI);
    assertMatch(searchParams.get("code") ?? "", /./);
    const posts = server.requests.filter((one) => one.startsWith("POST "));
    assertEquals(posts.length, forms);
  }
  request.searchParams.set("client_id", "unknown");
  await assertRejects(
    () => browser.authorize(request),
    Error,
    "got 400 error: invalid_client",
  );
});
