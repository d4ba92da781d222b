/**
 * Sessions at oidc-provider, with what `deno task interop` does not play there: it has
 * refreshes, ended sessions, revocation, step-ups and the grant of services.
 */
import { assert, assertEquals } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  createDpop,
  deviceFlow,
  ensureClient,
  finishAuthorization,
  getClaimsFromJWT,
  memoryStore,
  startAuthorization,
} from "../../mod.ts";
import { REDIRECT_URI, startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { pinRejected } from "../support/fixtures.ts";

const clientMetadata = { client_name: "Session test" };

function userFlow(options = {}) {
  const visits: URL[] = [];
  const browser = createBrowser();
  const authorize = codeFlow({
    clientMetadata,
    redirectUri: REDIRECT_URI,
    visit(url) {
      visits.push(url);
      return browser.authorize(url);
    },
    ...options,
  });
  return { authorize, visits };
}

Deno.test("createAuthorizedFetch() binds sessions by DPoP, with nonces of both servers", async () => {
  await using servers = await startFlowServers({ dpopNonce: true }, {
    dpop: "nonce",
  });
  const { server, protectedResource: { resource, requests } } = servers;
  const dpop = await createDpop();
  const store = memoryStore();
  let now = Date.now();
  const { authorize, visits } = userFlow();
  const options = { flow: authorize, store, now: () => now };
  const api = createAuthorizedFetch(resource, { ...options, dpop });
  assertEquals(await statusOf(api(resource)), 200);
  assertEquals(visits[0]!.searchParams.get("dpop_jkt"), dpop.thumbprint);
  const session = (await api.session())!;
  assertEquals(session.dpopThumbprint, dpop.thumbprint);
  assertEquals(session.token.token_type, "DPoP");
  const { cnf } = getClaimsFromJWT(session.token.access_token);
  assertEquals(cnf, { jkt: dpop.thumbprint });

  requests.length = 0;
  const request = new Request(`${resource}?q=1`, {
    method: "POST",
    body: "b",
  });
  assertEquals(await statusOf(api(request)), 200);
  assertEquals(requests, ["POST /mcp"]);
  now += 3_600_000;
  server.requests.length = 0;
  assertEquals(await statusOf(api(resource)), 200);
  assertEquals(server.requests, ["POST /token"]);

  // The session counts as none for another key, and for a fetch without one.
  const other = await createDpop();
  const foreign = createAuthorizedFetch(resource, {
    ...options,
    dpop: other,
  });
  visits.length = 0;
  assertEquals(await statusOf(foreign(resource)), 200);
  assertEquals(visits.length, 1);
  assertEquals((await store.load())!.dpopThumbprint, other.thumbprint);
  const unbound = createAuthorizedFetch(resource, options);
  await pinRejected(() => unbound(resource), "unsupported");
  assertEquals(visits.length, 1);
});

Deno.test("startAuthorization() and finishAuthorization() work through JSON, with an ID token", async () => {
  await using servers = await startFlowServers();
  const { context, protectedResource: { resource } } = servers;
  const client = await ensureClient(context.serverMetadata, {
    clientMetadata,
    redirectUri: REDIRECT_URI,
  });
  const { url, pending } = await startAuthorization(context, {
    client,
    redirectUri: REDIRECT_URI,
    scopes: ["openid", "mcp:read"],
    offlineAccess: true,
    parameters: { prompt: "consent" },
  });
  assertEquals(pending.scopes, ["openid", "mcp:read", "offline_access"]);
  const text = JSON.stringify(pending);
  assert(text.length < 1_500, `${text.length} bytes`);
  const callback = await createBrowser().authorize(url);
  const request = new Request(callback);
  const session = await finishAuthorization(request, JSON.parse(text));
  const { id_token, access_token, refresh_token } = session.token;
  assertEquals(getClaimsFromJWT(id_token!).nonce, pending.nonce);
  const tokens = [id_token, access_token, refresh_token].join("").length;
  const size = JSON.stringify(session).length - tokens;
  assert(size < 1_000, `${size} bytes`);

  const api = createAuthorizedFetch(resource, {
    flow: () => Promise.reject(new Error("not asked")),
  });
  await api.save(JSON.parse(JSON.stringify(session)));
  assertEquals(await statusOf(api(resource)), 200);
});

Deno.test("deviceFlow() signs in at oidc-provider, and keeps the client", async () => {
  await using servers = await startFlowServers();
  const { protectedResource: { resource }, server } = servers;
  const browser = createBrowser();
  const authorize = deviceFlow({
    clientMetadata,
    show: async ({ verification_uri_complete, user_code }) => {
      await browser.activate(verification_uri_complete!, user_code);
    },
    delay: () => Promise.resolve(),
  });
  const store = memoryStore();
  const api = createAuthorizedFetch(resource, { flow: authorize, store });
  assertEquals(await statusOf(api(resource)), 200);
  const session = (await api.session())!;
  assert(session.token.refresh_token);
  const { token: _, ...left } = session;
  await store.save(left);
  assertEquals(await statusOf(api(resource)), 200);
  assertEquals(server.requests.filter((one) => one === "POST /reg").length, 1);
});
