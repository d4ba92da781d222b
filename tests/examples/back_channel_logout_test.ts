/** A real authorization server posts its logout tokens to a site. */

import { assert, assertEquals } from "@std/assert";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { memoryStore, type SessionStore } from "@oauth-helper/client";
import { createWebSignIn } from "@oauth-helper/client/web";
import { startFlowServers } from "../servers/_flow.ts";
import { serve } from "../servers/_serve.ts";
import { createBrowser } from "../servers/browser.ts";
import { untyped } from "../support/stub_fetch.ts";
import { assertCompares } from "../support/comparing_store.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import {
  createBackChannelLogout,
  noted,
  type SessionTable,
} from "./back_channel_logout.ts";

function createTable(): SessionTable {
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
  const stores = new Map<string, SessionStore>();
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

Deno.test("back_channel_logout.ts saves only if its store has what was loaded", () =>
  assertCompares(noted("1", memoryStore(), createTable())));

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
  const idToken = session!.token!.id_token!;
  for (const logout_token of ["", "a.b.c", forged, idToken]) {
    const { status } = await fetch(`${site.origin}/back-channel-logout`, {
      method: "POST",
      body: new URLSearchParams({ logout_token }),
    });
    assertEquals(status, 400, logout_token);
  }
  assertEquals(await user.isSignedIn(), true);
});

Deno.test("back_channel_logout.ts signs out the others if a session cannot be read, and reads no long body", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const keys = [{ ...await exportJWK(publicKey), kid: "k1", alg: "ES256" }];
  await using stack = new AsyncDisposableStack();
  const server = serve(() => Promise.resolve(Response.json({ keys })));
  stack.defer(server.close);
  const issuer = "https://as.example";
  const revoked: string[] = [];
  const apiOfSession = (id: string) =>
    id === "broken"
      ? Promise.reject(new Error("invalid_session"))
      : Promise.resolve({ revoke: () => Promise.resolve(revoked.push(id)) });
  const table = {
    add: () => Promise.resolve(),
    find: () => Promise.resolve(["broken", "one", "two"]),
  };
  const logout = createBackChannelLogout(untyped({ apiOfSession }), table, {
    issuer,
    jwksUri: server.origin,
    clientId: "site",
  });
  const logout_token = await new SignJWT({
    sub: "ann",
    jti: "1",
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  }).setProtectedHeader({ alg: "ES256", kid: "k1", typ: "logout+jwt" })
    .setIssuer(issuer).setAudience("site").setIssuedAt().setExpirationTime("1m")
    .sign(privateKey);
  const post = async (body: BodyInit) =>
    (await logout(
      new Request("https://app.example/", { method: "POST", body }),
    ))
      .status;
  assertEquals(await post(new URLSearchParams({ logout_token })), 400);
  assertEquals(revoked, ["one", "two"]);
  let chunks = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(16_384).fill(97));
      if (++chunks === 50) controller.close();
    },
  });
  assertEquals(await post(endless), 400);
  assert(chunks < 10);
});
