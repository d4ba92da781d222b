/** One sign-in for two APIs on two web servers with one store, at oidc-provider. */

import { assertEquals } from "@std/assert";
import {
  createDpop,
  type Dpop,
  memoryStore,
  registerClient,
  type SessionStore,
  sharedSignIn,
} from "../../mod.ts";
import { createWebSignIn } from "../../lib/web/mod.ts";
import { REDIRECT_URI, startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

/** A store that all processes share, with its lock. */
function createStores(): (id: string) => SessionStore {
  const stores = new Map<string, SessionStore>();
  return (id) => {
    const known = stores.get(id);
    if (known) return { ...known };
    const store = memoryStore();
    let last: Promise<unknown> = Promise.resolve();
    const locked: SessionStore = {
      ...store,
      lock: (task) => {
        const result = last.then(task);
        last = result.catch(() => {});
        return result;
      },
    };
    stores.set(id, locked);
    return { ...locked };
  };
}

/** Has two web servers make 4 rounds of 20 calls over expiries. */
async function measure(dpop?: Dpop): Promise<void> {
  const isBound = { dpop: dpop !== undefined };
  await using servers = await startFlowServers({}, isBound);
  const { server, protectedResource: { resource: a }, context } = servers;
  const { issuer, provider } = server;
  await using other = startProtectedResource({
    authorizationServers: [issuer],
    scopes: ["mcp:write"],
    ...isBound,
  });
  const b = other.resource;
  let granted = 0;
  const refused: unknown[] = [];
  provider.on("grant.success", () => granted++);
  provider.on("grant.error", (_: unknown, error: unknown) => {
    refused.push(error);
  });
  const client = await registerClient(context.serverMetadata, {
    client_name: "Site",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "client_secret_post",
  });
  let clock = Date.now();
  const { origin } = new URL(REDIRECT_URI);
  const storeOf = createStores();
  const create = () =>
    createWebSignIn(a, {
      origin,
      client,
      ...{ storeOf, dpop },
      cookieKeys: [new Uint8Array(32).fill(7)],
      now: () => clock,
      // No ID token: the server's clock stays behind the site's.
      parameters: { prompt: "consent" },
      apis: sharedSignIn({
        [a]: { scopes: ["mcp:read"] },
        [b]: { scopes: ["mcp:write"] },
      }),
    });
  const sites = [create(), create()];
  const browser = createBrowser();
  const cookies = new Map<string, string>();
  let visits = 0;
  const requestOf = (path: string) => {
    const Cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    return new Request(origin + path, { headers: { Cookie } });
  };
  /** Opens a page of a site, with a visit if it needs one. */
  async function open(site: number, api: string, path = "/"): Promise<number> {
    const signIn = sites[site]!;
    const request = requestOf(path);
    const response = await signIn.handle(request) ??
      await signIn.respond(
        request,
        async () => await (await signIn.apiOf(request, api))!(api),
      );
    await response.body?.cancel();
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    const location = response.headers.get("Location");
    if (!location) return response.status;
    const url = new URL(location);
    if (url.origin === origin) return await open(site, api, url.pathname);
    visits++;
    const back = await browser.authorize(url);
    const { pathname, search } = new URL(back);
    return await open(site, api, pathname + search);
  }
  assertEquals(await open(0, a), 200);
  for (let round = 0; round < 4; round++) {
    const calls = Array.from(
      { length: 5 },
      () => [0, 1].flatMap((site) => [open(site, a), open(site, b)]),
    );
    for (const status of await Promise.all(calls.flat())) {
      assertEquals(status, 200);
    }
    clock += 3600_000;
  }
  assertEquals([visits, granted, refused], [1, 8, []]);
}

Deno.test("at oidc-provider, two web servers need one visit and 8 tokens for 4 rounds of 20 calls", async () => {
  await measure();
});

Deno.test("at oidc-provider, two APIs of a web server share the tokens of one key", async () => {
  await measure(await createDpop());
});
