/** One sign-in for two APIs at oidc-provider, which rotates refresh tokens. */

import { assertEquals } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  createDpop,
  memoryStore,
  sharedSignIn,
} from "../../mod.ts";
import { REDIRECT_URI, startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

Deno.test("at oidc-provider, 4 rounds of 20 calls over expiries need one sign-in and 8 tokens", async () => {
  await using servers = await startFlowServers();
  const { server, protectedResource: { resource: a } } = servers;
  const { issuer, provider } = server;
  await using other = startProtectedResource({
    authorizationServers: [issuer],
    scopes: ["mcp:write"],
  });
  const b = other.resource;
  const granted: string[] = [];
  const refused: unknown[] = [];
  provider.on("grant.success", ({ oidc: { params } }) => {
    granted.push(`${params?.grant_type} ${params?.resource}`);
  });
  provider.on("grant.error", ({ oidc: { params } }, error) => {
    // The client's check of its registration has a code that nobody knows.
    if (params?.grant_type === "refresh_token") refused.push(error);
  });
  const browser = createBrowser();
  let clock = Date.now();
  let visits = 0;
  const store = memoryStore();
  const options = {
    store,
    now: () => clock,
    apis: sharedSignIn({
      [a]: { scopes: ["mcp:read"] },
      [b]: { scopes: ["mcp:write"] },
    }),
    flow: codeFlow({
      clientMetadata: { client_name: "Two APIs" },
      redirectUri: REDIRECT_URI,
      visit: (url) => {
        visits++;
        return browser.authorize(url);
      },
    }),
  };
  const [one, two] = [a, b].map((api) => createAuthorizedFetch(api, options));
  for (let round = 0; round < 4; round++) {
    const calls = Array.from({ length: 10 }, () => [one!(a), two!(b)]).flat();
    for (const response of await Promise.all(calls)) {
      assertEquals(response.status, 200);
      await response.body?.cancel();
    }
    clock += 3600_000;
  }
  assertEquals([visits, granted.length, refused], [1, 8, []]);
  // Another sign-in, after which oidc-provider issues a refresh token only with consent.
  await one!.signIn({ fresh: true });
  const { token } = await store.load() ?? {};
  assertEquals([visits, token?.refresh_token !== undefined], [2, true]);
});

Deno.test("at oidc-provider, a session of one API has a refresh token after each sign-in", async () => {
  await using servers = await startFlowServers();
  const browser = createBrowser();
  const { resource } = servers.protectedResource;
  const api = createAuthorizedFetch(resource, {
    flow: codeFlow({
      clientMetadata: { client_name: "One API" },
      redirectUri: REDIRECT_URI,
      visit: (url) => browser.authorize(url),
    }),
  });
  for (let round = 0; round < 3; round++) {
    const { token } = await api.signIn({ fresh: round > 0 });
    assertEquals(typeof token.refresh_token, "string");
  }
});

Deno.test("at oidc-provider, two APIs share the tokens of one key", async () => {
  const isBound = { dpop: true, scopes: ["mcp:read"] };
  await using servers = await startFlowServers({}, isBound);
  const { server: { issuer }, protectedResource: { resource: a } } = servers;
  const authorizationServers = [issuer];
  await using other = startProtectedResource({
    ...{ authorizationServers, ...isBound },
  });
  const browser = createBrowser();
  let visits = 0;
  const options = {
    dpop: await createDpop(),
    store: memoryStore(),
    apis: sharedSignIn({ [a]: {}, [other.resource]: {} }),
    flow: codeFlow({
      clientMetadata: { client_name: "Two bound APIs" },
      redirectUri: REDIRECT_URI,
      scopes: ["mcp:read"],
      visit: (url) => {
        visits++;
        return browser.authorize(url);
      },
    }),
  };
  for (const api of [a, other.resource, a]) {
    const response = await createAuthorizedFetch(api, options)(api);
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  assertEquals(visits, 1);
});
