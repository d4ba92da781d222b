/** A real authorization server posts its logout tokens to a site. */

import { assert, assertEquals } from "@std/assert";
import { generateKeyPair, SignJWT } from "jose";
import { type ISessionStore, memoryStore } from "@oauth-helper/client";
import { createWebSignIn } from "@oauth-helper/client/web";
import { startFlowServers } from "../servers/_flow.ts";
import { serve } from "../servers/_serve.ts";
import { createBrowser } from "../servers/browser.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import {
  createBackChannelLogout,
  type ISessionTable,
  noted,
} from "./back_channel_logout.ts";

/** A table in memory. */
function createTable(): ISessionTable {
  const rows: { id: string; sub: string; sid: string | undefined }[] = [];
  return {
    add: (row) => Promise.resolve(void rows.push(row)),
    find: (by) =>
      Promise.resolve(
        rows.filter(({ sub, sid }) =>
          by.sid === undefined ? sub === by.sub : sid === by.sid
        ).map(({ id }) => id),
      ),
  };
}

/** A site with the route, at a server that knows it. */
async function startSite() {
  await using stack = new AsyncDisposableStack();
  const own: { handle?: (request: Request) => Promise<Response> } = {};
  const { origin, close } = serve((request) => own.handle!(request));
  stack.defer(close);
  const client = { client_id: "site", client_secret: "secret of the site" };
  const { server: { issuer }, context, protectedResource: { resource } } = stack
    .use(
      await startFlowServers({
        clients: [{
          ...client,
          redirect_uris: [`${origin}/callback`],
          post_logout_redirect_uris: [`${origin}/`],
          backchannel_logout_uri: `${origin}/back-channel-logout`,
          backchannel_logout_session_required: true,
          grant_types: ["authorization_code", "refresh_token"],
        }],
      }),
    );
  const stores = new Map<string, ISessionStore>();
  const table = createTable();
  const signIn = createWebSignIn(resource, {
    origin,
    client: { issuer, ...client },
    scopes: ["openid", "mcp:read"],
    cookieKeys: [btoa("a key of thirty-two bytes, or so")],
    storeOf(id) {
      const store = stores.get(id) ?? noted(id, memoryStore(), table);
      stores.set(id, store);
      return store;
    },
  });
  const logout = createBackChannelLogout(signIn, table, {
    issuer,
    jwksUri: String(context.serverMetadata.jwks_uri),
    clientId: client.client_id,
  });
  const answers: number[] = [];
  own.handle = async (request) => {
    if (new URL(request.url).pathname === "/back-channel-logout") {
      const response = await logout(request);
      answers.push(response.status);
      return response;
    }
    const handled = await signIn.handle(request);
    return handled ?? await signIn.respond(request, (api) => api(resource));
  };
  const running = stack.move();
  return {
    ...{ issuer, origin, client, answers },
    sessions: () => Promise.all([...stores.values()].map((one) => one.load())),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Site = Awaited<ReturnType<typeof startSite>>;

/** A user of the site, with the cookies of both. */
async function createUser({ issuer, origin, client }: Site) {
  const browser = createBrowser();
  const cookies = new Map<string, string>();
  const open = async (path: string, method = "GET") => {
    const Cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(new URL(path, origin), {
      method,
      redirect: "manual",
      headers: { Cookie, Origin: origin },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    await response.body?.cancel();
    return {
      status: response.status,
      location: response.headers.get("Location") ?? "",
    };
  };
  const { location } = await open("/login");
  const { pathname, search } = await browser.authorize(location);
  await open(pathname + search);
  const isSignedIn = async () => (await open("/")).status === 200;
  assert(await isSignedIn());
  /** Signs out at the server only, as from another site of the server. */
  const leave = async () => {
    const url = new URL("/session/end", issuer);
    url.searchParams.set("client_id", client.client_id);
    url.searchParams.set("post_logout_redirect_uri", `${origin}/`);
    await browser.authorize(url);
  };
  return { isSignedIn, leave };
}

Deno.test("back_channel_logout.ts signs out the sessions of the server's session, and no others", async () => {
  await using site = await startSite();
  const users = [await createUser(site), await createUser(site)];
  const [alice, other] = users;
  await alice!.leave();
  await until(LIMIT_MS, () => site.answers.length === 1);
  assertEquals(site.answers, [200]);
  assertEquals(await alice!.isSignedIn(), false);
  assertEquals(await other!.isSignedIn(), true);
});

Deno.test("back_channel_logout.ts rejects what is no logout token of the server: forged, or an ID token", async () => {
  await using site = await startSite();
  const user = await createUser(site);
  const { privateKey } = await generateKeyPair("ES256");
  const now = Math.floor(Date.now() / 1000);
  const forged = await new SignJWT({
    sub: "alice",
    jti: "1",
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  }).setProtectedHeader({ alg: "ES256" }).setIssuer(site.issuer)
    .setAudience(site.client.client_id).setIssuedAt(now)
    .setExpirationTime(now + 60).sign(privateKey);
  const [session] = await site.sessions();
  const idToken = session!.token.id_token!;
  for (const logout_token of ["", "a.b.c", forged, idToken]) {
    const { status } = await fetch(`${site.origin}/back-channel-logout`, {
      method: "POST",
      body: new URLSearchParams({ logout_token }),
    });
    assertEquals(status, 400, logout_token);
  }
  assertEquals(await user.isSignedIn(), true);
});
